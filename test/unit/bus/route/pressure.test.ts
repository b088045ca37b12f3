// Back-pressure and fairness: whoever does not read is waited for, nothing is dropped, and nobody else pays for it.

import { expect, test } from 'vitest';
import { CLOSE_GRACE_MS, TURN_BYTES } from '../../../../src/bus/route/client.js';
import { MAX_HELD_BYTES } from '../../../../src/bus/route/held.js';
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from '../../../../src/bus/route/rubbish.js';
import { MAX_TRACED_CHARS } from '../../../../src/bus/route/trace-message.js';
import { BUSY_WORKER_BYTES } from '../../../../src/bus/route/worker.js';
import type { TraceRecord } from '../../../../src/bus/trace.js';
import { until } from '../../../helpers/wait.js';
import { Rig, type TestClient, type TestWorker } from './rig.js';

const PAD = 'x'.repeat(1000);
const requests = (count: number): { id: number; method: string; params: string }[] =>
  Array.from({ length: count }, (_, id) => ({ id, method: 'm', params: PAD }));

test('a worker that does not read stops those who feed it, and gets everything once it reads', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  worker.stdin.pause();
  client.send(...requests(3000));
  await until(() => rig.router.stats().pauses > 0, 'a pause');
  await rig.settle();
  const { workers } = rig.router.stats();
  expect(workers[0]!.queuedBytes).toBeGreaterThan(BUSY_WORKER_BYTES / 2);
  expect(workers[0]!.queuedBytes).toBeLessThan(BUSY_WORKER_BYTES + 2 * 64 * 1024);
  worker.stdin.resume();
  const all = await worker.inbox.next(3000);
  expect(all.map(({ id }) => id)).toEqual(requests(3000).map(({ id }) => id));
});

test('a queue of a worker is never longer than configured, whatever many clients send', async () => {
  await using rig = new Rig({}, { maxWorkerQueueBytes: 50_000 });
  const worker = rig.worker();
  worker.stdin.pause();
  const clients = Array.from({ length: 20 }, () => rig.client());
  clients.forEach((client, c) => client.send(...requests(30).map((m) => ({ ...m, id: `${c}-${m.id}` }))));
  await rig.settle();
  expect(rig.router.stats().workers[0]!.queuedBytes).toBeLessThan(50_000 + 1100 + 64 * 1024);
  worker.stdin.resume();
  const ids = (await worker.inbox.next(600)).map(({ id }) => String(id));
  for (let c = 0; c < 20; c += 1) {
    expect(ids.filter((id) => id.startsWith(`${c}-`))).toEqual(requests(30).map(({ id }) => `${c}-${id}`));
  }
});

test('a client that does not read stops its own worker, and gets everything once it reads', async () => {
  await using rig = new Rig({}, { maxOutputQueueBytes: 200_000 });
  const worker = rig.worker();
  const client = rig.client();
  client.send({ method: 'hello', sessionId: 's' });
  await worker.next();
  client.stream.pause();
  for (let n = 0; n < 3000; n += 1) worker.say({ method: 'note', sessionId: 's', params: { n, PAD } });
  await rig.settle();
  const { queuedToClientsBytes } = rig.router.stats();
  expect(queuedToClientsBytes).toBeGreaterThan(100_000);
  expect(queuedToClientsBytes).toBeLessThan(200_000 + 2 * 64 * 1024);
  client.stream.resume();
  const notes = await client.inbox.next(3000);
  expect(notes.map(({ params }) => (params as { n: number }).n)).toEqual(notes.map((_, n) => n));
});

test('while others wait for the same worker they are served, and the one that does not read is closed at twice its cap', async () => {
  await using rig = new Rig({}, { maxOutputQueueBytes: 100_000 });
  const worker = rig.worker();
  const [slow, other] = [rig.client(), rig.client()];
  slow.send({ method: 'hello', sessionId: 's' });
  await worker.next();
  slow.stream.pause();
  for (let n = 0; n < 1000; n += 1) worker.say({ method: 'note', sessionId: 's', params: PAD });
  await rig.settle();
  other.send({ id: 1, method: 'm' });
  await worker.next();
  worker.say({ id: 1, result: 'served' });
  expect((await other.next())['result']).toBe('served');
  expect(await slow.handle.closed).toContain('others wait');
  expect(rig.router.stats()).toMatchObject({ closedForBackpressure: 1, clients: 1 });
});

test('a client whose queue stays full is closed after the time that is configured', async () => {
  await using rig = new Rig({}, { maxOutputQueueBytes: 100_000, backpressureTimeoutMs: 50 });
  const worker = rig.worker();
  const slow = rig.client();
  slow.send({ method: 'hello', sessionId: 's' });
  await worker.next();
  slow.stream.pause();
  for (let n = 0; n < 500; n += 1) worker.say({ method: 'note', sessionId: 's', params: PAD });
  expect(await slow.handle.closed).toContain('for too long');
  const next = rig.client();
  next.send({ id: 1, method: 'm' });
  await worker.next();
  worker.say({ id: 1, result: 1 });
  expect((await next.next())['id']).toBe(1);
});

