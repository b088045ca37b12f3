// Routing: whatever is asked, the answer goes to whoever asked, and to nobody else.

import { expect, test } from 'vitest';
import { GONE_ASKER_MS } from '../../../../src/bus/route/hold.js';
import { stopTimers } from '../../../helpers/stop-timers.js';
import { until } from '../../../helpers/wait.js';
import { Rig } from './rig.js';

test('a request goes to a worker and its answer back, byte for byte', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  const request = '{ "method":"a\\u00e9\xff", "params" : {"x":1.0},  "id" : 7 }\r';
  client.stream.write(Buffer.from(`${request}\n`, 'latin1'));
  await worker.inbox.next(0);
  await rig.settle();
  expect(worker.lines).toEqual([request]);
  const answer = ' {"result":"\xe2\x82" ,"id":7}\t';
  worker.stdout.write(Buffer.from(`\n\r\n${answer}\n`, 'latin1'));
  await rig.settle();
  expect(client.lines).toEqual([answer]);
  expect(rig.router.pending()).toBe(0);
});

test('the same id of two clients goes to two workers, and each answer to its own client', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker()];
  const [a, b] = [rig.client(), rig.client()];
  a.send({ id: 1, method: 'm', params: 'a' });
  b.send({ id: 1, method: 'm', params: 'b' });
  await rig.settle();
  expect(workers.map(({ lines }) => lines.length)).toEqual([1, 1]);
  for (const worker of workers.toReversed()) worker.say({ id: 1, result: (await worker.next())['params'] });
  expect([(await a.next())['result'], (await b.next())['result']]).toEqual(['a', 'b']);
});

test('with one worker the second waits its turn, and so does what comes behind it', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const [a, b] = [rig.client(), rig.client()];
  a.send({ id: 1, method: 'm', params: 'a' });
  await rig.settle();
  b.send(
    { id: 1, method: 'm', params: 'b' },
    { id: 2, method: 'm', params: 'b2' },
    { method: 'n', params: 'b3' },
  );
  await rig.settle();
  expect(worker.lines).toHaveLength(1);
  a.send({ id: 3, method: 'm', params: 'a3' });
  await rig.settle();
  expect(worker.lines).toHaveLength(2);
  worker.say({ id: 1, result: 'for a' });
  await rig.settle();
  expect(worker.lines.map((line) => (JSON.parse(line) as { params: string }).params)).toEqual([
    'a',
    'a3',
    'b',
    'b2',
    'b3',
  ]);
  worker.say({ id: 1, result: 'for b' });
  expect([(await a.next())['result'], (await b.next())['result']]).toEqual(['for a', 'for b']);
  expect(rig.router.stats().held).toBe(3);
});

test('an id that stays taken too long is answered', async () => {
  await using rig = new Rig({}, { backpressureTimeoutMs: 30 });
  const worker = rig.worker();
  const [a, b] = [rig.client(), rig.client()];
  a.send({ id: 1, method: 'm' });
  await worker.next();
  b.send({ id: 1, method: 'm' }, { id: 2, method: 'm' });
  expect(await b.next()).toMatchObject({ id: 1, error: { code: -32003, data: { reason: 'id_taken' } } });
  expect(await worker.next()).toMatchObject({ id: 2 });
});

test('an id is a string or a number: 7 is not "7", and "\\u0041" is "A"', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const [a, b, c] = [rig.client(), rig.client(), rig.client()];
  a.send({ id: 7, method: 'm' });
  b.send({ id: '7', method: 'm' });
  c.send('{"id":"\\u0041","method":"m"}', '{"id":1.0,"method":"m"}');
  await rig.settle();
  expect(worker.lines).toHaveLength(4);
  worker.say(
    { id: '7', result: 'b' },
    { id: 'A', result: 'c' },
    { id: 1, result: 'one' },
    { id: 7, result: 'a' },
  );
  expect([(await a.next())['result'], (await b.next())['result']]).toEqual(['a', 'b']);
  expect([(await c.next())['result'], (await c.next())['result']]).toEqual(['c', 'one']);
});

