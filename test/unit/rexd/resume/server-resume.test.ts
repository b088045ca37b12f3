// Sessions that outlive their connections: resumed on another, polled without one, ended when nobody comes.

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Log } from '../../../../src/base/log.js';
import { LimitSet } from '../../../../src/guard/limits.js';
import { Roots } from '../../../../src/guard/roots.js';
import { loadConfig } from '../../../../src/rexd/config.js';
import { Holders } from '../../../../src/rexd/daemon/holders.js';
import type { ServerFacts } from '../../../../src/rexd/context.js';
import { REXD_LIMITS } from '../../../../src/rexd/limits.js';
import { MAX_POLL_BYTES, MAX_POLL_EVENTS, MAX_POLL_MS } from '../../../../src/rexd/methods/session-events.js';
import { MAX_ACKED_ANSWERS, MAX_RESUME_TOKEN_CHARS } from '../../../../src/rexd/protocol/session.js';
import { MAX_READ_WAIT_MS } from '../../../../src/rexd/methods/exec-read.js';
import { MAX_READS_AT_ONCE, RexdServer } from '../../../../src/rexd/server.js';
import { RpcPeer } from '../../../../src/wire/jsonrpc/peer.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { isAlive } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const silent = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;

interface Opened {
  readonly session_id: string;
  readonly resume: { readonly token: string; readonly window_ms: number };
}
interface Event {
  readonly method: string;
  readonly params: { readonly event_seq: number; readonly data?: string };
}

let dir: string;
let server: RexdServer;

async function startServer(resume: ServerFacts['resume'] = { windowMs: 60_000 }): Promise<RexdServer> {
  const config = await loadConfig(undefined, { XDG_CONFIG_HOME: dir });
  const facts: ServerFacts = {
    roots: Roots.open([dir]),
    limits: new LimitSet(REXD_LIMITS, { max_output_bytes: 64 * 1024 * 1024 }),
    reportVersion: '0',
    capabilities: ['exec'],
    policy: config.policy,
    environment: process.env,
    passedVariables: [],
    stateDir: join(dir, 'state'),
    allowDetach: false,
    ...(resume !== undefined && { resume }),
  };
  return new RexdServer({ facts, log: silent });
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rexd-resume-'));
  server = await startServer();
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
  removeFolder(dir);
});

class Client {
  readonly events: Event[] = [];
  readonly peer: RpcPeer;
  readonly served: Promise<Error | undefined>;

  constructor(to: RexdServer = server) {
    const [near, far] = linkedPair();
    this.served = to.serve(near);
    this.peer = new RpcPeer(far, {
      onNotification: ({ method, params }) => void this.events.push({ method, params } as unknown as Event),
    });
  }

  async ask<T>(method: string, params: object = {}): Promise<T> {
    return (await this.peer.request(method, params)) as T;
  }

  async open(): Promise<Opened> {
    return await this.ask('session.open', { client_name: 't', resumable: true });
  }

  get output(): string {
    return this.events.map(({ params }) => params.data ?? '').join('');
  }

  /** As a cable that is cut. */
  async cut(): Promise<void> {
    this.peer.link.close().catch(() => {});
    await this.served;
    await this.peer.close();
  }
}

const seqs = (events: readonly Event[]): number[] => events.map(({ params }) => params.event_seq);
const upTo = (last: number, from = 1): number[] =>
  Array.from({ length: last - from + 1 }, (_, i) => from + i);

test('a command goes on while nobody is connected, and its client misses nothing', async () => {
  const first = new Client();
  const { session_id, resume } = await first.open();
  expect(resume.token).toMatch(/^[0-9a-f]{64}$/);
  const go = join(dir, 'go');
  const command = `echo one; while [ ! -e ${go} ]; do sleep 0.01; done; echo two >&2; echo three; exit 7`;
  await first.ask('exec.start', { session_id, shell: true, command });
  await until(() => first.output === 'one\n', 'the first line');
  await first.cut();
  const second = new Client();
  const { event_seq } = await second.ask<{ event_seq: number }>('session.resume', {
    session_id,
    token: resume.token,
    event_seq: first.events.at(-1)?.params.event_seq,
  });
  expect(event_seq).toBe(1);
  await second.ask('fs.write', { session_id, path: go, content: '' });
  await until(() => second.events.at(-1)?.method === 'exec.exit', 'the end');
  expect(seqs([...first.events, ...second.events])).toEqual(upTo(second.events.length + 1));
  expect(second.output).toContain('three\n');
  await second.peer.close();
});

