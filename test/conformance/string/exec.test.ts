// Sessions, /exec and the life of the daemon.

import { Agent, request } from 'node:http';
import { expect } from 'vitest';
import { EXEC_EVENTS, ME, shareStringd, StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();

verifies('string/sessions/list', async () => {
  const stringd = shared();
  await stringd.exec('main', '/info');
  const session = {
    agent_id: 'me',
    topic: 'main',
    topic_type: 'tab',
    executing: false,
    queue_length: 0,
    doc: null,
  };
  expect((await stringd.ask('/sessions')).json).toMatchObject({ sessions: [session] });
  expect((await stringd.ask('/sessions?agent_id=me')).json).toMatchObject({ sessions: [session] });
  expect((await stringd.ask('/sessions?agent_id=other')).json).toEqual({ sessions: [] });
});

verifies('string/sessions/open', async () => {
  const stringd = shared();
  const json = { agent_id: 'me', topic: 'docs' };
  const opened = { ...json, topic_type: 'tab' };
  expect((await stringd.ask('/sessions', { json })).json).toEqual({ ...opened, created: true });
  expect((await stringd.ask('/sessions', { json })).json).toEqual({ ...opened, created: false });
});

verifies('string/sessions/refusals', async () => {
  const stringd = shared();
  for (const [json, status, error] of [
    [{ topic: 'bad!' }, 400, 'agent_id required'],
    [{ agent_id: 'nobody', topic: 'bad!' }, 401, 'Unknown agent: nobody'],
    [{ agent_id: 'me', topic: 'bad!' }, 400, 'Invalid topic: bad!'],
  ] as const) {
    const reply = await stringd.ask('/sessions', { json });
    expect([reply.status, reply.json]).toEqual([status, { error }]);
  }
});

verifies('string/sessions/close', async () => {
  const stringd = shared();
  await stringd.ask('/sessions', { json: { agent_id: 'me', topic: 'main' } });
  const close = async (path: string) => {
    const reply = await stringd.ask(path, { method: 'DELETE' });
    return [reply.status, reply.json];
  };
  expect(await close('/sessions/me/main')).toEqual([200, { agent_id: 'me', topic: 'main', deleted: true }]);
  expect(await close('/sessions/me/main')).toEqual([200, { agent_id: 'me', topic: 'main', deleted: false }]);
  expect((await stringd.ask('/sessions')).json).toEqual({ sessions: [] });
  for (const path of ['/sessions', '/sessions/me'])
    expect(await close(path)).toEqual([400, { error: 'Expected /sessions/:agent_id/:topic' }]);
});

verifies('string/exec/triple', async () => {
  const stringd = shared();
  const { status, events, text } = await stringd.exec('main', '/info');
  expect([status, events.map(({ event }) => event)]).toEqual([200, EXEC_EVENTS]);
  expect(events[2]?.data).toEqual({});
  expect(text).toMatch(
    /^event: head\ndata: \{.*\}\n\nevent: content\ndata: ".*"\n\nevent: done\ndata: \{\}\n\n$/,
  );
});

verifies('string/exec/headers', async () => {
  const stringd = shared();
  for (const Accept of ['text/event-stream', 'application/json', '*/*']) {
    const { headers } = await stringd.exec(
      'main',
      '/info',
      {},
      {
        headers: { ...ME, Accept, Connection: 'keep-alive' },
        json: { cmd: '/info', topic: 'main' },
      },
    );
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    });
  }
});

verifies('string/exec/head', async () => {
  const stringd = shared();
  const { events } = await stringd.exec('main', '/info');
  expect(events[0]?.data).toEqual({
    ok: true,
    code: null,
    cmd: '/info',
    request_id: null,
    agent_id: 'me',
    topic: 'main',
    topic_type: 'tab',
    meta: null,
  });
});

verifies('string/exec/request-id', async () => {
  const stringd = shared();
  const { events } = await stringd.exec('main', '/info', { request_id: 'req-7' });
  expect(events[0]?.data).toMatchObject({ request_id: 'req-7' });
  expect(events[1]?.data).toMatch(/^re: \[req-7\] \/info\n/);
  expect((await stringd.exec('main', '/info')).events[1]?.data).toMatch(/^re: \/info\n/);
});

