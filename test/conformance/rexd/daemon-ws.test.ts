// WebSockets of the daemon: frames, order, slow readers, strangers and the end.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { DaemonUnderTest, type Frames, type Message } from '../../helpers/daemon.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

let daemon: DaemonUnderTest;
beforeAll(async () => {
  daemon = await DaemonUnderTest.start({
    limits: { max_concurrent_sessions: 64, max_output_bytes: 2 ** 31, hard_timeout_ms: 600_000 },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

function stdoutOf(frames: Frames, processId: unknown): string {
  return frames.messages
    .filter(({ method, params }) => method === 'exec.stdout' && params?.['process_id'] === processId)
    .map(({ params }) => String(params?.['data']))
    .join('');
}

verifies('rexd/ws/messages', async (_, skip) => {
  skipForeign(skip);
  using one = await daemon.webSocket();
  using other = await daemon.webSocket();
  const session_id = await one.openSession();
  await other.openSession();
  const { process_id } = await one.ask('exec.start', { session_id, argv: ['echo', 'hello'], stdin: '' });
  await one.event('exec.exit', process_id);
  expect(stdoutOf(one, process_id)).toBe('hello\n');
  const order = one.messages.filter((each) => each.id === 2 || each.params?.['process_id'] === process_id);
  expect(order.map(({ id, method }) => id ?? method)).toEqual([2, 'exec.stdout', 'exec.exit']);
  expect(other.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  const before = one.messages.length;
  const next = (): Promise<Message> => until(() => one.messages[before], 'an answer');
  one.socket.send('{\n  "jsonrpc": "2.0",\n  "id": "pretty", "method": "session.info",\n  "params": {}\n}\n');
  expect((await next()).id).toBe('pretty');
  one.socket.send('{not json');
  await until(() => one.messages.find(({ error }) => error?.code === -32_700), 'the parse error');
  one.socket.send(
    `[{"jsonrpc":"2.0","id":"b","method":"session.info","params":{"session_id":"${session_id}"}}]`,
  );
  await until(() => one.messages.some((each) => Array.isArray(each)), 'the answer of the batch');
  expect(one.socket.readyState).toBe(one.socket.OPEN);
});

verifies('rexd/ws/one-writer', async (_, skip) => {
  skipForeign(skip);
  using frames = await daemon.webSocket();
  const session_id = await frames.openSession();
  const { process_id } = await frames.ask('exec.start', {
    session_id,
    argv: ['seq', '1', '300000'],
    stdin: '',
  });
  const asked = Array.from({ length: 300 }, (_each, i) =>
    frames.ask('fs.stat', { session_id, path: `f${i}` }),
  );
  expect((await Promise.all(asked)).every(({ exists }) => exists === false)).toBe(true);
  await frames.event('exec.exit', process_id);
  const expected = Array.from({ length: 300_000 }, (_each, i) => `${i + 1}\n`).join('');
  expect(stdoutOf(frames, process_id) === expected).toBe(true);
});

verifies(
  'rexd/ws/slow-reader',
  async (_, skip) => {
    skipForeign(skip);
    using frames = await daemon.webSocket();
    const session_id = await frames.openSession();
    const bytes = 48 * 1024 * 1024;
    const { process_id } = await frames.ask('exec.start', {
      session_id,
      shell: true,
      command: `head -c ${bytes} /dev/zero | tr '\\0' x`,
      stdin: '',
      timeout_ms: 300_000,
    });
    frames.socket.pause();
    const rss = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.child.pid}/status`, 'utf8'))?.[1]) / 1024;
    const readMiB = (): number => {
      const io = readFileSync(`/proc/${daemon.child.pid}/io`, 'utf8');
      return Math.floor(Number(/^rchar: (\d+)/m.exec(io)?.[1]) / (1024 * 1024));
    };
    const before = rss();
    // Until nothing moves any more: the child waits for the reader.
    let last = -1;
    await until(async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const stuck = readMiB() === last;
      last = readMiB();
      return stuck;
    }, 'the program to wait');
    expect(rss() - before).toBeLessThan(40);
    frames.socket.resume();
    let total = 0;
    await until(
      () => {
        for (const { method, params } of frames.messages.splice(0)) {
          if (method === 'exec.stdout') total += String(params?.['data']).length;
          if (method === 'exec.exit') return params?.['process_id'] === process_id;
        }
        return false;
      },
      'the end of the program',
      200_000,
    );
    expect(total).toBe(bytes);
  },
  300_000,
);

verifies('rexd/ws/disconnect', async (_, skip) => {
  skipForeign(skip);
  for (const leave of ['close', 'terminate'] as const) {
    using frames = await daemon.webSocket();
    const session_id = await frames.openSession();
    const { pid } = await frames.ask('exec.start', {
      session_id,
      shell: true,
      command: 'sleep 1000 & sleep 1000',
    });
    frames.socket[leave]();
    await until(() => !isAlive(Number(pid)), `the end after ${leave}`);
    expect((await daemon.call('session.info', { session_id })).error?.code).toBe(-32_602);
  }
});

verifies('rexd/ws/refused', async (_, skip) => {
  skipForeign(skip);
  const refused: [Record<string, string>, string, number][] = [
    [{ Authorization: '' }, '/ws', 401],
    [{ Authorization: 'Bearer wrong' }, '/ws', 401],
    [{ Origin: 'https://evil.example.org' }, '/ws', 403],
    [{ Host: 'evil.example.org' }, '/ws', 403],
    [{}, '/elsewhere', 404],
  ];
  for (const [headers, path, status] of refused)
    await expect(daemon.webSocket(headers, path), JSON.stringify(headers)).rejects.toThrow(String(status));
  using frames = await daemon.webSocket();
  frames.socket.send(Buffer.from('{}'), { binary: true });
  expect(await frames.closed).toMatchObject({ code: 1003 });
});