test('events that did not arrive are sent again, to the last connection only, and the old one is closed', async () => {
  const first = new Client();
  const { session_id, resume } = await first.open();
  const run = await first.ask<{ process_id: string }>('exec.start', { session_id, argv: ['echo', 'hello'] });
  await until(() => first.events.length === 2, 'output and exit');
  const second = new Client();
  await second.ask('session.resume', { session_id, token: resume.token, event_seq: 0 });
  await until(() => second.events.length === 2, 'both again');
  expect(seqs(second.events)).toEqual([1, 2]);
  await first.served; // though it was alive
  const info = await second.ask<{ status: string }>('exec.wait', { session_id, process_id: run.process_id });
  expect(info.status).toBe('exited');
  await first.peer.close();
  await second.peer.close();
});

test('a wrong token and a session that is not there are told the same', async () => {
  const first = new Client();
  const { session_id, resume } = await first.open();
  const plain = await first.ask<Opened>('session.open', { client_name: 'plain' });
  const second = new Client();
  const refusal = async (params: object): Promise<unknown> =>
    await second.ask('session.resume', params).then(
      () => 'resumed',
      (error: { code: number; message: string }) => [error.code, error.message],
    );
  const wrong = await refusal({ session_id, token: '0'.repeat(64) });
  expect(wrong).toEqual([-32_602, expect.stringContaining('no such session to resume, or another token')]);
  expect(await refusal({ session_id: `${session_id}x`, token: resume.token })).toEqual(wrong);
  expect(await refusal({ session_id: plain.session_id, token: resume.token })).toEqual(wrong);
  expect(await refusal({ session_id, token: 'x'.repeat(MAX_RESUME_TOKEN_CHARS + 1) })).not.toBe('resumed');
  expect(await refusal({ session_id, token: resume.token })).toBe('resumed');
  await first.peer.close();
  await second.peer.close();
});

test('a request that is sent again under its id is carried out once', async () => {
  const first = new Client();
  const { session_id, resume } = await first.open();
  const file = join(dir, 'lines');
  const params = { session_id, path: file, content: 'line\n', mode: 'append' };
  const again = async (client: Client, id: number): Promise<unknown> =>
    await client.peer.request('fs.write', params, { id });
  const one = await again(first, 70);
  await first.cut();
  const second = new Client();
  await second.ask('session.resume', { session_id, token: resume.token, event_seq: 0 });
  expect(await again(second, 70)).toEqual(one);
  expect(readFileSync(file, 'utf8')).toBe('line\n');
  await again(second, 71);
  expect(readFileSync(file, 'utf8')).toBe('line\nline\n');
  const tooMany = Array.from({ length: MAX_ACKED_ANSWERS + 1 }, () => 1);
  await expect(
    second.ask('session.ack', { session_id, event_seq: 0, answers: tooMany }),
  ).rejects.toMatchObject({ code: -32_602 });
  await second.ask('session.ack', { session_id, event_seq: 0, answers: [70] });
  await again(second, 70);
  expect(readFileSync(file, 'utf8')).toBe('line\nline\nline\n');
  await second.peer.close();
});

test('a request under way goes on without its connection', async () => {
  const first = new Client();
  const { session_id, resume } = await first.open();
  const go = join(dir, 'go');
  const { process_id } = await first.ask<{ process_id: string }>('exec.start', {
    session_id,
    shell: true,
    command: `while [ ! -e ${go} ]; do sleep 0.01; done; exit 3`,
  });
  const wait = { session_id, process_id };
  const lost = first.peer.request('exec.wait', wait, { id: 50 });
  await first.ask('session.info', { session_id });
  await first.cut();
  await expect(lost).rejects.toThrow('closed');
  const second = new Client();
  await second.ask('session.resume', { session_id, token: resume.token, event_seq: 0 });
  const found = second.peer.request('exec.wait', wait, { id: 50 });
  await second.ask('fs.write', { session_id, path: go, content: '' });
  expect(await found).toMatchObject({ status: 'exited', exit_code: 3 });
  await second.peer.close();
});