verifies('string/exec/label', async () => {
  const stringd = shared();
  const long = `/info ${'x'.repeat(100)}`;
  const { events } = await stringd.exec('main', `${long}\nbody`);
  const label = `${long.slice(0, 77)}...`;
  expect(events[0]?.data).toMatchObject({ cmd: label });
  expect(String(events[1]?.data).split('\n')[0]).toBe(`re: ${label}`);
});

verifies('string/exec/error', async () => {
  const stringd = shared();
  for (const cmd of ['/nonsense', 'plain text']) {
    const { status, events } = await stringd.exec('main', cmd);
    expect([status, events.map(({ event }) => event)]).toEqual([200, EXEC_EVENTS]);
    expect(events[0]?.data).toMatchObject({ ok: false, code: 'COMMAND_UNSUPPORTED' });
    expect(events[1]?.data).toMatch(new RegExp(`^re: ${cmd}\nERROR\\(COMMAND_UNSUPPORTED\\): .`));
  }
});

verifies('string/exec/order', async () => {
  const stringd = shared();
  const post = async (headers: Record<string, string>, body: string) => {
    const reply = await stringd.ask('/exec', {
      body,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    return [reply.status, reply.json];
  };
  expect(await post({}, '{')).toEqual([400, { error: 'X-Agent-Id header required' }]);
  expect(await post({ 'X-Agent-Id': 'nobody' }, '{')).toEqual([401, { error: 'Unknown agent: nobody' }]);
  expect(await post(ME, '{')).toEqual([400, { error: 'Invalid JSON body — expected { "cmd": "..." }' }]);
  const empty = { error: 'Empty command — provide non-empty "cmd" field' };
  expect(await post(ME, '{"topic":"bad!"}')).toEqual([400, empty]);
  expect(await post(ME, '{"cmd":"  ","topic":"bad!"}')).toEqual([400, empty]);
  expect(await post(ME, '{"cmd":"/info","topic":"bad!"}')).toEqual([400, { error: 'Invalid topic: bad!' }]);
});

verifies('string/exec/topics', async () => {
  const stringd = shared();
  for (const [raw, topic, topic_type] of [
    [' docs ', 'docs', 'tab'],
    ['app:weather:korea', 'app:weather:korea', 'app'],
    ['event', 'event', 'hub'],
  ] as const)
    expect((await stringd.exec(raw, '/info')).events[0]?.data).toMatchObject({ topic, topic_type });
  for (const raw of ['intro.md', 'my session', 'app:', 'ftp:x', 'app:bad/name', 'bad!name'])
    expect((await stringd.exec(raw, '/info')).json).toEqual({ error: `Invalid topic: ${raw}` });
});

verifies('string/exec/default-topic', async () => {
  const stringd = shared();
  for (const json of [{ cmd: '/info' }, { cmd: '/info', topic: '' }])
    expect((await stringd.ask('/exec', { headers: ME, json })).events[0]?.data).toMatchObject({
      topic: 'main',
    });
});

verifies('string/exec/keep-alive', async () => {
  const stringd = shared();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  for (let i = 0; i < 5; i++)
    await new Promise((resolve, reject) => {
      const headers = { ...ME, 'Content-Type': 'application/json' };
      const req = request(`${stringd.url}/exec`, { agent, method: 'POST', headers }, (res) => {
        ports.add(res.socket.localPort);
        res.resume().once('end', resolve);
      });
      req.once('error', reject);
      req.end('{"cmd":"/info","topic":"main"}');
    });
  agent.destroy();
  expect(ports.size).toBe(1);
});

verifies('string/health', async () => {
  const stringd = shared();
  await stringd.exec('main', '/info');
  await stringd.exec('docs', '/info');
  expect((await stringd.ask('/health')).json).toMatchObject({ ok: true, agents: 1, sessions: 2 });
});

verifies('string/shutdown', async () => {
  await using stringd = await StringdUnderTest.start();
  const { status, json } = await stringd.ask('/shutdown', { method: 'POST' });
  expect([status, json]).toEqual([200, { ok: true, message: 'stringd shutting down' }]);
  expect(await stringd.ended).toEqual({ code: 0, signal: null });
});
