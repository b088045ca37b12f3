// REXD v1, phase 3: sessions that are resumed, and commands that run at most once.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { type ClientOptions, dataOf, type Event, ExecClient } from '../kit/exec-client.js';
import { auditText } from '../kit/read-audit.js';
import { type Answer, RexdUnderTest } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';

/** For what is to come before it: the wait ends with that. */
const WAIT_MS = 50_000;

interface Resumable {
  readonly client: ExecClient;
  readonly session_id: string;
  readonly token: string;
}

/** A client whose first session is plain, and another that can be resumed. */
async function openResumable(options: ClientOptions = {}, more: object = {}): Promise<Resumable> {
  const client = await ExecClient.open(options);
  const opened = await client.ask('session.open', { client_name: 'resumed', resumable: true, ...more });
  const { token } = opened['resume'] as { token: string };
  return { client, session_id: String(opened['session_id']), token };
}

/** A further server on the same grounds, whose first request is its caller's. */
class Second extends RexdUnderTest {
  readonly log: (Answer | Event)[] = [];

  constructor({ client }: Pick<Resumable, 'client'>) {
    super({ ...client.rexd.grounds, [Symbol.dispose]: () => {} });
  }

  /** Sends a request and gives its answer, whatever else comes before it. */
  async demand(id: number, method: string, params: object): Promise<Answer> {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return await this.answerTo(id);
  }

  async answerTo(id: number): Promise<Answer> {
    const found = this.log.find((one): one is Answer => 'id' in one && one.id === id);
    if (found !== undefined) return found;
    await this.take();
    return await this.answerTo(id);
  }

  async take(): Promise<void> {
    this.log.push(JSON.parse((await this.line()) ?? 'null') as Answer | Event);
  }

  get events(): Event[] {
    return this.log.filter((one): one is Event => 'method' in one);
  }

  async until(method: string): Promise<void> {
    while (!this.events.some((event) => event.method === method)) await this.take();
  }
}

const seqs = (events: readonly Event[]): unknown[] => events.map(({ params }) => params['event_seq']);
const upTo = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
const resume = ({ session_id, token }: Resumable, event_seq = 0): object => ({
  session_id,
  token,
  event_seq,
});

/** The connection is gone; the server is not told why. */
function cut(client: ExecClient): void {
  client.rexd.child.stdin.destroy();
  client.rexd.child.stdout.destroy();
}

verifies('rexd/resume/numbered', async () => {
  const { client, session_id, token } = await openResumable();
  await using _ = client;
  expect(token.length).toBeGreaterThanOrEqual(32);
  const ids = [];
  for (let i = 0; i < 3; i += 1)
    ids.push(await client.start({ session_id, shell: true, command: 'echo a; echo b >&2' }));
  for (const id of ids) await client.event(id, 'exec.exit');
  const events = client.log.filter((one): one is Event => 'method' in one);
  expect(seqs(events)).toEqual(upTo(1, events.length));
  const plain = await client.sh('echo a');
  expect(seqs(plain.events)).toEqual(plain.events.map(() => undefined));
  await client.ask('session.close', { session_id });
});

verifies('rexd/resume/elsewhere', async () => {
  const session = await openResumable();
  const { client, session_id } = session;
  await using _ = client;
  const go = join(client.root, 'go');
  const id = await client.start({
    session_id,
    shell: true,
    command: `echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 5`,
  });
  await client.output(id, 'one');
  cut(client);
  await using second = new Second(session);
  const resumed = await second.demand(1, 'session.resume', resume(session));
  expect(resumed.result).toMatchObject({ session_id, event_seq: 1 });
  writeFileSync(go, '');
  await second.until('exec.exit');
  expect(seqs(second.events)).toEqual(upTo(1, second.events.length));
  expect(dataOf(second.events, 'exec.stdout').toString()).toBe('one\ntwo\n');
  expect(second.events.at(-1)?.params).toMatchObject({ process_id: id, exit_code: 5 });
  await second.demand(2, 'session.close', { session_id });
  second.endInput();
  await second.ended;
});

verifies('rexd/resume/refused', async () => {
  const session = await openResumable();
  const { client, session_id, token } = session;
  await using _ = client;
  await using second = new Second(session);
  const wrong = await second.demand(1, 'session.resume', { session_id, token: '0'.repeat(token.length) });
  expect(wrong.error?.code).toBe(-32_602);
  for (const params of [
    { session_id: session_id.replace(/.$/, (last) => (last === 'z' ? 'y' : 'z')), token },
    { session_id: client.sessionId, token },
    { session_id, token: '' },
  ]) {
    await using third = new Second(session);
    const { error } = await third.demand(1, 'session.resume', params);
    expect([error?.code, error?.message]).toEqual([wrong.error?.code, wrong.error?.message]);
  }
  const own = await client.refused('session.resume', { session_id, token: `${token}x` });
  expect(own?.message).toBe(wrong.error?.message);
  await client.ask('session.close', { session_id });
});