test('one that floods does not keep another from its turn', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const [flood, other] = [rig.client(), rig.client()];
  flood.send(...requests(8 * Math.ceil(TURN_BYTES / 1000)));
  other.send({ id: 'other', method: 'm' });
  const place = (): number => worker.lines.findIndex((line) => line.includes('"other"'));
  await until(() => place() !== -1, 'its turn');
  expect(place()).toBeLessThan((3 * TURN_BYTES) / 1000);
});

test('lines that wait for an id are held up to a cap, then their client is not read', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const [a, b] = [rig.client(), rig.client()];
  a.send({ id: 0, method: 'm' });
  await worker.next();
  const count = Math.ceil((3 * MAX_HELD_BYTES) / 1000);
  b.send(...requests(count));
  await rig.settle();
  expect(rig.router.stats().pauses).toBeGreaterThan(0);
  expect(rig.router.stats().held).toBeLessThan((MAX_HELD_BYTES + 3 * 64 * 1024) / 1000);
  worker.say({ id: 0, result: 1 });
  expect((await worker.inbox.next(count)).map(({ id }) => id)).toEqual(requests(count).map(({ id }) => id));
});

test('a client that is closed and does not read is not waited for longer than the grace', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  client.send({ method: 'hello', sessionId: 's' });
  await worker.next();
  client.stream.pause();
  for (let n = 0; n < 500; n += 1) worker.say({ method: 'note', sessionId: 's', params: PAD });
  await rig.settle();
  const start = Date.now();
  client.send('rubbish');
  expect(await client.handle.closed).toBe('not_json');
  expect(Date.now() - start).toBeGreaterThan(CLOSE_GRACE_MS - 100);
});

/** It has asked, said that it will say no more, and does not read what comes. */
async function askAndStopReading(rig: Rig, count: number): Promise<TestClient> {
  const worker = rig.worker();
  const client = rig.client();
  client.stream.pause();
  client.send(...requests(count));
  client.stream.end();
  await worker.inbox.next(count);
  for (let id = 0; id < count; id += 1) worker.say({ id, result: PAD });
  await rig.settle();
  return client;
}

test('a client that sends no more reads its answers at its own pace, however late', async () => {
  await using rig = new Rig();
  const client = await askAndStopReading(rig, 500);
  const begun = Date.now();
  await until(() => Date.now() - begun > CLOSE_GRACE_MS + 300, 'more time than a closed client has');
  client.stream.resume();
  expect((await client.inbox.next(500)).map(({ id }) => id)).toEqual(requests(500).map(({ id }) => id));
  expect(await client.handle.closed).toBe('the client has ended');
});

test('but not for ever', async () => {
  await using rig = new Rig({}, { backpressureTimeoutMs: 100 });
  const client = await askAndStopReading(rig, 500);
  expect(await client.handle.closed).toBe('the client has ended');
});

test('a trace tells who, to whom, what kind and how large, and nothing of what is said', async () => {
  const records: TraceRecord[] = [];
  await using rig = new Rig({}, {}, { trace: (record) => void records.push(record) });
  const worker = rig.worker();
  const client = rig.client();
  client.send({ id: 1, method: 'm'.repeat(300), params: { secret: 'hush' } });
  await worker.next();
  worker.say({ id: 1, error: { message: 'hush' } }, { id: 9, result: 'hush' }, { method: 'n' });
  await client.next();
  expect(records).toMatchObject([
    {
      from: `client ${client.handle.number}`,
      to: `worker ${worker.handle.number}`,
      kind: 'request',
      id: '1',
    },
    { from: `worker ${worker.handle.number}`, to: `client ${client.handle.number}`, kind: 'error' },
    { to: 'bus', kind: 'response', dropped: 'not asked for' },
    { to: 'bus', kind: 'notification', method: 'n', dropped: 'no session' },
  ]);
  expect(records[0]!.method).toHaveLength(MAX_TRACED_CHARS);
  expect(JSON.stringify(records)).not.toContain('hush');
});

test('of what a worker prints only so much is shown, and so often', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  worker.say(...Array.from({ length: 1000 }, () => 'z'.repeat(5000)));
  await until(() => worker.handle.rubbish === 1000, 'all of it');
  const shown = rig.log.filter(({ message }) => message.includes('no message'));
  expect(shown.length).toBe(MAX_SHOWN_LINES + 6);
  expect(shown[0]!.facts['begins']).toHaveLength(MAX_SHOWN_BYTES);
});

