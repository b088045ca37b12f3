// BusClient against the built bus: over a unix socket, TCP with a token, a bus of its own on stdio, and one in this process.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RpcError } from '../../src/base/errors.js';
import { createBus } from '../../src/bus/bus.js';
import type { BusConfigInput } from '../../src/bus/config/schema.js';
import { AUTH_MS, connectBus, MAX_WAITING_REQUESTS, RECONNECT_MS } from '../../src/client/bus/bus-client.js';
import { BusUnreachableError } from '../../src/client/bus/bus-place.js';
import type { BusMessage } from '../../src/client/bus/handlers.js';
import { busCommand, BusUnderTest, poolOf, writeConfig } from '../helpers/bus.js';
import { isAlive } from '../helpers/proc.js';
import { Program } from '../helpers/program.js';
import { makeScratch } from '../helpers/scratch.js';
import { until } from '../helpers/wait.js';

interface Echo {
  readonly pid: number;
  readonly line: string;
}

const lineOf = (echo: unknown): string => Buffer.from((echo as Echo).line, 'base64').toString('utf8');

test('a place that is none is said at once, and not looked for', async () => {
  await expect(connectBus({} as never)).rejects.toThrow(
    '{ path }, { host, port }, { command } or { stream }',
  );
  await expect(connectBus({ host: '127.0.0.1' } as never)).rejects.toThrow(TypeError);
});

test('a request is answered, and what is put beside it reaches the worker', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await connectBus({ path: bus.socket });
  const answer = await client.request('echo', { x: 1 }, { sessionId: 's "1"', pool: 'w' });
  expect(JSON.parse(lineOf(answer))).toMatchObject({
    method: 'echo',
    params: { x: 1 },
    sessionId: 's "1"',
    pool: 'w',
  });
});

test('an error of a worker and one of the bus are RpcErrors with their codes', async () => {
  await using bus = await BusUnderTest.start({ worker: ['--strict'] });
  await using client = await connectBus({ path: bus.socket });
  await expect(client.request('echo', {}, { sessionId: 's' })).rejects.toMatchObject({ code: -32600 });
  await expect(client.request('echo', {}, { pool: 'nobody' })).rejects.toMatchObject({ code: -32001 });
});

test('a session stays with one worker, and hears what that worker tells it', async () => {
  await using bus = await BusUnderTest.start({ instances: 3 });
  await using client = await connectBus({ path: bus.socket });
  const session = client.session('one');
  const heard: BusMessage[] = [];
  const everything: BusMessage[] = [];
  const stop = session.onNotification((message) => heard.push(message));
  client.onNotification((message) => everything.push(message));
  client.session('other').onNotification(() => expect.unreachable());
  const pids = await Promise.all(Array.from({ length: 12 }, () => session.request('pid')));
  expect(new Set(pids.map((each) => (each as Echo).pid)).size).toBe(1);
  await session.request('flood', { count: 3 });
  await session.request('flood', { count: 2, inside: true });
  await until(() => everything.length === 5, 'the notifications');
  expect(heard.map(({ sessionId }) => sessionId)).toEqual(Array(5).fill('one'));
  stop();
  await session.request('flood', { count: 1 });
  await until(() => everything.length === 6, 'one more');
  expect(heard).toHaveLength(5);
});

test('what a worker asks is answered by the handler of its session, else by the client, else refused', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await connectBus({ path: bus.socket });
  const ask = async (session: string): Promise<Record<string, unknown>> => {
    const answer = await client.session(session).request('ask', { id: 7, text: session });
    return JSON.parse(Buffer.from((answer as { got: string }).got, 'base64').toString('utf8'));
  };
  expect(await ask('a')).toMatchObject({ error: { code: -32601 } });
  client.onRequest(({ params }) => ({ client: params }));
  const stop = client.session('b').onRequest(({ sessionId, signal }) => {
    expect(signal.aborted).toBe(false);
    return { session: sessionId };
  });
  expect(await ask('a')).toMatchObject({ result: { client: { text: 'a' } } });
  expect(await ask('b')).toMatchObject({ result: { session: 'b' } });
  stop();
  expect(await ask('b')).toMatchObject({ result: { client: { text: 'b' } } });
});

test('a request that is called off rejects at once, and its worker is told', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await connectBus({ path: bus.socket });
  const gate = bus.gate('never');
  const stop = new AbortController();
  const waiting = client.request('echo', { gate: gate.path }, { signal: stop.signal });
  await until(() => bus.notes().some(({ line }) => line !== undefined), 'the worker to have it');
  stop.abort(new Error('changed my mind'));
  await expect(waiting).rejects.toThrow('changed my mind');
  await expect(client.request('echo', { gate: gate.path }, { timeoutMs: 50 })).rejects.toThrow('timed out');
  const { heard } = (await client.request('heard')) as { heard: string[] };
  const told = heard.map((line) => JSON.parse(Buffer.from(line, 'base64').toString('utf8')).method as string);
  expect(told).toEqual(['$/cancelRequest', '$/cancelRequest']);
  gate.open();
});

