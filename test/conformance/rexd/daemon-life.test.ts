// The life of a daemon: its unix socket, clients beside each other, and how it ends.

import { statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Answer, DaemonUnderTest, TOKEN } from '../../helpers/daemon.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

/** A client of lines on a unix socket. */
class Lines implements Disposable {
  readonly socket: Socket;
  readonly messages: (Answer & { method?: string; params?: Record<string, unknown> })[] = [];
  #held = '';
  #lastId = 0;

  constructor(path: string) {
    this.socket = connect(path);
    this.socket.on('error', () => {});
    this.socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#held + text).split('\n');
      this.#held = lines.pop() ?? '';
      this.messages.push(...lines.map((line) => JSON.parse(line) as Answer));
    });
  }

  async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++this.#lastId;
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const answer = await until(() => this.messages.find((each) => each.id === id), `the answer of ${method}`);
    return { ...answer.result, ...(answer.error !== undefined && { error: answer.error }) };
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

const SLEEP = { shell: true, command: 'sleep 1000 & sleep 1000' };

verifies('rexd/unix/lines', async (_, skip) => {
  skipForeign(skip);
  const args = ['--unix', '{base}/rexd.sock'];
  await using daemon = await DaemonUnderTest.start({ args, env: { REXD_TOKEN: undefined } });
  const path = join(daemon.base, 'rexd.sock');
  expect(daemon.stderr).toContain(`rexd: listening on unix:${path}`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  using client = new Lines(path);
  const { session_id } = await client.ask('session.open', { client_name: 'lines' });
  const { process_id } = await client.ask('exec.start', { session_id, argv: ['echo', 'hi'], stdin: '' });
  await until(() => client.messages.find(({ method }) => method === 'exec.exit'), 'exec.exit');
  expect(client.messages.find(({ method }) => method === 'exec.stdout')?.params).toMatchObject({
    process_id,
    data: 'hi\n',
  });
  // A second one leaves the first alone; after kill -9 of the first it takes over.
  const again = { args: ['--unix', path] };
  await using second = await DaemonUnderTest.start(again);
  expect([(await second.ended).code, second.stderr]).toEqual([2, expect.stringContaining('already')]);
  expect(await client.ask('session.info', { session_id })).toMatchObject({ running_processes: 0 });
  daemon.child.kill('SIGKILL');
  await daemon.ended;
  await using third = await DaemonUnderTest.start(again);
  using later = new Lines(path);
  expect(await later.ask('session.open')).toMatchObject({ protocol: 'rexd/1' });
  third.child.kill('SIGTERM');
  expect((await third.ended).code).toBe(0);
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
});

verifies('rexd/daemon/isolation', async (_, skip) => {
  skipForeign(skip);
  await using daemon = await DaemonUnderTest.start({ args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'] });
  const posted = await daemon.openSession();
  using one = await daemon.webSocket();
  using other = await daemon.webSocket();
  using lines = new Lines(join(daemon.base, 's'));
  const owned = await one.openSession();
  const { process_id } = await one.ask('exec.start', { session_id: owned, argv: ['cat'] });
  const strangers = [
    (session_id: string) => other.call('exec.kill', { session_id, process_id }),
    (session_id: string) => daemon.call('exec.kill', { session_id, process_id }),
    (session_id: string) => lines.ask('exec.kill', { session_id, process_id }),
  ];
  for (const ask of strangers) expect(await ask(owned)).toMatchObject({ error: { code: -32_602 } });
  expect((await one.call('session.info', { session_id: posted })).error?.code).toBe(-32_602);
  expect(await one.ask('session.info', { session_id: owned })).toMatchObject({ running_processes: 1 });
});

verifies('rexd/daemon/sigterm', async (_, skip) => {
  skipForeign(skip);
  await using daemon = await DaemonUnderTest.start({ args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'] });
  using frames = await daemon.webSocket();
  using lines = new Lines(join(daemon.base, 's'));
  const session_id = await frames.openSession();
  const started = await frames.ask('exec.start', { session_id, ...SLEEP });
  const { session_id: second } = await lines.ask('session.open');
  const other = await lines.ask('exec.start', { session_id: second, ...SLEEP });
  const third = await daemon.openSession();
  const posted = await daemon.ask('exec.start', { session_id: third, ...SLEEP });
  const waited = daemon.call('exec.wait', {
    session_id: third,
    process_id: posted['process_id'],
    timeout_ms: 60_000,
  });
  await until(() => isAlive(Number(posted['pid'])), 'all to run');
  // Or the wait may still be on its way, to a server that takes no more.
  const metrics = async (): Promise<string> =>
    (await daemon.http('/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } })).text;
  await until(async () => /^rexd_http_in_flight [2-9]/m.test(await metrics()), 'the wait to be waited for');
  daemon.child.kill('SIGTERM');
  expect((await frames.event('exec.exit', started['process_id'])).params).toMatchObject({
    signal: 'SIGTERM',
  });
  expect(await frames.closed).toMatchObject({ code: 1001 });
  await until(
    () => lines.messages.find(({ method }) => method === 'exec.exit'),
    'exec.exit on the unix socket',
  );
  expect((await waited).result).toMatchObject({ status: 'killed' });
  expect(await daemon.ended).toEqual({ code: 0, signal: null });
  for (const { pid } of [started, other, posted]) expect(isAlive(Number(pid))).toBe(false);
});

verifies('rexd/daemon/sigkill', async (_, skip) => {
  skipForeign(skip);
  await using daemon = await DaemonUnderTest.start();
  const pids: number[] = [];
  using frames = await daemon.webSocket();
  const session_id = await frames.openSession();
  pids.push(Number((await frames.ask('exec.start', { session_id, ...SLEEP }))['pid']));
  const posted = await daemon.openSession();
  pids.push(Number((await daemon.ask('exec.start', { session_id: posted, ...SLEEP }))['pid']));
  daemon.child.kill('SIGKILL');
  await until(() => !pids.some(isAlive), 'the end of all programs');
});
