// The configuration: what the C implementation's files come to, and what is said of those that are wrong.

import { mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { listBusSettings, meaningOfBusKey } from '../../../scripts/bus-config-page.js';
import { checkConfig } from '../../../src/bus/config/check-config.js';
import { BusConfigError } from '../../../src/bus/config/config-error.js';
import {
  MAX_CONFIG_BYTES,
  MAX_CONFIG_FD,
  parseConfig,
  readConfigDescriptor,
  readConfigFile,
} from '../../../src/bus/config/read-config.js';
import {
  knownKeys,
  MAX_BUFFER_BYTES,
  MAX_POOLS,
  MAX_TABLE_ENTRIES,
  MAX_WAIT_SEC,
} from '../../../src/bus/config/schema.js';
import { toRouterSettings } from '../../../src/bus/router-settings.js';
import { MAX_INSTANCES } from '../../../src/host/supervisor/supervisor.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'hawser-bus-config-'));
afterAll(() => removeFolder(folder));

const POOL = { id: 'echo', command: 'node' };

function problem(value: unknown): string {
  try {
    checkConfig(value, 'bus.json');
    return 'none';
  } catch (thrown) {
    if (!(thrown instanceof BusConfigError)) throw thrown;
    return thrown.message;
  }
}

function parseProblem(text: string): string {
  try {
    parseConfig(text, 'bus.json');
    return 'none';
  } catch (thrown) {
    if (!(thrown instanceof BusConfigError)) throw thrown;
    return thrown.message;
  }
}

describe('a configuration that is right', () => {
  test('has the defaults of the C implementation, and one worker a pool', () => {
    const config = checkConfig({ pools: [POOL] }, 'bus.json');
    expect(config.limits).toMatchObject({
      max_input_buffer: 1 << 20,
      max_output_queue: 4 << 20,
      max_restarts: 5,
      restart_window_sec: 60,
      drain_timeout_sec: 30,
      backpressure_timeout_sec: 60,
    });
    expect(config.pools[0]).toMatchObject({ args: [], instances: 1, env: {} });
    expect(config).toMatchObject({ idCollision: 'hold', sessionOwnership: 'strict', lenient: false });
  });

  test('of the C implementation works unchanged, and gets to the router', () => {
    const config = checkConfig(
      {
        pools: [{ id: 'a', command: 'cat', args: ['-u'], instances: 4 }],
        limits: { max_input_buffer: 2048, backpressure_timeout_sec: 5 },
        transport: { mode: 'unix', framing: 'length', protocol: 'json', options: { shm_name: '/x' } },
      },
      'bus.json',
    );
    expect(toRouterSettings(config).limits).toMatchObject({
      maxInputBufferBytes: 2048,
      backpressureTimeoutMs: 5000,
    });
  });

  test('may begin with a byte order mark, and is read from a file or a descriptor', () => {
    const file = join(folder, 'good.json');
    writeFileSync(file, `\uFEFF${JSON.stringify({ pools: [POOL] })}\n`);
    expect(readConfigFile(file).pools).toHaveLength(1);
    expect(readConfigDescriptor(openSync(file, 'r')).pools).toHaveLength(1);
  });
});

describe('a configuration that is wrong', () => {
  test.each([
    [{ pools: [{ ...POOL, comand: 'x' }] }, 'pools[0].comand: unknown key; did you mean "command"?'],
    [{ pools: [POOL], limts: {} }, 'limts: unknown key; did you mean "limits"?'],
    [
      { pools: [POOL], limits: { max_restart: 1 } },
      'limits.max_restart: unknown key; did you mean "max_restarts"?',
    ],
    [
      { pools: [{ ...POOL, session: { lifts: true } }] },
      'pools[0].session.lifts: unknown key; did you mean "lift"?',
    ],
    [{ pools: [{ ...POOL, instances: '2' }] }, 'pools[0].instances: expected number, got string'],
    [{ pools: [{ ...POOL, args: ['a', 7] }] }, 'pools[0].args[1]: expected string, got number'],
    [{ pools: [{ id: 'a' }] }, 'pools[0].command: is required'],
    [{ pools: [] }, 'pools: must not be empty'],
    [{}, 'pools: is required'],
    [{ pools: [POOL, POOL] }, 'pools[1].id: "echo" is the id of pools[0] too'],
    [{ pools: [POOL], defaultPool: 'ecko' }, 'defaultPool: there is no pool "ecko"; did you mean "echo"?'],
    [{ pools: [POOL], routes: [{ method: 'a', pool: 'b' }] }, 'routes[0].pool: there is no pool "b"'],
    [{ pools: [POOL], routes: [{ method: 'a*b', pool: 'echo' }] }, 'a star may only stand at the end'],
    [
      { pools: [POOL], transport: { mode: 'shm' } },
      'transport.mode: shared memory is not supported; use "unix"',
    ],
    [{ pools: [POOL], transport: { mode: 'mqueue' } }, 'use "unix"'],
    [{ pools: [POOL], transport: { framing: 'capnp' } }, 'use "ndjson" or "length"'],
    [{ pools: [POOL], transport: { protocol: 'binary' } }, 'use "json"'],
    [{ pools: [{ ...POOL, ready: {} }] }, 'pools[0].ready: give either'],
    [{ pools: [{ ...POOL, env: { 'A=B': 'x' } }] }, 'pools[0].env: "A=B" cannot be the name of a variable'],
    [{ pools: [{ ...POOL, args: ['a\0b'] }] }, 'pools[0]: a zero byte'],
    [{ pools: [{ ...POOL, ping: { interval_ms: 1, timeout_ms: 2 } }] }, 'pools[0].ping.timeout_ms'],
  ])('%j is told by its key', (value, words) => {
    expect(problem(value)).toContain(`bus.json: `);
    expect(problem(value)).toContain(words);
  });

  test.each([
    ['', 'is empty'],
    ['{"pools": [}', 'line 1, column 12: is not JSON from here on'],
    ['{\n  "pools": 1,\n}', 'line 3, column 1'],
    ['{"pools": [', 'the text ends before the configuration does'],
    ['{"pools":[{"id":"a","command":"b"}]} x', 'line 1, column 38: there is text after the end'],
    ['[]', 'expected a JSON object'],
    ['7', 'expected a JSON object'],
  ])('%j is told by its place', (text, words) => {
    expect(parseProblem(text)).toContain(words);
  });

  test('a file that is not there, a folder and a closed descriptor are told as such', () => {
    expect(() => readConfigFile(join(folder, 'none.json'))).toThrow('no such file');
    expect(() => readConfigFile(folder)).toThrow('is a directory');
    expect(() => readConfigDescriptor(MAX_CONFIG_FD)).toThrow('is not open');
  });

  test('whatever the text, it is a configuration or a BusConfigError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(parseProblem(text)).toBeTypeOf('string');
      }),
      { numRuns: 500 },
    );
  });
});