test('rewrite: another id stands in, and the client sees its own; cancellation knows it', async () => {
  await using rig = new Rig({ idCollision: 'rewrite' });
  const worker = rig.worker();
  const [a, b] = [rig.client(), rig.client()];
  a.send({ id: 1, method: 'm' });
  await worker.next();
  b.send('{"id" : 1, "method":"m"}');
  const changed = await worker.next();
  expect(changed['id']).not.toBe(1);
  b.send({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'x' } });
  expect(await worker.next()).toMatchObject({ params: { requestId: changed['id'], reason: 'x' } });
  worker.say(`{"result":{} , "id":${JSON.stringify(changed['id'])}  }`);
  await rig.settle();
  expect(b.lines).toEqual(['{"result":{} , "id":1  }']);
  worker.say({ id: 1, result: 'a' });
  expect((await a.next())['result']).toBe('a');
});

test('equal loads take turns, and the least loaded comes first', async () => {
  await using rig = new Rig();
  const workers = [rig.worker(), rig.worker(), rig.worker()];
  const client = rig.client();
  client.send(...Array.from({ length: 30 }, (_, id) => ({ id, method: 'm' })));
  await rig.settle();
  expect(workers.map(({ lines }) => lines.length)).toEqual([10, 10, 10]);
  workers[1]!.say(
    ...workers[1]!.lines.map((line) => ({ id: (JSON.parse(line) as { id: number }).id, result: 1 })),
  );
  await rig.settle();
  client.send(...Array.from({ length: 5 }, (_, id) => ({ id: id + 100, method: 'm' })));
  await rig.settle();
  expect(workers.map(({ lines }) => lines.length)).toEqual([10, 15, 10]);
});

test('a second answer, and one that nobody asked for, reach nobody', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  client.send({ id: 1, method: 'm' });
  await worker.next();
  worker.say({ id: 1, result: 1 }, { id: 1, result: 2 }, { id: 9, error: {} });
  await rig.settle();
  expect(client.lines).toHaveLength(1);
  expect(rig.router.stats().repliesDropped).toBe(2);
});

test('an answer for a client that has gone reaches nobody, also not the next with the same id', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  await rig.goneClient(worker, 1);
  using still = stopTimers(); // or, after a while, another id would stand in for the one that is taken
  void still;
  const next = rig.client();
  next.send({ id: 1, method: 'm', params: 'next' });
  await rig.settle();
  expect(worker.lines).toEqual([]);
  worker.say({ id: 1, result: 'for the one that has gone' });
  await rig.settle();
  expect(worker.lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ params: 'next' }]);
  worker.say({ id: 1, result: 'for the next' });
  await rig.settle();
  expect(next.lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ result: 'for the next' }]);
});

test('an id that only a client that has gone waits for is stood in for after a while: the next is served, nothing crosses', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  await rig.goneClient(worker, 1);
  const next = rig.client();
  next.send({ id: 1, method: 'm', params: 'next', sessionId: 's' }, { id: 2, method: 'm', sessionId: 's' });
  await until(() => worker.lines.length === 2, 'both', 60 * GONE_ASKER_MS);
  const [stoodIn, second] = await worker.inbox.next(2);
  expect(stoodIn).toMatchObject({ params: 'next' });
  expect(stoodIn!['id']).not.toBe(1);
  expect(second!['id']).toBe(2);
  worker.say({ id: 1, result: 'for the one that has gone' }, { id: stoodIn!['id'], result: 'for the next' });
  expect(await next.next()).toMatchObject({ id: 1, result: 'for the next' });
});

test('a line that waits too long for a worker that does not read is told so, and what comes behind it goes on', async () => {
  await using rig = new Rig({}, { backpressureTimeoutMs: 50, maxWorkerQueueBytes: 1000 });
  const worker = rig.worker();
  worker.stdin.pause();
  const client = rig.client();
  client.send({ id: 1, method: 'm', params: 'x'.repeat(100_000) }, { id: 2, method: 'm' });
  expect(await client.next()).toMatchObject({
    id: 2,
    error: { code: -32003, data: { reason: 'queue_full' } },
  });
});

