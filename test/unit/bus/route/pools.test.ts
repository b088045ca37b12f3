// Pools: which one a message is for, and what happens when none of its workers is there.

import { expect, test, vi } from 'vitest';
import { SESSION_SWEEP_MS } from '../../../../src/bus/route/router.js';
import { stopTimers } from '../../../helpers/stop-timers.js';
import { until } from '../../../helpers/wait.js';
import { Rig } from './rig.js';

const TWO_POOLS = {
  pools: [
    { id: 'a', keys: ['alias'], methods: ['tools/*'] },
    { id: 'b', methods: ['exact'] },
  ],
};

test('a message names its pool, or its method does, or a route, or its session', async () => {
  await using rig = new Rig({ ...TWO_POOLS, routes: [{ method: 'tools/special', pool: 'b' }] });
  const [a, b] = [rig.worker({ pool: 'a' }), rig.worker({ pool: 'b' })];
  const client = rig.client();
  client.send(
    { id: 1, method: 'm', pool: 'a' },
    { id: 2, method: 'm', pool: 'alias' },
    { id: 3, method: 'tools/list' },
    { id: 4, method: 'exact' },
    { id: 5, method: 'tools/special' },
    { id: 6, method: 'm', pool: 'b', sessionId: 's' },
    { id: 7, method: 'tools/list', sessionId: 's' },
  );
  await rig.settle();
  const ids = (lines: readonly string[]): number[] =>
    lines.map((line) => (JSON.parse(line) as { id: number }).id);
  expect([ids(a.lines), ids(b.lines)]).toEqual([
    [1, 2, 3],
    [4, 5, 6, 7],
  ]);
});

test('an unknown pool, and none where one is needed, are answered; a default helps', async () => {
  await using rig = new Rig(TWO_POOLS);
  const client = rig.client();
  client.send({ id: 1, method: 'm', pool: 'c' }, { id: 2, method: 'm' }, { method: 'lost' });
  expect(await client.inbox.next(2)).toMatchObject([
    { id: 1, error: { code: -32001, data: { reason: 'unknown_pool', pools: ['a', 'b'] } } },
    { id: 2, error: { code: -32001, data: { reason: 'pool_required' } } },
  ]);
  expect(rig.router.stats().notificationsDropped).toBe(1);
  rig.router.update({ ...rig.settings, defaultPool: 'b' });
  const worker = rig.worker({ pool: 'b' });
  client.send({ id: 3, method: 'm' });
  expect(await worker.next()).toMatchObject({ id: 3 });
});

test('requests wait for a worker that starts, in order', async () => {
  await using rig = new Rig();
  const client = rig.client();
  client.send(
    { id: 1, method: 'm', sessionId: 's' },
    { method: 'n', sessionId: 's' },
    { id: 2, method: 'm' },
  );
  await rig.settle();
  expect(rig.router.stats().waiting).toBe(3);
  const worker = rig.worker({ admitted: false });
  await rig.settle();
  expect(worker.lines).toEqual([]);
  const ready = worker.handle.request('ping', { n: 1 }, 60_000);
  const ping = await worker.next();
  expect(ping).toMatchObject({ method: 'ping', params: { n: 1 } });
  worker.say({ id: ping['id'], result: 'pong' });
  expect(await ready).toBe('pong');
  worker.handle.admit();
  expect((await worker.inbox.next(3)).map((m) => m['id'] ?? m['method'])).toEqual([1, 'n', 2]);
});

test('they are answered when the time is over, when there is too much, and when the pool has failed', async () => {
  await using rig = new Rig({}, { waitTimeoutMs: 40, maxWaitingBytes: 120 });
  const client = rig.client();
  client.send({ id: 1, method: 'm' }, { id: 2, method: 'm' }, { id: 3, method: 'm' }, { id: 4, method: 'm' });
  const answers = await client.inbox.next(4);
  expect(
    answers.map(({ id, error }) => [id, (error as { code: number; data: { reason: string } }).data.reason]),
  ).toEqual([
    [4, 'queue_full'],
    [1, 'wait_timeout'],
    [2, 'wait_timeout'],
    [3, 'wait_timeout'],
  ]);
  await using patient = new Rig();
  const other = patient.client();
  other.send({ id: 5, method: 'm' });
  await patient.settle();
  patient.router.setPoolState('main', 'failed', 'command not found');
  other.send({ id: 6, method: 'm' });
  expect(await other.inbox.next(2)).toMatchObject([
    { id: 5, error: { code: -32000, data: { reason: 'pool_failed', why: 'command not found' } } },
    { id: 6, error: { code: -32000 } },
  ]);
});

test('a client that ended while its requests wait is closed after their answers', async () => {
  await using rig = new Rig({}, { waitTimeoutMs: 30 });
  const client = rig.client();
  client.send({ id: 1, method: 'm' });
  client.stream.end();
  expect(await client.next()).toMatchObject({ id: 1, error: {} });
  expect(await client.handle.closed).toBe('the client has ended');
});

test('too many requests under way and too many sessions are answered', async () => {
  await using rig = new Rig({}, { maxPending: 2, maxSessions: 1 });
  const worker = rig.worker();
  const client = rig.client();
  client.send(
    { id: 1, method: 'm', sessionId: 'a' },
    { id: 2, method: 'm', sessionId: 'b' },
    { id: 3, method: 'm' },
    { id: 4, method: 'm' },
  );
  expect(await client.inbox.next(2)).toMatchObject([
    { id: 2, error: { code: -32003, data: { reason: 'too_many_sessions' } } },
    { id: 4, error: { code: -32003, data: { reason: 'too_many_pending' } } },
  ]);
  await worker.inbox.next(2);
  worker.say({ id: 1, result: { sessionId: 'c' } });
  expect(await client.next()).toMatchObject({ id: 1 });
  expect(rig.router.stats().sessions).toBe(1);
});