test('when nobody comes back in time, what the session started ends', async () => {
  await server.close();
  const windowMs = 300;
  server = await startServer({ windowMs });
  const first = new Client();
  const { session_id, resume } = await first.open();
  const { pid } = await first.ask<{ pid: number }>('exec.start', { session_id, argv: ['sleep', '100'] });
  const cutMs = performance.now();
  await first.cut();
  await server.quiet();
  expect(performance.now() - cutMs).toBeGreaterThan(windowMs - 2); // not before: timers count whole milliseconds
  expect(isAlive(pid)).toBe(false);
  const second = new Client();
  await expect(
    second.ask('session.resume', { session_id, token: resume.token, event_seq: 0 }),
  ).rejects.toThrow('no such session');
  await second.peer.close();
});

test('a session that was closed is not waited for, and a server that ends waits for none', async () => {
  const first = new Client();
  const { session_id } = await first.open();
  await first.ask('session.close', { session_id });
  await first.cut();
  await server.quiet();
  const second = new Client();
  const opened = await second.open();
  const { pid } = await second.ask<{ pid: number }>('exec.start', {
    session_id: opened.session_id,
    argv: ['sleep', '100'],
  });
  await second.cut();
  await server.close();
  expect(isAlive(pid)).toBe(false);
});

test('a server that cannot resume says so, and a session that was not opened for it too', async () => {
  await server.close();
  server = await startServer({
    windowMs: 1000,
    announce: () => Promise.reject(new Error('the state folder is full')),
  });
  const client = new Client();
  await expect(client.open()).rejects.toMatchObject({
    code: -32_007,
    data: { capability: 'resume', reason: 'the state folder is full' },
  });
  const { session_id } = await client.ask<Opened>('session.open', { client_name: 't' });
  await expect(client.ask('session.ack', { session_id, event_seq: 0 })).rejects.toMatchObject({
    code: -32_007,
  });
  await expect(client.ask('session.events', { session_id })).rejects.toMatchObject({ code: -32_007 });
  await client.peer.close();
});

test('without a connection a client asks for its events, and none is given twice or left out', async () => {
  await using held = server.hold({ idleMs: 60_000 });
  let id = 0;
  const call = async <T>(method: string, params: object): Promise<T> => {
    const result = await held.call({ id: (id += 1), method, params: params as Record<string, unknown> });
    const json = (result as { json?: string | Uint8Array }).json;
    return (json === undefined ? result : JSON.parse(Buffer.from(json as string).toString('utf8'))) as T;
  };
  const { session_id } = await call<Opened>('session.open', { client_name: 'post', resumable: true });
  const bytes = 3 * MAX_POLL_BYTES;
  await call('exec.start', { session_id, shell: true, command: `head -c ${bytes} /dev/zero | tr '\\0' x` });
  const events: Event[] = [];
  let after = 0;
  while (events.at(-1)?.method !== 'exec.exit') {
    const given = await call<{ events: Event[]; event_seq: number }>('session.events', {
      session_id,
      after,
      wait_ms: 10 * MAX_POLL_MS,
    });
    expect(given.events.length).toBeLessThanOrEqual(MAX_POLL_EVENTS);
    expect(JSON.stringify(given).length).toBeLessThan(2 * MAX_POLL_BYTES);
    events.push(...given.events);
    after = given.event_seq;
  }
  expect(seqs(events)).toEqual(upTo(events.length));
  expect(events.map(({ params }) => params.data ?? '').join('')).toHaveLength(bytes);
  await expect(call('session.events', { session_id, after: 0 })).rejects.toThrow('acknowledged');
  await expect(call('session.events', { session_id, after: after + 1 })).rejects.toThrow('no such event yet');
});