test('a notification reaches a worker', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await connectBus({ path: bus.socket });
  const session = client.session('n');
  await session.notify('tick', { n: 1 });
  const heard = async (): Promise<string[]> =>
    ((await session.request('heard')) as { heard: string[] }).heard;
  await until(async () => (await heard()).length > 0, 'it');
  const [line = ''] = await heard();
  expect(JSON.parse(Buffer.from(line, 'base64').toString('utf8'))).toMatchObject({
    method: 'tick',
    params: { n: 1 },
    sessionId: 'n',
  });
});

test('TCP with a token: without it nobody is let in, with it everything works', async () => {
  const token = randomBytes(24).toString('hex');
  await using bus = await BusUnderTest.start({
    mode: 'tcp',
    env: { STDIO_BUS_TOKEN: token },
    awaitWorkers: false,
  });
  const place = { host: '127.0.0.1', port: bus.port };
  expect(AUTH_MS).toBeGreaterThan(1000);
  await expect(connectBus({ ...place, token: 'wrong' })).rejects.toMatchObject({ code: -32006 });
  await using client = await connectBus({ ...place, token });
  expect(lineOf(await client.request('echo', {}))).toContain('"echo"');
});

test('a bus of its own on stdio ends with the client', async () => {
  const base = makeScratch();
  writeConfig(base, {});
  const client = await connectBus({ command: [...busCommand(), '--config', join(base, 'bus.json')] });
  const { pid } = (await client.request('pid')) as Echo;
  await client.close();
  await until(() => !isAlive(pid), 'the worker to be gone');
  await expect(client.request('pid')).rejects.toThrow('closed');
});

test('a bus in this process: many of them, each with its own workers', async () => {
  const config = { pools: [poolOf('w', 2)] } as BusConfigInput;
  await using one = await createBus({ config });
  await using other = await createBus({ config });
  await using client = await connectBus({ stream: () => one.connect() });
  await using second = await connectBus({ stream: () => other.connect() });
  const [mine, theirs] = await Promise.all([client.request('pid'), second.request('pid')]);
  expect((mine as Echo).pid).not.toBe((theirs as Echo).pid);
});

test('a client that was cut off connects again: what was asked is rejected, what is asked meanwhile waits', async () => {
  const base = makeScratch();
  await using first = await BusUnderTest.start();
  const path = first.socket;
  const events: string[] = [];
  await using client = await connectBus(
    { path },
    { onLost: () => events.push('lost'), onReconnected: () => events.push('back') },
  );
  const gate = first.gate('never');
  const asked = client.request('echo', { gate: gate.path });
  asked.catch(() => {}); // looked at below
  await until(() => first.notes().some(({ line }) => line !== undefined), 'the worker to have it');
  first.child.kill('SIGKILL');
  await expect(asked).rejects.toThrow(/connection/);
  expect(client.online).toBe(false);
  const meanwhile = client.request('pid');
  writeConfig(base, {});
  await using second = await startOn(base, path);
  await expect(meanwhile).resolves.toHaveProperty('pid');
  expect(events).toEqual(['lost', 'back']);
  expect(second.child.exitCode).toBe(null);
});

test('a client that shall not connect again closes, and says why', async () => {
  await using bus = await BusUnderTest.start();
  const client = await connectBus({ path: bus.socket }, { reconnectMs: 0 });
  bus.child.kill('SIGKILL');
  await until(() => client.closing, 'it to close');
  await expect(client.request('pid')).rejects.toThrow('closed');
  await client.close();
});

test('RECONNECT_MS is how long it tries; MAX_WAITING_REQUESTS is how many wait meanwhile', async () => {
  expect(RECONNECT_MS).toBe(30_000);
  await using bus = await BusUnderTest.start();
  const client = await connectBus({ path: bus.socket }, { reconnectMs: 120_000 });
  bus.child.kill('SIGKILL');
  await until(() => !client.online, 'the loss');
  const waiting = Array.from({ length: MAX_WAITING_REQUESTS }, () => client.request('pid'));
  const all = Promise.allSettled(waiting);
  await expect(client.request('pid')).rejects.toMatchObject({ code: 'too_many_requests' });
  await client.close();
  expect((await all).every(({ status }) => status === 'rejected')).toBe(true);
});

test('where nobody listens the error says where and what to do', async () => {
  const path = join(makeScratch(), 'none.sock');
  await expect(connectBus({ path })).rejects.toThrow(BusUnreachableError);
  await expect(connectBus({ path })).rejects.toThrow(/unix:.*none\.sock: .*stdio-bus --config/);
  await expect(connectBus({ command: ['/no/such/bus'] })).rejects.toThrow('there is no such program');
});

test('errors are told apart by what they are', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await connectBus({ path: bus.socket });
  const refusal: unknown = await client.request('echo', {}, { pool: 'x' }).catch((thrown: unknown) => thrown);
  expect(refusal).toBeInstanceOf(RpcError);
  expect((refusal as RpcError).data).toMatchObject({ reason: 'unknown_pool' });
});

async function startOn(base: string, path: string): Promise<Program> {
  const program = new Program([...busCommand(), '--config', join(base, 'bus.json'), '--unix', path]);
  await until(() => program.stderr.includes('listening on'), 'the second bus to listen');
  return program;
}