describe('caps', () => {
  test('a file past MAX_CONFIG_BYTES is refused', () => {
    const file = join(folder, 'large.json');
    writeFileSync(file, `${JSON.stringify({ pools: [POOL] })}${' '.repeat(MAX_CONFIG_BYTES)}`);
    expect(() => readConfigFile(file)).toThrow(`is larger than ${MAX_CONFIG_BYTES} bytes`);
  });

  test('numbers past what can be kept are refused by name', () => {
    const pools = Array.from({ length: MAX_POOLS + 1 }, (_, at) => ({ ...POOL, id: `p${at}` }));
    expect(problem({ pools })).toContain(`pools: must be at most ${MAX_POOLS}`);
    expect(problem({ pools: [{ ...POOL, instances: MAX_INSTANCES + 1 }] })).toContain(
      `at most ${MAX_INSTANCES}`,
    );
    const limits = (value: object) => problem({ pools: [POOL], limits: value });
    expect(limits({ max_input_buffer: MAX_BUFFER_BYTES + 1 })).toContain(`at most ${MAX_BUFFER_BYTES}`);
    expect(limits({ max_pending: MAX_TABLE_ENTRIES + 1 })).toContain(`at most ${MAX_TABLE_ENTRIES}`);
    expect(limits({ drain_timeout_sec: MAX_WAIT_SEC + 1 })).toContain(`at most ${MAX_WAIT_SEC}`);
  });
});

describe('the page', () => {
  test('says what every key means, and of no key that is not there', () => {
    expect(listBusSettings().filter(({ key }) => meaningOfBusKey(key) === undefined)).toEqual([]);
  });

  test('"did you mean" knows the keys of every object', () => {
    expect(knownKeys(['pools', 3, 'session'])).toEqual(['lift', 'strip']);
    expect(knownKeys(['transport', 'options'])).toContain('listen');
    expect(knownKeys(['nothing', 'at', 'all'])).toEqual([]);
  });
});