test('a session of no connection ends when nobody asks for it, and goes to whoever resumes it', async () => {
  const idleMs = 60_000;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // it passes when we say so
  await using held = server.hold({ idleMs });
  const open = async (): Promise<Opened> =>
    (await held.call({
      id: 1,
      method: 'session.open',
      params: { client_name: 'post', resumable: true },
    })) as Opened;
  const left = await open();
  const taken = await open();
  const client = new Client();
  await client.ask('session.resume', {
    session_id: taken.session_id,
    token: taken.resume.token,
    event_seq: 0,
  });
  vi.advanceTimersByTime(idleMs - 1);
  expect(held.size).toBe(1);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await until(() => held.size === 0, 'the end of the session nobody asks for');
  await expect(
    held.call({ id: 2, method: 'session.info', params: { session_id: left.session_id } }),
  ).rejects.toThrow('no such session');
  await client.ask('session.info', { session_id: taken.session_id });
  await client.peer.close();
});

test('exec.read waits for output that is not there yet, for the end, or for its time, and nobody else waits with it', async () => {
  const client = new Client();
  const { session_id } = await client.ask<Opened>('session.open', { client_name: 't' });
  const { process_id } = await client.ask<{ process_id: string }>('exec.start', {
    session_id,
    argv: ['cat'],
  });
  const read = (offset: number, wait_ms: number): Promise<{ data: string; eof: boolean }> =>
    client.ask('exec.read', { session_id, process_id, offset, wait_ms });
  expect(await read(0, 20)).toMatchObject({ data: '', eof: false });
  // More than may be read at the same time.
  const waiting = Array.from({ length: 2 * MAX_READS_AT_ONCE }, () => read(0, 10 * MAX_READ_WAIT_MS));
  await client.ask('exec.input', { session_id, process_id, data: 'hello' });
  for (const answer of await Promise.all(waiting)) expect(answer.data).toBe('hello');
  const last = read(5, MAX_READ_WAIT_MS);
  await client.ask('exec.input', { session_id, process_id, eof: true });
  expect(await last).toMatchObject({ data: '', eof: true });
  await client.peer.close();
});

test('a client that takes nothing slows its processes down, memory stays flat, and nothing is lost', async () => {
  const first = new Client();
  const { session_id, resume } = await first.open();
  const lines = 2_000_000;
  await first.ask('exec.start', {
    session_id,
    argv: ['seq', '1', String(lines)],
    timeout_ms: 240_000,
  });
  await first.cut();
  const second = new Client();
  let acked = 0;
  await second.ask('session.resume', { session_id, token: resume.token, event_seq: 0 });
  while (second.events.at(-1)?.method !== 'exec.exit') {
    await until(() => second.events.length > acked, 'more events');
    acked = second.events.length;
    await second.ask('session.ack', { session_id, event_seq: acked });
  }
  expect(seqs(second.events)).toEqual(upTo(second.events.length));
  const numbers = second.output.trimEnd().split('\n');
  expect(numbers).toHaveLength(lines);
  expect(numbers.every((line, i) => line === String(i + 1))).toBe(true);
  await second.peer.close();
});

test('whoever has no session by POST any more is forgotten when another comes, and not before', async () => {
  const holders = new Holders(() => server.hold({ idleMs: 60_000 }));
  const open = { id: 1, method: 'session.open', params: { client_name: 't' } };
  const kept = (await holders.of('kept').call(open)) as Opened;
  const left = (await holders.of('left').call(open)) as Opened;
  const params = { session_id: left.session_id };
  await holders.of('left').call({ id: 2, method: 'session.close', params });
  const opening = holders.of('opening').call({ ...open, params: { ...open.params, resumable: true } });
  expect(holders.size).toBe(2);
  for (const name of ['a', 'b', 'c']) holders.of(name);
  expect(holders.size).toBe(3);
  const { session_id } = (await opening) as Opened;
  for (const [name, id] of Object.entries({ kept: kept.session_id, opening: session_id }))
    await expect(
      holders.of(name).call({ id: 3, method: 'session.info', params: { session_id: id } }),
    ).resolves.toBeDefined();
});
