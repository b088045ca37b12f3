import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  ConfigError,
  MAX_WEBHOOK_EVENTS_PER_SECOND,
  parsePort,
  readConfig,
  REDELIVER_GRACE_MS,
  SWEEP_INTERVAL_MS,
} from '../../../src/string/config.js';
import { DEFAULT_PORT } from '../../../src/wire/stringd-defaults.js';

const HOME = '/home/alice';

test('with no variables everything is below ~/.string, on the port of the protocol', () => {
  expect(readConfig({ HOME })).toMatchObject({
    port: DEFAULT_PORT,
    root: '/home/alice/.string',
    dataDir: '/home/alice/.string/daemon',
    homesDir: '/home/alice/.string/agents',
    adoptHomes: true,
    strictTopics: false,
    logToFile: false,
    events: {
      redeliverGraceMs: REDELIVER_GRACE_MS,
      sweepIntervalMs: SWEEP_INTERVAL_MS,
      eventsPerSecond: MAX_WEBHOOK_EVENTS_PER_SECOND,
    },
  });
  expect(DEFAULT_PORT).toBe(3923);
});

test.each(['0', 'abc', '-1', '1.5', '65536', '1e3', '0x50', '99999999'])(
  'STRING_PORT=%j is a hard error that names the variable and the value',
  (value) => {
    const read = (): unknown => readConfig({ HOME, STRING_PORT: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(`STRING_PORT=${JSON.stringify(value)}`);
  },
);

test('a blank STRING_PORT is as good as none', () => {
  expect(readConfig({ HOME, STRING_PORT: ' ' }).port).toBe(DEFAULT_PORT);
});

test('a port is taken from 1 to 65535; a flag may say 0 for any', () => {
  expect(readConfig({ HOME, STRING_PORT: '1' }).port).toBe(1);
  expect(readConfig({ HOME, STRING_PORT: '65535' }).port).toBe(65_535);
  expect(parsePort('--port', '0', 0)).toBe(0);
  expect(() => parsePort('--port', '70000', 0)).toThrow('--port="70000"');
});

test('STRING_ROOT moves everything, STRING_DATA_DIR the data alone', () => {
  expect(readConfig({ HOME, STRING_ROOT: '/srv/string' })).toMatchObject({
    dataDir: '/srv/string/daemon',
    homesDir: '/srv/string/agents',
  });
  expect(readConfig({ HOME, STRING_DATA_DIR: '~/data' })).toMatchObject({
    dataDir: '/home/alice/data',
    homesDir: '/home/alice/.string/agents',
  });
});

test('switches and amounts are read, and what is none is refused by name', () => {
  expect(
    readConfig({
      HOME,
      STRING_LOG: '1',
      STRING_NO_AGENT_RECOVERY: '1',
      STRING_TOPICS: 'strict',
      STRING_ACCESS: 'full',
      STRING_EVENT_REDELIVER_GRACE_MS: '10',
      STRING_EVENT_RETENTION_DAYS: '0.5',
    }),
  ).toMatchObject({
    logToFile: true,
    adoptHomes: false,
    strictTopics: true,
    fullAccess: true,
    events: { redeliverGraceMs: 10, retentionMs: 43_200_000 },
  });
  for (const [name, value] of [
    ['STRING_LOG', 'maybe'],
    ['STRING_TOPICS', 'loose'],
    ['STRING_ACCESS', 'some'],
    ['STRING_EVENT_REDELIVER_GRACE_MS', 'soon'],
    ['STRING_EVENT_SWEEP_INTERVAL_MS', '0'],
    ['STRING_WEBHOOK_RATE', '-3'],
  ] as const)
    expect(() => readConfig({ HOME, [name]: value })).toThrow(name);
});

test('a home that is no whole path is refused, and not needed where a root is named', () => {
  expect(() => readConfig({ HOME: 'rel' })).toThrow(/HOME="rel".*STRING_ROOT/);
  expect(readConfig({ HOME: 'rel', STRING_ROOT: '/srv/string' }).root).toBe('/srv/string');
  expect(readConfig({ HOME: '' }).root).toBe(join(userInfo().homedir, '.string'));
  expect(() => readConfig({ HOME: 'rel', STRING_ROOT: '~/x' })).toThrow(ConfigError);
});
