// Starting a daemon: waiting until it answers, and saying why when it does not.

import { existsSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import {
  MAX_START_WORDS,
  START_TIMEOUT_MS,
  startDaemon,
  WINNER_WAIT_MS,
} from '../../../../src/client/string/start-daemon.js';
import { StringClient } from '../../../../src/client/string/string-client.js';
import { isAlive } from '../../../helpers/proc.js';
import { stopTimers } from '../../../helpers/stop-timers.js';
import { until } from '../../../helpers/wait.js';

const sh = (script: string): string[] => ['sh', '-c', script];
const never = async (): Promise<boolean> => false;

async function failureOf(start: Promise<void>): Promise<{ message: string; stderr: string; code: string }> {
  return (await start.then(
    () => new Error('it was started'),
    (thrown: unknown) => thrown,
  )) as never;
}

test('a daemon that ends is told of with its own words', async () => {
  const start = startDaemon({ port: 1, command: sh('echo "stringd: no room" >&2; exit 3'), isThere: never });
  expect(await failureOf(start)).toMatchObject({
    code: 'START_FAILED',
    message: 'stringd could not be started: it ended with code 3\nstringd: no room',
    stderr: 'stringd: no room\n',
  });
});

test('a program that is not there is told of', async () => {
  const start = startDaemon({ port: 1, command: ['/no/such/stringd'], isThere: never });
  expect((await failureOf(start)).message).toContain('ENOENT');
});

test('of many words the last are kept', async () => {
  const script = `head -c ${3 * MAX_START_WORDS} /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 1`;
  const { stderr } = await failureOf(startDaemon({ port: 1, command: sh(script), isThere: never }));
  expect(stderr).toMatch(/x+the end\n$/);
  expect(stderr).toHaveLength(MAX_START_WORDS);
});

test('one that does not answer in time is ended', async () => {
  let pid = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const command = sh('echo $$ >&2; exec sleep 300');
    const start = failureOf(startDaemon({ port: 1, command, isThere: never }));
    await vi.advanceTimersByTimeAsync(START_TIMEOUT_MS - 1);
    await vi.advanceTimersByTimeAsync(1);
    const { message, stderr } = await start;
    expect(message).toContain(`it did not answer within ${START_TIMEOUT_MS} ms`);
    pid = Number(stderr);
  } finally {
    vi.useRealTimers();
  }
  if (pid > 0) await until(() => !isAlive(pid), 'its end', 60_000);
});

test('one that finds another in its place is no failure: that one is waited for', async () => {
  const command = sh('echo "stringd: /d is in use by another (process 7) [data_in_use]" >&2; exit 1');
  let looks = 0;
  using still = stopTimers(['performance']); // by which it is told for how long that one was waited for
  void still;
  await startDaemon({ port: 1, command, isThere: async () => ++looks > 6, timeoutMs: 60_000 });
  expect(looks).toBe(7);
});

test('but not for long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const command = sh('echo "somebody is there [already_running]" >&2; exit 1');
    let looks = 0;
    const seen = { end: false };
    const isThere = async (): Promise<boolean> => (looks++, false);
    const start = failureOf(startDaemon({ port: 1, command, isThere, timeoutMs: 1e9 }));
    void start.then(() => (seen.end = true));
    // Its end comes in its own time, and time stands still until then.
    while (!seen.end) {
      await new Promise((resolve) => setImmediate(resolve));
      await vi.advanceTimersByTimeAsync(WINNER_WAIT_MS / 4);
    }
    expect((await start).message).toContain('it ended with code 1');
    expect(looks).toBeGreaterThanOrEqual(4);
  } finally {
    vi.useRealTimers();
  }
});

test('nothing is started where the daemon answers, or where that is not wanted', async () => {
  const file = '/nonexistent/never';
  const autoStart = { command: sh(`touch ${file}`) };
  const there = new StringClient({
    fetch: async () => Response.json({ ok: true, agents: 0, sessions: 0 }),
    autoStart,
  });
  expect(await there.start()).toBe(false);
  const gone = async (): Promise<Response> => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) });
  };
  await expect(
    new StringClient({ fetch: gone, autoStart: false }).exec('main', '/info'),
  ).rejects.toMatchObject({
    code: 'UNREACHABLE',
  });
  expect(existsSync(file)).toBe(false);
});

test.each(['0', 'abc', '-1', '1.5', '65536'])('STRING_PORT=%s is an error that names it', (value) => {
  vi.stubEnv('STRING_PORT', value);
  try {
    expect(() => new StringClient()).toThrow(`STRING_PORT="${value}": expected a port`);
    expect(new StringClient({ port: 7 }).url).toBe('http://127.0.0.1:7');
  } finally {
    vi.unstubAllEnvs();
  }
});

test('the environment names the port and the agent', () => {
  vi.stubEnv('STRING_PORT', '4100');
  vi.stubEnv('STRING_AGENT_ID', 'robin');
  try {
    expect(new StringClient()).toMatchObject({ url: 'http://127.0.0.1:4100', agentId: 'robin' });
    expect(new StringClient({ port: 5, agentId: 'x' })).toMatchObject({ agentId: 'x' });
  } finally {
    vi.unstubAllEnvs();
  }
});