test('a method may be written with escapes: routes, cancellation and the bus itself know it', async () => {
  await using rig = new Rig({
    pools: [{ id: 'main' }, { id: 'tools' }],
    routes: [{ method: 'tools/*', pool: 'tools' }],
    defaultPool: 'main',
  });
  const [main, tools] = [rig.worker(), rig.worker({ pool: 'tools' })];
  const client = rig.client();
  client.send('{"id":1,"method":"tools\\/call"}');
  expect(await tools.next()).toMatchObject({ id: 1 });
  client.send('{"method":"notifications\\/cancelled","params":{"requestId":1}}');
  expect(await tools.next()).toMatchObject({ method: 'notifications/cancelled' });
  client.send('{"id":2,"method":"bus\\/stats"}');
  expect(await client.next()).toMatchObject({ id: 2, result: { clients: 1 } });
  client.send('{"id":3,"method":"\\u0062us/stats"}');
  expect(await client.next()).toMatchObject({ id: 3, result: { clients: 1 } });
  expect(main.lines).toEqual([]);
});

test.each(['not json', '[1]', '42', ' ', '{"a":}', '{"id":1}}', '\uFEFF{"id":1}', '{"id":1,"a":"\t"}'])(
  '%j closes that client, with an answer, and nobody else',
  async (line) => {
    await using rig = new Rig();
    const worker = rig.worker();
    const [bad, good] = [rig.client(), rig.client()];
    bad.send({ id: 5, method: 'm' }, line, { id: 6, method: 'm' });
    expect(await bad.next()).toMatchObject({ id: null, error: { code: -32700 } });
    bad.stream.end();
    expect(await bad.handle.closed).toBe('not_json');
    good.send({ id: 1, method: 'm' });
    await rig.settle();
    expect(worker.lines.map((l) => (JSON.parse(l) as { id: number }).id)).toEqual([5, 1]);
    expect(rig.log.some(({ level }) => level === 'warn')).toBe(true);
  },
);

test('a message without any routing field closes its client, unless the bus is lenient', async () => {
  for (const line of [
    '{}',
    '{"jsonrpc":"2.0","params":{}}',
    '{"id":null}',
    '{"sessionId":""}',
    '{"method":5}',
  ]) {
    await using rig = new Rig();
    const client = rig.client();
    client.send(line);
    expect(await client.next()).toMatchObject({
      id: null,
      error: { code: -32600, data: { reason: 'no_routing_field' } },
    });
    client.stream.end();
    await client.handle.closed;
  }
  await using rig = new Rig({ lenient: true });
  const worker = rig.worker();
  rig.client().send('{}');
  await rig.settle();
  expect(worker.lines).toEqual(['{}']);
});

test('a client that sends lines where frames are meant is told so', async () => {
  await using rig = new Rig();
  const client = rig.client({ framing: 'length' });
  client.send({ id: 1, method: 'm' });
  await rig.settle();
  client.stream.end();
  await client.handle.closed;
  const facts = rig.log.find(({ message }) => message.startsWith('client closed'))?.facts;
  expect(facts).toMatchObject({ reason: 'too_large', hint: expect.stringContaining('"ndjson"') });
});

test('a line over the cap is refused with its id where that was seen', async () => {
  await using rig = new Rig({}, { maxInputBufferBytes: 100_000 });
  const worker = rig.worker();
  for (const [line, id] of [
    [`{"id":8,"method":"m","params":"${'x'.repeat(100_000)}"}`, 8],
    [`{"params":"${'x'.repeat(200_000)}","id":8,"method":"m"}`, null],
  ] as const) {
    const client = rig.client();
    client.send(line);
    expect(await client.next()).toMatchObject({ id, error: { code: -32600, data: { reason: 'too_large' } } });
    client.stream.end();
    await client.handle.closed;
  }
  const client = rig.client();
  const fits = `{"id":8,"method":"m","params":"${'x'.repeat(100_000 - 33)}"}`;
  client.send(fits);
  expect((await worker.next())['id']).toBe(8);
});

test('what a worker prints that is no message is counted, told and not believed', async () => {
  let told = 0;
  await using rig = new Rig(
    {},
    { maxRubbishLines: 2 },
    { onRubbish: (_worker, lines) => void (told = lines) },
  );
  const worker = rig.worker();
  const client = rig.client();
  client.send({ id: 1, method: 'm' });
  await worker.next();
  worker.say('Listening on port 80', '{"id":1,"result":', '[]', { id: 1, result: 'fine' });
  expect((await client.next())['result']).toBe('fine');
  expect([worker.handle.rubbish, told, rig.router.stats().rubbishFromWorkers]).toEqual([3, 3, 3]);
});

