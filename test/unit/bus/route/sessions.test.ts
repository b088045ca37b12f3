// Sessions: bound to one worker, owned by one client; what a worker sends under one goes to its owner.

import { expect, test } from 'vitest';
import { MAX_ORPHANED_ID_BYTES, MAX_ORPHANED_SESSIONS, nameOf } from '../../../../src/bus/route/worker.js';
import { Rig } from './rig.js';

test('a session stays with its worker, wherever its id stands', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker(), rig.worker()];
  const client = rig.client();
  for (let id = 0; id < 9; id += 3) {
    client.send(
      { id, method: 'm', sessionId: 's' },
      { id: id + 1, method: 'm', params: { sessionId: 's' } },
      `{"id":${id + 2},"method":"m","session\\u0049d":"\\u0073"}`,
    );
  }
  await rig.settle();
  expect(workers.map(({ lines }) => lines.length).toSorted((x, y) => x - y)).toEqual([0, 0, 9]);
  expect(rig.router.stats().sessions).toBe(1);
});

test('another client may not use it, and gets one of its own once the owner has gone', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const [owner, other] = [rig.client(), rig.client()];
  owner.send({ id: 1, method: 'm', sessionId: 's' });
  await worker.next();
  other.send({ id: 2, method: 'm', sessionId: 's' });
  expect(await other.next()).toMatchObject({ id: 2, error: { code: -32005 } });
  worker.say({ id: 1, result: 1 });
  await owner.next();
  owner.stream.end();
  await owner.handle.closed;
  other.send({ id: 3, method: 'm', sessionId: 's' });
  expect(await worker.next()).toMatchObject({ id: 3 });
});

test('shared sessions: the other one gets its answers, the owner the notifications', async () => {
  await using rig = new Rig({ sessionOwnership: 'shared' });
  const worker = rig.worker();
  const [owner, other] = [rig.client(), rig.client()];
  owner.send({ method: 'hello', sessionId: 's' });
  await worker.next();
  other.send({ id: 2, method: 'm', sessionId: 's' });
  await worker.next();
  worker.say({ method: 'update', sessionId: 's' }, { id: 2, result: 'two' });
  expect(await other.next()).toMatchObject({ result: 'two' });
  expect(await owner.next()).toMatchObject({ method: 'update' });
});

test('result.sessionId binds: later messages and notifications in params find their way', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker()];
  const client = rig.client();
  client.send({ id: 1, method: 'session/new' });
  await rig.settle();
  const mine = workers.find(({ lines }) => lines.length > 0)!;
  await mine.next();
  mine.say({ id: 1, result: { sessionId: 'agent-1' } });
  await client.next();
  mine.say({ method: 'session/update', params: { sessionId: 'agent-1', n: 1 } });
  expect(await client.next()).toMatchObject({ params: { n: 1 } });
  client.send(
    ...[2, 3, 4, 5].map((id) => ({ id, method: 'session/prompt', params: { sessionId: 'agent-1' } })),
  );
  await rig.settle();
  expect(mine.lines).toHaveLength(4);
});

test('a request of a worker reaches the owner, and its answer that worker, with or without the session', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker()];
  const client = rig.client();
  client.send({ id: 1, method: 'm', sessionId: 's' }, { id: 2, method: 'm', sessionId: 't' });
  await rig.settle();
  expect(workers.map(({ lines }) => lines.length)).toEqual([1, 1]);
  for (const worker of workers) {
    const { sessionId } = await worker.next();
    worker.say({ id: `ask-${String(sessionId)}`, method: 'fs/read', params: { sessionId } });
    expect(await client.next()).toMatchObject({ method: 'fs/read' });
    client.send({ id: `ask-${String(sessionId)}`, result: sessionId });
    expect(await worker.next()).toMatchObject({ result: sessionId });
  }
});

test('two workers ask one client under the same id: the second waits for the first answer', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker()];
  const client = rig.client();
  client.send({ id: 1, method: 'm', sessionId: 's' }, { id: 2, method: 'm', sessionId: 't' });
  await rig.settle();
  const sessions = [(await workers[0]!.next())['sessionId'], (await workers[1]!.next())['sessionId']];
  workers[0]!.say({ id: 0, method: 'ask', sessionId: sessions[0] });
  await rig.settle();
  workers[1]!.say(
    { id: 0, method: 'ask', sessionId: sessions[1] },
    { method: 'after', sessionId: sessions[1] },
  );
  await rig.settle();
  expect((await client.next())['sessionId']).toBe(sessions[0]);
  expect(await client.next()).toMatchObject({ method: 'after' }); // only the question waits: an answer after it must not overtake it
  expect(client.lines).toEqual([]);
  client.send({ id: 0, result: 'first' });
  expect(await workers[0]!.next()).toMatchObject({ result: 'first' });
  expect(await client.next()).toMatchObject({ method: 'ask', sessionId: sessions[1] });
  client.send({ id: 0, result: 'second' });
  expect(await workers[1]!.next()).toMatchObject({ result: 'second' });
  expect(rig.router.stats().messagesFromWorkers).toBe(3);
});