verifies('rexd/resume/takeover', async () => {
  const session = await openResumable();
  const { client, session_id } = session;
  await using _ = client;
  await client.ask('session.close', { session_id: client.sessionId }); // so that nothing else is there
  const id = await client.start({ session_id, argv: ['echo', 'hello'] });
  await client.event(id, 'exec.exit');
  await using second = new Second(session);
  await second.demand(1, 'session.resume', resume(session, 1));
  await second.until('exec.exit');
  expect(seqs(second.events)).toEqual([2]);
  await until(() => client.rexd.child.stdout.readableEnded, 'the end of the old connection');
  await second.demand(2, 'session.close', { session_id });
  second.endInput();
  await second.ended;
});

verifies('rexd/resume/once', async () => {
  const session = await openResumable();
  const { client, session_id } = session;
  await using _ = client;
  const params = { session_id, path: 'log', content: 'line\n', mode: 'append' };
  const id = client.send('fs.write', params);
  await client.ask('session.info', { session_id });
  const start = { session_id, shell: true, command: 'echo ran >> ran' };
  const startId = client.send('exec.start', start);
  await until(() => existsSync(join(client.root, 'ran')), 'the command');
  cut(client);
  await using second = new Second(session);
  await second.demand(1000, 'session.resume', resume(session));
  const written = await second.demand(id, 'fs.write', params);
  const started = await second.demand(startId, 'exec.start', start);
  expect(written.result).toMatchObject({ bytes_written: 5 });
  await second.until('exec.exit');
  expect(second.events[0]?.params.process_id).toBe(started.result?.['process_id']);
  expect(readFileSync(join(client.root, 'log'), 'utf8')).toBe('line\n');
  expect(readFileSync(join(client.root, 'ran'), 'utf8')).toBe('ran\n');
  await second.demand(1001, 'session.close', { session_id });
});

verifies('rexd/resume/poll', async () => {
  const { client, session_id } = await openResumable();
  await using _ = client;
  const poll = async (after: number, wait_ms = 0): Promise<{ events: Event[]; event_seq: number }> =>
    (await client.ask('session.events', { session_id, after, wait_ms })) as never;
  expect(await poll(0)).toEqual({ events: [], event_seq: 0 });
  const waiting = poll(0, WAIT_MS);
  const id = await client.start({ session_id, argv: ['echo', 'hello'] });
  const first = await waiting;
  expect(first.events[0]).toMatchObject({ method: 'exec.stdout', params: { event_seq: 1, data: 'hello\n' } });
  await client.event(id, 'exec.exit');
  expect((await poll(1)).events.map(({ method }) => method)).toEqual(['exec.exit']);
  expect((await client.ask('session.ack', { session_id, event_seq: 2 }))['event_seq']).toBe(2);
  expect((await client.refused('session.events', { session_id, after: 1 }))?.code).toBe(-32_602);
  expect((await client.refused('session.events', { session_id, after: 3 }))?.code).toBe(-32_602);
  expect(await client.refused('session.events', { after: 0 })).toMatchObject({
    code: -32_007,
    data: { capability: 'resume' },
  });
  await client.ask('session.close', { session_id });
});

verifies('rexd/resume/window', async () => {
  const { client, session_id } = await openResumable({}, { resume_window_ms: 400 });
  await using _ = client;
  const sleeper = await client.ask('exec.start', { session_id, argv: ['sleep', '1000'] });
  const stays = await client.ask('exec.start', { session_id, argv: ['sleep', '1000'], detach: true });
  cut(client);
  await client.rexd.ended;
  expect(isAlive(Number(sleeper['pid']))).toBe(false);
  expect(isAlive(Number(stays['pid']))).toBe(true);
  await using later = await ExecClient.open({ beside: client });
  await later.ask('exec.kill', { process_id: stays['process_id'], signal: 'KILL' });
  await later.ask('exec.wait', { process_id: stays['process_id'] });
});

verifies('rexd/resume/off', async () => {
  await using client = await ExecClient.open({ config: { server: ['resume_window_ms = 0'] } });
  const refusal = await client.refused('session.open', { client_name: 'resumed', resumable: true });
  expect(refusal).toMatchObject({ code: -32_007, data: { capability: 'resume' } });
});