test('a client that asks the bus itself and does not read is not read either, and closed in the end', async () => {
  const max = 100_000;
  const askAndStopReading = (rig: Rig): TestClient => {
    const slow = rig.client();
    slow.stream.pause();
    slow.send(...Array.from({ length: 10_000 }, () => ({ id: 1, method: 'bus/stats' })));
    return slow;
  };
  await using rig = new Rig({}, { maxOutputQueueBytes: max });
  askAndStopReading(rig);
  await until(() => rig.router.stats().pauses > 0, 'a pause');
  await rig.settle();
  expect(rig.router.stats().queuedToClientsBytes).toBeGreaterThan(max);
  expect(rig.router.stats().messagesFromClients).toBeLessThan(5000);
  await using impatient = new Rig({}, { maxOutputQueueBytes: max, backpressureTimeoutMs: 50 });
  expect(await askAndStopReading(impatient).handle.closed).toContain('for too long');
});

test('many errors at once close nobody who reads', async () => {
  await using rig = new Rig({}, { maxOutputQueueBytes: 10_000 });
  const worker = rig.worker();
  const client = rig.client();
  client.send(...Array.from({ length: 500 }, (_, id) => ({ id, method: 'm' })));
  await worker.inbox.next(500);
  worker.handle.remove('test');
  const errors = await client.inbox.next(500);
  expect(errors.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 500 }, (_, id) => id),
  );
});

test('a worker that asks nobody, on and on, and does not read, is not answered without end', async () => {
  await using rig = new Rig({}, { maxWorkerQueueBytes: 5000 });
  const worker = rig.worker();
  worker.stdin.pause();
  worker.say(...Array.from({ length: 1000 }, (_, id) => ({ id, method: 'ask' })));
  await until(() => rig.router.stats().messagesFromWorkers === 1000, 'all of them');
  await rig.settle();
  const { workers, answersDropped } = rig.router.stats();
  expect(workers[0]!.queuedBytes).toBeLessThan(5500);
  expect(answersDropped).toBeGreaterThan(900);
});

test('questions of workers that are gone leave room for those of others, up to twice', async () => {
  await using rig = new Rig({}, { maxPending: 2 });
  const client = rig.client();
  const ask = async (id: number): Promise<TestWorker> => {
    const worker = rig.worker();
    client.send({ method: 'hello', sessionId: `s${id}` });
    await worker.next();
    worker.say(
      { id, method: 'ask', sessionId: `s${id}` },
      { id: id + 1, method: 'ask', sessionId: `s${id}` },
    );
    return worker;
  };
  for (const id of [10, 20]) {
    const worker = await ask(id);
    await client.inbox.next(2);
    worker.handle.remove('gone');
  }
  const third = await ask(30);
  expect((await third.inbox.next(2)).map(({ error }) => (error as { code: number }).code)).toEqual([
    -32003, -32003,
  ]);
  client.send({ id: 10, result: 1 }, { id: 20, result: 1 });
  await until(() => rig.router.stats().answersDropped === 2, 'the late answers');
  third.say({ id: 40, method: 'ask', sessionId: 's30' });
  expect(await client.next()).toMatchObject({ id: 40 });
});

test('a question behind one that the client never answers is answered in time, however often it is tried again', async () => {
  await using rig = new Rig({}, { backpressureTimeoutMs: 300 });
  const [first, second] = [rig.worker(), rig.worker()];
  const client = rig.client();
  client.send({ method: 'hello', sessionId: 'a' }, { method: 'hello', sessionId: 'b' });
  const [one, other] = (await first.next())['sessionId'] === 'a' ? ['a', 'b'] : ['b', 'a'];
  await second.next();
  first.say({ id: 1, method: 'ask', sessionId: one });
  first.say(
    ...Array.from({ length: 50 }, (_, nth) => ({ id: `more-${nth}`, method: 'ask', sessionId: one })),
  );
  await client.inbox.next(51);
  second.say({ id: 1, method: 'ask', sessionId: other });
  let nth = 0;
  const answering = setInterval(() => client.send({ id: `more-${nth++}`, result: 1 }), 20);
  expect(await second.next()).toMatchObject({ id: 1, error: { code: -32003, data: { reason: 'id_taken' } } });
  clearInterval(answering);
  expect(client.lines).toEqual([]);
  client.send({ id: 1, result: 'late' });
  await until(() => first.lines.some((line) => line.includes('late')), 'the answer to who asked first');
});

test('requests of workers that no client answers are remembered up to max_pending', async () => {
  await using rig = new Rig({}, { maxPending: 3 });
  const worker = rig.worker();
  const client = rig.client();
  client.send({ method: 'hello', sessionId: 's' });
  await worker.next();
  for (const id of [1, 2, 3, 4]) worker.say({ id, method: 'ask', sessionId: 's' });
  expect(await worker.next()).toMatchObject({
    id: 4,
    error: { code: -32003, data: { reason: 'too_many_pending' } },
  });
  client.send({ id: 1, result: 1 });
  await worker.next();
  worker.say({ id: 5, method: 'ask', sessionId: 's' });
  expect((await client.inbox.next(4)).map(({ id }) => id)).toEqual([1, 2, 3, 5]);
});
