import { expect, test } from 'vitest';
import { MAX_REQUEST_ID_CHARS } from '../../../../src/string/daemon/exec-route.js';
import { EXEC_KEEP_ALIVE_MS, WAITS } from '../../../../src/string/daemon/waits.js';
import { ME, openDaemon } from './daemon-place.js';

test('a command is answered by exactly three events, with the headers of the protocol', async () => {
  await using place = await openDaemon();
  const reply = await place.exec('file:notes', '/info', { request_id: 'r1' });
  expect(reply.status).toBe(200);
  expect(reply.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'Content-Type, X-Agent-Id',
  });
  expect(reply.events.map(({ event }) => event)).toEqual(['head', 'content', 'done']);
  expect(reply.events[0]?.data).toEqual({
    ok: true,
    code: null,
    cmd: '/info',
    request_id: 'r1',
    agent_id: 'me',
    topic: 'notes',
    topic_type: 'tab',
    meta: null,
  });
  expect(reply.events[1]?.data).toMatch(/^re: \[r1\] \/info\n/);
});

test('the checks come in the order of the protocol', async () => {
  await using place = await openDaemon();
  const post = async (headers: Record<string, string>, body: string) => {
    const reply = await place.ask('/exec', {
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
    return [reply.status, reply.json];
  };
  expect(await post({}, 'nonsense')).toEqual([400, { error: 'X-Agent-Id header required' }]);
  expect(await post({ 'X-Agent-Id': 'nobody' }, 'nonsense')).toEqual([
    401,
    { error: 'Unknown agent: nobody' },
  ]);
  for (const body of ['nonsense', '', '[]', 'null', '"x"'])
    expect(await post(ME, body)).toEqual([400, { error: 'Invalid JSON body — expected { "cmd": "..." }' }]);
  for (const cmd of [undefined, '', '  ', 7, null])
    expect(await post(ME, JSON.stringify({ cmd, topic: 'bad!name' }))).toEqual([
      400,
      { error: 'Empty command — provide non-empty "cmd" field' },
    ]);
  expect(await post(ME, '{"cmd":"/info","topic":"bad!name"}')).toEqual([
    400,
    { error: 'Invalid topic: bad!name' },
  ]);
  expect(await post(ME, '{"cmd":"/info","topic":7}')).toEqual([400, { error: 'Invalid topic: 7' }]);
  for (const request_id of ['a\nb', 'x'.repeat(MAX_REQUEST_ID_CHARS + 1), 7])
    expect((await post(ME, JSON.stringify({ cmd: '/info', request_id })))[0]).toBe(400);
  expect((await place.exec('', '/info')).events[0]?.data).toMatchObject({ topic: 'main' });
});

test('what is no command is a failure of the command, not of HTTP', async () => {
  await using place = await openDaemon();
  const { status, events } = await place.exec('main', 'hello');
  expect(status).toBe(200);
  expect(events[0]?.data).toMatchObject({ ok: false, code: 'COMMAND_UNSUPPORTED' });
  expect(events[1]?.data).toMatch(/^re: hello\nERROR\(COMMAND_UNSUPPORTED\): /);
});

test('a connection serves command after command', async () => {
  await using place = await openDaemon();
  const { Agent, request } = await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  for (let i = 0; i < 3; i++)
    await new Promise<void>((resolve, reject) => {
      const req = request(
        `${place.url}/exec`,
        { agent, method: 'POST', headers: { ...ME, 'Content-Type': 'application/json' } },
        (res) => {
          ports.add(res.socket.localPort);
          expect(res.headers.connection).toBe('keep-alive');
          res.resume().once('end', resolve);
        },
      );
      req.once('error', reject);
      req.end('{"cmd":"/info"}');
    });
  agent.destroy();
  expect(ports.size).toBe(1);
});

test('sessions are opened once, listed with their state, closed once', async () => {
  await using place = await openDaemon();
  const { ask } = place;
  const open = async (json: unknown) => {
    const reply = await ask('/sessions', { json });
    return [reply.status, reply.json];
  };
  expect(await open({})).toEqual([400, { error: 'agent_id required' }]);
  expect(await open({ agent_id: 'nobody', topic: 'bad!' })).toEqual([
    401,
    { error: 'Unknown agent: nobody' },
  ]);
  expect(await open({ agent_id: 'me', topic: 'bad!' })).toEqual([400, { error: 'Invalid topic: bad!' }]);
  const session = { agent_id: 'me', topic: 'main', topic_type: 'tab' };
  expect(await open({ agent_id: 'me', topic: 'main' })).toEqual([200, { ...session, created: true }]);
  expect(await open({ agent_id: 'me', topic: 'main' })).toEqual([200, { ...session, created: false }]);
  expect((await ask('/sessions?agent_id=me')).json).toEqual({
    sessions: [{ ...session, executing: false, queue_length: 0, doc: null }],
  });
  expect((await ask('/sessions?agent_id=nobody')).json).toEqual({ sessions: [] });
  const close = async (path: string) => {
    const reply = await ask(path, { method: 'DELETE' });
    return [reply.status, reply.json];
  };
  const closed = { agent_id: 'me', topic: 'main' };
  expect(await close('/sessions/me/main')).toEqual([200, { ...closed, deleted: true }]);
  expect(await close('/sessions/me/main')).toEqual([200, { ...closed, deleted: false }]);
  for (const path of ['/sessions', '/sessions/me', '/sessions/me/', '/sessions/me/a/b'])
    expect(await close(path)).toEqual([400, { error: 'Expected /sessions/:agent_id/:topic' }]);
});

test('nothing is known at a path that is none, nor by a method that a path has not', async () => {
  await using place = await openDaemon();
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['PUT', '/exec'],
    ['GET', '/shutdown'],
  ] as const) {
    const reply = await place.ask(path, { method });
    expect([reply.status, reply.json]).toEqual([404, { error: `Not found: ${method} ${path}` }]);
  }
});

test('cancelling what does not run says so', async () => {
  await using place = await openDaemon();
  const { json } = await place.ask('/exec/r9', { method: 'DELETE', headers: ME });
  expect(json).toEqual({ request_id: 'r9', cancelled: false });
});

test('the times of the protocol hold unless a test says otherwise', () => {
  expect(WAITS).toEqual({
    queueMs: 120_000,
    execKeepAliveMs: EXEC_KEEP_ALIVE_MS,
    progressBeatMs: 15_000,
    streamPingMs: 30_000,
  });
});