verifies('rexd/resume/secret', async () => {
  const tables = ['[audit]', 'enabled = true', 'path = "{base}/audit.log"'];
  const session = await openResumable({ config: { tables } });
  const { client, session_id, token } = session;
  await using _ = client;
  await client.refused('session.resume', { session_id, token: `${token}wrong` });
  await client.ask('session.resume', { session_id, token });
  await client.ask('session.close', { session_id });
  client.rexd.endInput();
  await client.rexd.ended;
  const audit = auditText(join(client.rexd.grounds.base, 'audit.log'));
  expect(audit).toContain('session.resume');
  expect(audit).not.toContain(token);
  expect(client.rexd.stderr).not.toContain(token);
});

verifies('rexd/resume/request-id', async () => {
  await using client = await ExecClient.open();
  const params = { request_id: 'build-1', shell: true, command: 'echo ran >> ran', env: { A: '1', B: '2' } };
  const first = await client.ask('exec.start', params);
  expect(first['existing']).toBeUndefined();
  await client.finish(String(first['process_id']));
  const again = await client.ask('exec.start', { ...params, env: { B: '2', A: '1' } });
  expect(again).toEqual({ ...first, existing: true });
  expect(readFileSync(join(client.root, 'ran'), 'utf8')).toBe('ran\n');
  for (const other of [{ command: 'echo other >> ran' }, { env: { A: '1' } }, { cwd: 'sub' }])
    expect(await client.refused('exec.start', { ...params, ...other })).toMatchObject({
      code: -32_602,
      data: { request_id: 'build-1' },
    });
  // Many at once are one.
  const at = { request_id: 'build-2', shell: true, command: 'echo two >> two' };
  const answers = await Promise.all([1, 2, 3, 4].map(() => client.ask('exec.start', at)));
  expect(new Set(answers.map((answer) => answer['process_id']))).toHaveLength(1);
  await client.finish(String(answers[0]?.['process_id']));
  expect(readFileSync(join(client.root, 'two'), 'utf8')).toBe('two\n');
  const missing = { request_id: 'build-3', argv: ['./tool'] };
  await client.refused('exec.start', missing);
  writeFileSync(join(client.root, 'tool'), '#!/bin/sh\nexit 4\n', { mode: 0o755 });
  const { process_id } = await client.ask('exec.start', missing);
  expect((await client.finish(String(process_id))).exit['exit_code']).toBe(4);
});

verifies('rexd/resume/request-id-detached', async () => {
  await using client = await ExecClient.open();
  await using beside = await ExecClient.open({ beside: client });
  const params = { request_id: 'job', shell: true, command: 'echo ran >> ran; sleep 1000', detach: true };
  const both = await Promise.all([client.ask('exec.start', params), beside.ask('exec.start', params)]);
  const id = both[0]['process_id'];
  expect(both[1]['process_id']).toBe(id);
  expect(both.filter((answer) => answer['existing'] === true)).toHaveLength(1);
  await beside.hearAll();
  await using later = await ExecClient.open({ beside: client });
  expect(await later.ask('exec.start', params)).toMatchObject({ process_id: id, existing: true });
  const refusal = await later.refused('exec.start', { ...params, command: 'other' });
  expect(refusal).toMatchObject({ code: -32_602, data: { request_id: 'job' } });
  const ran = join(client.root, 'ran');
  await until(() => existsSync(ran) && readFileSync(ran, 'utf8') !== '', 'the job'); // a file is there before its first line
  await later.ask('exec.kill', { process_id: id, signal: 'KILL' });
  expect(await later.ask('exec.wait', { process_id: id })).toMatchObject({ signal: 'SIGKILL' });
  expect(readFileSync(join(client.root, 'ran'), 'utf8')).toBe('ran\n');
});

verifies('rexd/resume/follow', async () => {
  await using client = await ExecClient.open();
  const command =
    'while [ ! -e go ]; do sleep 0.05; done; echo went; while [ ! -e stop ]; do sleep 0.05; done';
  const id = await client.start({ shell: true, command, detach: true });
  await using later = await ExecClient.open({ beside: client });
  const read = (who: ExecClient, offset: number, wait_ms: number): Promise<Record<string, unknown>> =>
    who.ask('exec.read', { process_id: id, offset, wait_ms });
  expect(await read(later, 0, 30)).toMatchObject({ data: '', eof: false });
  const waiting = [read(client, 0, WAIT_MS), read(later, 0, WAIT_MS)];
  writeFileSync(join(client.root, 'go'), '');
  for (const answer of await Promise.all(waiting))
    expect(answer).toMatchObject({ data: 'went\n', eof: false });
  const last = [read(client, 5, WAIT_MS), read(later, 5, WAIT_MS)];
  writeFileSync(join(client.root, 'stop'), '');
  for (const answer of await Promise.all(last)) expect(answer).toMatchObject({ data: '', eof: true });
});
