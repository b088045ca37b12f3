import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_LOCK_WAIT_MS, DataInUseError, lockDataDir } from '../../../../src/string/daemon/data-lock.js';
import { MAX_EVENT_STREAMS } from '../../../../src/string/daemon/event-stream-route.js';
import { MAX_SHOWN_CHARS } from '../../../../src/string/daemon/requests.js';
import { MAX_BODY_BYTES, MAX_WEBHOOK_BYTES, SHUTDOWN_GRACE_MS } from '../../../../src/string/protocol.js';
import { until } from '../../../helpers/wait.js';
import { ME, openDaemon } from './daemon-place.js';

test('agents are registered, updated, listed without secrets, deleted', async () => {
  await using place = await openDaemon();
  const { ask, root } = place;
  const home = join(root, 'agents/me');
  expect((await ask('/agents', { json: { agent_id: 'me' } })).json).toEqual({
    agent_id: 'me',
    home,
    created: false,
  });
  await ask('/agents/me/webhook');
  const { agents } = (await ask('/agents')).json as { agents: unknown[] };
  expect(agents).toEqual([{ id: 'me', home, allowedPaths: [], createdAt: expect.any(String) }]);
  expect((await ask('/agents/me', { method: 'DELETE' })).json).toEqual({ agent_id: 'me', deleted: true });
  expect((await ask('/agents/me', { method: 'DELETE' })).json).toEqual({ agent_id: 'me', deleted: false });
  expect(existsSync(home)).toBe(true);
});

test.each([
  ['nothing', undefined],
  ['no JSON', 'nonsense'],
  ['a list', '[]'],
  ['an empty id', '{"agent_id":""}'],
  ['a number', '{"agent_id":7}'],
])('%s is no agent_id', async (_, body) => {
  await using place = await openDaemon();
  const reply = await place.ask('/agents', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  expect([reply.status, reply.json]).toEqual([400, { error: 'agent_id required' }]);
});

test('a webhook takes text, refuses the rest, and its old address is dead after rotation', async () => {
  await using place = await openDaemon();
  const { ask } = place;
  const { webhook_url } = (await ask('/agents/me/webhook')).json as { webhook_url: string };
  expect(webhook_url).toMatch(new RegExp(`^${place.url}/webhook/wh_`));
  expect((await ask('/agents/me/webhook')).json).toEqual({ agent_id: 'me', webhook_url });
  const path = new URL(webhook_url).pathname;
  const post = async (body: string | Buffer) => {
    const reply = await ask(path, { method: 'POST', body });
    return [reply.status, reply.json];
  };
  expect(await post('hello')).toEqual([
    202,
    { ok: true, agent_id: 'me', event_id: expect.stringMatching(/^evt_/) },
  ]);
  for (const body of ['', ' \n\t ', Buffer.from([0xff, 0xfe])])
    expect(await post(body)).toEqual([400, { error: 'Webhook body must be non-empty text' }]);
  expect((await post('x'.repeat(MAX_WEBHOOK_BYTES)))[0]).toBe(202);
  expect(await post('x'.repeat(MAX_WEBHOOK_BYTES + 1))).toEqual([
    413,
    { error: 'Webhook body exceeds 65536 bytes' },
  ]);
  const rotated = (await ask('/agents/me/webhook', { method: 'POST' })).json as { webhook_url: string };
  expect(rotated.webhook_url).not.toBe(webhook_url);
  expect(await post('hello')).toEqual([401, { error: 'Unknown webhook token' }]);
  expect((await ask('/agents/nobody/webhook')).status).toBe(404);
});

test('too many events by one webhook are told to come later', async () => {
  await using place = await openDaemon({ env: { STRING_WEBHOOK_RATE: '1' } });
  const { webhook_url } = (await place.ask('/agents/me/webhook')).json as { webhook_url: string };
  const path = new URL(webhook_url).pathname;
  const post = () => place.ask(path, { method: 'POST', body: 'x' });
  expect([(await post()).status, (await post()).status]).toEqual([202, 202]);
  // On a machine that takes a second for a request, there is room for one more by then.
  const refused = await until(async () => {
    const reply = await post();
    return reply.status !== 202 && reply;
  }, 'one too many');
  expect([refused.status, refused.json]).toEqual([
    429,
    { error: 'RATE_LIMITED', message: expect.any(String) },
  ]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
});

test('a body of more than 10 MiB is answered with 413, announced or not', async () => {
  await using place = await openDaemon();
  const reply = await place.ask('/exec', {
    headers: { ...ME, 'Content-Type': 'application/json' },
    body: Buffer.alloc(MAX_BODY_BYTES + 1, 0x20),
  });
  expect([reply.status, reply.json]).toEqual([413, { error: expect.stringContaining(`${MAX_BODY_BYTES}`) }]);
});

test('what is repeated of a long unknown name is short', async () => {
  await using place = await openDaemon();
  const { json } = await place.ask('/exec', {
    headers: { 'X-Agent-Id': 'x'.repeat(4000) },
    json: { cmd: '/info' },
  });
  expect(json).toEqual({ error: `Unknown agent: ${'x'.repeat(MAX_SHOWN_CHARS)}…` });
});

test('a JSON route refuses what says that it is no JSON, as a form of a web page does', async () => {
  await using place = await openDaemon();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    expect(
      (await place.ask('/agents', { body: '{"agent_id":"x"}', headers: { 'Content-Type': type } })).status,
    ).toBe(415);
});

test('/shutdown answers first, and asks for the end a moment later', async () => {
  await using place = await openDaemon();
  const asked = Date.now();
  const { json } = await place.ask('/shutdown', { method: 'POST' });
  expect(json).toEqual({ ok: true, message: 'stringd shutting down' });
  const stopped = await until(() => place.stops[0], 'the end to be asked for');
  expect(stopped - asked).toBeGreaterThanOrEqual(SHUTDOWN_GRACE_MS - 2); // timers count whole milliseconds
});

test('a second daemon on the same data is refused, and names the process', async () => {
  await using place = await openDaemon();
  const dataDir = join(place.root, 'daemon');
  expect(DATA_LOCK_WAIT_MS).toBeGreaterThan(0);
  const second = lockDataDir(dataDir, 10);
  await expect(second).rejects.toThrow(DataInUseError);
  await expect(second).rejects.toThrow(`process ${process.pid}`);
});

test('agents.json is there after a restart, and the daemon with it', async () => {
  await using place = await openDaemon();
  const { webhook_url } = (await place.ask('/agents/me/webhook')).json as { webhook_url: string };
  await place.restart();
  expect((await place.ask('/health')).json).toMatchObject({ ok: true, agents: 1 });
  expect((await place.ask(new URL(webhook_url).pathname, { method: 'POST', body: 'x' })).status).toBe(202);
  expect(JSON.parse(readFileSync(join(place.root, 'daemon/agents.json'), 'utf8'))).toMatchObject({
    agents: [{ id: 'me' }],
  });
});

test('there is an end to event streams', async () => {
  expect(MAX_EVENT_STREAMS).toBeGreaterThanOrEqual(100);
  await using place = await openDaemon();
  const streams = Array.from({ length: MAX_EVENT_STREAMS }, () =>
    place.stream('/events/stream', { headers: ME }),
  );
  await until(() => streams.every(({ status }) => status === 200), 'all streams');
  expect((await place.ask('/events/stream', { headers: ME })).status).toBe(503);
  for (const stream of streams) stream[Symbol.dispose]();
  await until(async () => {
    using again = place.stream('/events/stream', { headers: ME });
    await until(() => again.status > 0, 'an answer');
    return again.status === 200;
  }, 'room for another stream');
});