test('requests of clients that have left leave room for others, up to twice of what may be under way', async () => {
  await using rig = new Rig({}, { maxPending: 2 });
  const worker = rig.worker();
  for (const name of ['a', 'b']) {
    const leaving = rig.client();
    leaving.send({ id: `${name}1`, method: 'm' }, { id: `${name}2`, method: 'm' });
    await worker.inbox.next(2);
    expect(rig.router.pending()).toBe(2);
    leaving.handle.close('it leaves');
    await until(() => rig.router.pending() === 0, 'it to be gone');
  }
  const client = rig.client();
  client.send({ id: 1, method: 'm' });
  expect(await client.next()).toMatchObject({ id: 1, error: { data: { reason: 'too_many_pending' } } });
  worker.say({ id: 'a1', result: 1 }, { id: 'b2', result: 1 });
  await until(() => rig.router.stats().repliesDropped === 2, 'their answers');
  client.send({ id: 2, method: 'm' }, { id: 3, method: 'm' }, { id: 4, method: 'm' });
  expect(await client.next()).toMatchObject({ id: 4, error: { data: { reason: 'too_many_pending' } } });
  expect((await worker.inbox.next(2)).map(({ id }) => id)).toEqual([2, 3]);
});

test('nobody waits for the requests of a client that has left, also at the end', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  await rig.goneClient(worker, 1);
  await rig.router.idle();
  expect(rig.router.stats().pending).toBe(1);
});

test('whoever waits for a worker that is gone is told in the order in which was asked', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  const ids = Array.from({ length: 600 }, (_, nth) =>
    nth % 3 === 0 ? nth : `id-${(nth * 7919) % 600}-${nth}`,
  );
  client.send(...ids.map((id) => ({ id, method: 'm' })));
  await worker.inbox.next(ids.length);
  worker.handle.remove('gone');
  expect((await client.inbox.next(ids.length)).map(({ id }) => id)).toEqual(ids);
});

test('a session that nobody uses is forgotten', async () => {
  using still = stopTimers(['setInterval', 'clearInterval']);
  void still;
  await using rig = new Rig({ sessionTtlMs: 1 });
  const worker = rig.worker();
  rig.client().send({ id: 1, method: 'm', sessionId: 'a' });
  await worker.next();
  const used = Date.now();
  await until(() => Date.now() > used + 1, 'more time than it is kept for');
  vi.advanceTimersByTime(SESSION_SWEEP_MS - 1);
  expect(rig.router.stats().sessions).toBe(1);
  vi.advanceTimersByTime(1);
  expect(rig.router.stats().sessions).toBe(0);
});

test('the bus itself is refused, times out, and is told when the worker goes', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const refused = worker.handle.request('ping', undefined, 60_000);
  worker.say({ id: (await worker.next())['id'], error: { code: 1 } });
  await expect(refused).rejects.toMatchObject({ code: 'refused' });
  await expect(worker.handle.request('ping', undefined, 20)).rejects.toMatchObject({ code: 'timeout' });
  expect(worker.handle.load).toBe(0);
  const lost = worker.handle.request('ping', undefined, 60_000);
  worker.handle.remove('test');
  await expect(lost).rejects.toMatchObject({ code: 'gone' });
});

test('bus/stats is answered by the bus, bus/restart only for those who may, other bus/ methods pass', async () => {
  await using rig = new Rig({}, {}, { restart: (params) => Promise.resolve({ restarted: params }) });
  const worker = rig.worker();
  const [trusted, other] = [rig.client({ trusted: true }), rig.client()];
  trusted.send({ id: 1, method: 'bus/stats' }, { id: 2, method: 'bus/restart', params: { pool: 'main' } });
  expect(await trusted.inbox.next(2)).toMatchObject([
    { id: 1, result: { clients: 2, workers: [{ pool: 'main' }] } },
    { id: 2, result: { restarted: { pool: 'main' } } },
  ]);
  other.send({ method: 'bus/restart' }, { id: 3, method: 'bus/restart' }, { id: 4, method: 'bus/other' });
  expect(await other.next()).toMatchObject({ id: 3, error: { code: -32007 } });
  expect(await worker.next()).toMatchObject({ id: 4 });
});

test('a token must come first, where one is asked for', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const checkToken = (token: string): boolean => token === 'right';
  const good = rig.client({ checkToken });
  good.send({ id: 1, method: 'bus/auth', params: { token: 'right' } }, { id: 2, method: 'm' });
  expect(await good.next()).toMatchObject({ id: 1, result: { authenticated: true } });
  expect(await worker.next()).toMatchObject({ id: 2 });
  const missing = 'the first message must be bus/auth with params.token';
  for (const [first, hint] of [
    [{ id: 1, method: 'bus/auth', params: { token: 'wrong' } }, 'the token is not that of this bus'],
    [{ id: 1, method: 'm' }, missing],
    [{ id: 1, method: 'bus/auth' }, missing],
  ] as const) {
    const bad = rig.client({ checkToken });
    bad.send(first, { id: 2, method: 'm' });
    expect(await bad.next()).toMatchObject({ id: 1, error: { code: -32006, data: { hint } } });
    bad.stream.end();
    await bad.handle.closed;
  }
  await rig.settle();
  expect(worker.lines).toEqual([]);
});