test('a worker that asks nobody, or one that has gone, is answered', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  worker.say({ id: 1, method: 'ask' }, { id: 2, method: 'ask', sessionId: 'unknown' }, { method: 'note' });
  expect(await worker.inbox.next(2)).toMatchObject([
    { id: 1, error: { code: -32000 } },
    { id: 2, error: {} },
  ]);
  client.send({ method: 'hello', sessionId: 's' });
  await worker.next();
  worker.say({ id: 3, method: 'ask', sessionId: 's' });
  await client.next();
  client.stream.end();
  expect(await worker.next()).toMatchObject({ id: 3, error: { code: -32000 } });
  expect(rig.router.stats().notificationsDropped).toBe(1);
});

test('an answer to nothing that was asked goes nowhere and is counted', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker()];
  rig.client().send({ id: 5, result: 1 });
  await rig.settle();
  expect(workers.flatMap(({ lines }) => lines)).toEqual([]);
  expect(rig.router.stats().answersDropped).toBe(1);
});

test('a cancellation follows its request, by id or requestId, and goes nowhere without one', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker()];
  const [client, other] = [rig.client(), rig.client()];
  client.send({ id: 1, method: 'm' }, { id: 2, method: 'm' });
  await rig.settle();
  const holders = new Map<unknown, (typeof workers)[number]>();
  for (const worker of workers) holders.set((await worker.next())['id'], worker);
  client.send({ method: '$/cancelRequest', params: { id: 2 } });
  expect(await holders.get(2)!.next()).toMatchObject({ params: { id: 2 } });
  client.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(await holders.get(1)!.next()).toMatchObject({ params: { requestId: 1 } });
  other.send(
    { method: '$/cancelRequest', params: { id: 1 } },
    { method: '$/cancelRequest', params: { id: 99 } },
  );
  await rig.settle();
  expect(workers.flatMap(({ lines }) => lines)).toEqual([]);
});

test('strip: the worker does not see the top-level session, the client does not miss it', async () => {
  await using rig = new Rig({ pools: [{ id: 'main', session: { strip: true } }] });
  const worker = rig.worker();
  const client = rig.client();
  client.send(
    '{"sessionId":"bus-1","id":1,"method":"session/new"}',
    '{"id":2, "sessionId" : "bus-1" ,"method":"x"}',
    '{"id":3,"method":"y","sessionId":"bus-1"}',
    '{"sessionId":"bus-1","method":"z"}',
  );
  await worker.inbox.next(0);
  await rig.settle();
  expect(worker.lines).toEqual([
    '{"id":1,"method":"session/new"}',
    '{"id":2 ,"method":"x"}',
    '{"id":3,"method":"y"}',
    '{"method":"z"}',
  ]);
  worker.say('{"id":1,"result":{"sessionId":"agent-1"}} ', {
    method: 'session/update',
    params: { sessionId: 'agent-1' },
  });
  await rig.settle();
  expect(client.lines[0]).toBe('{"id":1,"result":{"sessionId":"agent-1"},"sessionId":"bus-1"} ');
  expect(JSON.parse(client.lines[1]!)).toMatchObject({
    sessionId: 'bus-1',
    params: { sessionId: 'agent-1' },
  });
  worker.say({ id: 'q', method: 'ask', params: { sessionId: 'agent-1' } });
  await rig.settle();
  worker.inbox.lines.length = 0;
  client.send('{"id":"q","result":1,"sessionId":"bus-1"}');
  await rig.settle();
  expect(worker.lines).toEqual(['{"id":"q","result":1}']);
});

test('lift off: only the top level makes a session', async () => {
  await using rig = new Rig({ pools: [{ id: 'main', session: { lift: false } }] });
  const worker = rig.worker();
  const client = rig.client();
  client.send({ id: 1, method: 'm', params: { sessionId: 's' } });
  await worker.next();
  worker.say({ id: 1, result: { sessionId: 't' } });
  await client.next();
  expect(rig.router.stats().sessions).toBe(0);
});

test('a session of a retired worker goes on with another', async () => {
  await using rig = new Rig();
  const [one, two] = [rig.worker(), rig.worker()];
  const client = rig.client();
  client.send({ id: 1, method: 'm', sessionId: 's' });
  await rig.settle();
  const [first, second] = one.lines.length > 0 ? [one, two] : [two, one];
  const retired = first.handle.retire();
  client.send({ id: 2, method: 'm', sessionId: 's' });
  first.say({ method: 'note', sessionId: 's' }, { id: 1, result: 1 });
  await retired;
  expect(await second.next()).toMatchObject({ id: 2 });
  expect(await client.inbox.next(2)).toMatchObject([{ method: 'note' }, { id: 1 }]);
});