test('an answer over the cap is refused to whoever asked, wherever its id stands, and the next one passes', async () => {
  await using rig = new Rig({}, { maxInputBufferBytes: 10_000 });
  const worker = rig.worker();
  const client = rig.client();
  client.send({ id: 'a', method: 'm' }, { id: 'b', method: 'm' }, { id: 'c', method: 'm' });
  await worker.inbox.next(3);
  const long = 'x'.repeat(200_000);
  worker.say(`{"id":"a","result":"${long}"}`, `{"result":"${long}","id":"b"}`, { id: 'c', result: 1 });
  const answers = await client.inbox.next(3);
  expect(answers.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  expect(answers[1]).toMatchObject({ error: { code: -32003, data: { reason: 'too_large' } } });
  expect(rig.router.pending()).toBe(0);
});

test('a client that has ended its side gets what is under way, and is closed then', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  client.send({ id: 1, method: 'm' });
  client.stream.end();
  await client.handle.ended;
  await worker.next();
  await rig.settle();
  expect(client.ended).toBe(false);
  worker.say({ id: 1, result: 'late' });
  expect((await client.next())['result']).toBe('late');
  expect(await client.handle.closed).toBe('the client has ended');
});

test('a dead worker: its callers are told, the others not', async () => {
  await using rig = new Rig({ notifyLoss: true });
  const [one, two] = [rig.worker(), rig.worker()];
  const [a, b] = [rig.client(), rig.client()];
  a.send('{"id":"\\u0041","method":"m","sessionId":"s"}');
  await rig.settle();
  b.send({ id: 2, method: 'm' });
  await rig.settle();
  const [first, second] = one.lines.some((line) => line.includes('u0041')) ? [one, two] : [two, one];
  first.handle.remove('killed by the test');
  await rig.settle();
  expect(a.lines[0]).toContain('"id":"\\u0041","error":{"code":-32002');
  expect(await a.inbox.next(2)).toMatchObject([
    { error: { code: -32002 } },
    { method: 'bus/session_lost', sessionId: 's' },
  ]);
  expect(b.lines).toEqual([]);
  second.say({ id: 2, result: 1 });
  expect((await b.next())['result']).toBe(1);
  expect(rig.router.stats()).toMatchObject({ sessions: 0, sessionsLost: 1, pending: 0 });
});

test('shutting down: new requests are refused, what is under way is answered, then all is idle', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client();
  client.send({ id: 1, method: 'm' });
  await worker.next();
  rig.router.refuseNew();
  client.send({ id: 2, method: 'm' });
  expect(await client.next()).toMatchObject({ id: 2, error: { code: -32004 } });
  const retired = worker.handle.retire();
  const idle = rig.router.idle();
  worker.say({ id: 1, result: 1 });
  await Promise.all([retired, idle]);
  expect(rig.router.pending()).toBe(0);
});

test('a client may speak in frames: the worker sees lines, the client frames', async () => {
  await using rig = new Rig();
  const worker = rig.worker();
  const client = rig.client({ framing: 'length' });
  const received: Buffer[] = [];
  client.stream.on('data', (chunk: Buffer) => received.push(chunk));
  client.stream.write(Buffer.concat([frame('{"id":1,\n"method":"m"}'), frame('{"id":2,"method":"m"}')]));
  await rig.settle();
  expect(worker.lines).toEqual(['{"id":1,\r"method":"m"}', '{"id":2,"method":"m"}']);
  worker.say('{"id":1,"result":1}', '{"id":2,"result":2} ');
  client.stream.write(frame('nonsense'));
  await rig.settle();
  const all = Buffer.concat(received);
  const [one, two] = [frame('{"id":1,"result":1}'), frame('{"id":2,"result":2} ')];
  expect(all.subarray(0, one.length + two.length)).toEqual(Buffer.concat([one, two]));
  const rest = all.subarray(one.length + two.length);
  expect(rest.readUInt32BE()).toBe(rest.length - 4);
  expect(JSON.parse(rest.toString('utf8', 4))).toMatchObject({ id: null, error: { code: -32700 } });
});

function frame(text: string): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([head, Buffer.from(text)]);
}