test('what a worker still says about a session of a client that has left does not reach who opens one of that name elsewhere', async () => {
  await using rig = new Rig();
  const old = rig.worker();
  const leaving = rig.client();
  leaving.send({ method: 'hello', sessionId: 's' });
  await old.next();
  leaving.handle.close('it leaves');
  await leaving.handle.closed;
  const other = rig.worker();
  void old.handle.retire();
  const next = rig.client();
  next.send({ method: 'hello', sessionId: 's' });
  await other.next();
  old.say({ method: 'secret', sessionId: 's' }, { id: 1, method: 'ask', sessionId: 's' });
  expect(await old.next()).toMatchObject({ id: 1, error: { data: { reason: 'no_client' } } });
  other.say({ method: 'mine', sessionId: 's' });
  expect(await next.next()).toMatchObject({ method: 'mine' });
});

test('of sessions of clients that have left no more than MAX_ORPHANED_SESSIONS are remembered', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const leaving = rig.client();
  const names = Array.from({ length: MAX_ORPHANED_SESSIONS + 1 }, (_, nth) => `s${nth}`);
  leaving.send(...names.map((sessionId) => ({ method: 'hello', sessionId })));
  await worker.inbox.next(names.length);
  leaving.handle.close('it leaves');
  await leaving.handle.closed;
  const other = rig.worker();
  void worker.handle.retire();
  const next = rig.client();
  next.send(...['s0', 's1'].map((sessionId) => ({ method: 'hello', sessionId })));
  await other.inbox.next(2);
  worker.say({ method: 'forgotten', sessionId: 's0' }, { method: 'secret', sessionId: 's1' });
  other.say({ method: 'last', sessionId: 's0' });
  expect((await next.inbox.next(2)).map(({ method }) => method)).toEqual(['forgotten', 'last']);
});

test('of an id longer than MAX_ORPHANED_ID_BYTES a digest is remembered, by which it is still told from others', async () => {
  const kept = Buffer.alloc(MAX_ORPHANED_ID_BYTES, 'k');
  expect(nameOf({ id: kept })).toBe(kept.toString());
  expect(nameOf({ id: Buffer.alloc(1_000_000, 'k') })).toHaveLength(MAX_ORPHANED_ID_BYTES + 1);
  await using rig = new Rig();
  const old = rig.worker();
  const leaving = rig.client();
  const [long, another] = ['x', 'y'].map((end) => `${'s'.repeat(MAX_ORPHANED_ID_BYTES)}${end}`);
  leaving.send({ method: 'hello', sessionId: long });
  await old.next();
  leaving.handle.close('it leaves');
  await leaving.handle.closed;
  const other = rig.worker();
  void old.handle.retire();
  const next = rig.client();
  next.send({ method: 'hello', sessionId: long }, { method: 'hello', sessionId: another });
  await other.inbox.next(2);
  old.say({ method: 'secret', sessionId: long }, { method: 'told', sessionId: another });
  expect(await next.next()).toMatchObject({ method: 'told' });
});

test('a session leaves a worker that is to end only behind what was sent there before', async () => {
  await using rig = new Rig();
  const old = rig.worker();
  const [client, other] = [rig.client(), rig.client()];
  other.send({ id: 1, method: 'm' });
  await old.next();
  client.send({ id: 5, method: 'm', sessionId: 's' });
  await old.next();
  client.send({ id: 1, method: 'taken', sessionId: 's' });
  const next = rig.worker();
  void old.handle.retire();
  client.send({ id: 6, method: 'm', sessionId: 's' }, { id: 7, method: 'm' });
  expect(await next.next()).toMatchObject({ id: 7 }); // it has nothing to do with the session
  old.say({ id: 1, result: 'other' });
  expect(await other.next()).toMatchObject({ result: 'other' });
  await rig.settle();
  expect([old.lines, next.lines]).toEqual([[], []]);
  old.say({ id: 5, result: 'mine' });
  expect(await client.next()).toMatchObject({ id: 5 });
  expect((await next.inbox.next(2)).map(({ id }) => id)).toEqual([1, 6]);
});

test('a session whose worker ends before it has answered goes on elsewhere, in order', async () => {
  await using rig = new Rig();
  const old = rig.worker();
  const client = rig.client();
  client.send({ id: 1, method: 'm', sessionId: 's' });
  await old.next();
  void old.handle.retire();
  client.send({ method: 'about 1', sessionId: 's' });
  expect(await old.next()).toMatchObject({ method: 'about 1' });
  client.send({ id: 2, method: 'm', sessionId: 's' }, { id: 3, method: 'm', sessionId: 's' });
  await rig.settle();
  old.handle.remove('gone');
  const next = rig.worker();
  expect((await next.inbox.next(2)).map(({ id }) => id)).toEqual([2, 3]);
  expect(await client.next()).toMatchObject({ id: 1, error: { code: -32002 } });
});
