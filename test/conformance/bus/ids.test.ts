// stdio Bus: an answer reaches the client that asked, however the ids collide.

import { expect } from 'vitest';
import { BusUnderTest, skipForeign } from '../../helpers/bus.js';
import { type BusPeer, echoed } from '../../helpers/bus-client.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const mine = (id: string | number, who: string, more: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'echo',
  params: { who, ...more },
});
const whose = (bytes: Buffer | undefined): unknown =>
  (JSON.parse(echoed(JSON.parse(String(bytes)) as object).toString()) as { params: { who: string } }).params
    .who;

verifies(['bus/row/12', 'bus/16/only-who-asked', 'bus/3.5/id'], async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  await using b = await bus.connect();
  for (let round = 0; round < 20; round++) {
    a.send(mine(1, 'a'));
    b.send(mine(1, 'b'));
  }
  for (let round = 0; round < 20; round++) {
    expect(whose(await a.next())).toBe('a');
    expect(whose(await b.next())).toBe('b');
  }
  expect([a.waiting, b.waiting]).toEqual([0, 0]);
});

verifies(['bus/row/13', 'bus/14.1/elsewhere'], async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using a = await bus.connect();
  await using b = await bus.connect();
  const slow = bus.gate('slow');
  a.send(mine(1, 'a', { gate: slow.path }));
  await until(() => bus.notes().some(({ line }) => line !== undefined), 'the first to be at its worker');
  b.send(mine(1, 'b'));
  expect(whose(await b.next())).toBe('b'); // while a's is still pending: it went to the other worker
  slow.open();
  expect(whose(await a.next())).toBe('a');
  expect([a.waiting, b.waiting]).toEqual([0, 0]);
});

verifies(['bus/row/14', 'bus/4.2.2/id'], async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  await using b = await bus.connect();
  const gate = bus.gate('a');
  a.send(mine(7, 'a', { gate: gate.path }));
  await until(() => bus.notes().some(({ line }) => line !== undefined), 'the first to be at its worker');
  b.send(mine('7', 'b'));
  const answer = await b.next();
  expect(whose(answer)).toBe('b');
  expect(JSON.parse(String(answer))).toMatchObject({ id: '7' });
  gate.open();
  const first = await a.next();
  expect(whose(first)).toBe('a');
  expect(JSON.parse(String(first))).toMatchObject({ id: 7 });
});

verifies('bus/14.1/hold', async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  await using b = await bus.connect();
  const gate = bus.gate('a');
  a.send(mine(1, 'a', { gate: gate.path }));
  await until(() => bus.notes().some(({ line }) => line !== undefined), 'the first to be at its worker');
  b.send(mine(1, 'b'));
  b.send(mine(2, 'b'));
  await a.ask('pid'); // a may go on
  gate.open();
  expect(whose(await a.take((m) => m.id === 1).then((m) => Buffer.from(JSON.stringify(m))))).toBe('a');
  expect(JSON.parse(String(await b.next()))).toMatchObject({ id: 1 });
  expect(JSON.parse(String(await b.next()))).toMatchObject({ id: 2 });
});

verifies('bus/14.1/rewrite', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ config: { idCollision: 'rewrite' } });
  await using a = await bus.connect();
  await using b = await bus.connect();
  const gate = bus.gate('a');
  const odd = '{ "jsonrpc":"2.0" , "id" : "\\u0041\\/" , "method":"echo", "params":{"who":"WHO"} }';
  a.send(odd.replace('"WHO"', `"a","gate":${JSON.stringify(gate.path)}`));
  await until(() => bus.notes().some(({ line }) => line !== undefined), 'the first to be at its worker');
  b.send(odd.replace('WHO', 'b'));
  const answer = await b.next(); // nobody waits for anybody
  expect(whose(answer)).toBe('b');
  expect(String(answer)).toContain('"id":"\\u0041\\/"'); // the token as it was sent
  gate.open();
  const first = await a.next();
  expect(whose(first)).toBe('a');
  expect(String(first)).toContain('"id":"\\u0041\\/"');
});

verifies('bus/14.1/same-client', async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  for (const who of ['first', 'second', 'third']) a.send(mine(1, who));
  expect([whose(await a.next()), whose(await a.next()), whose(await a.next())]).toEqual([
    'first',
    'second',
    'third',
  ]);
});

const EACH = 400;
const WINDOW = 40;

/** Both use the ids 1…N at the same time, with many pending; every answer is looked at. */
async function collide(peers: readonly BusPeer[]): Promise<void> {
  await Promise.all(
    peers.map(async (peer, number) => {
      const who = `client ${number}`;
      let sent = 0;
      const open = new Set<number>();
      const answered = new Set<number>();
      while (answered.size < EACH) {
        while (sent < EACH && open.size < WINDOW) {
          open.add((sent += 1));
          peer.send(mine(sent, who));
        }
        const answer = await peer.next();
        expect(whose(answer)).toBe(who);
        const { id } = JSON.parse(String(answer)) as { id: number };
        expect(open.delete(id), `${id} is answered once`).toBe(true);
        answered.add(id);
      }
      expect(peer.waiting).toBe(0);
    }),
  );
}

verifies('bus/row/40', async () => {
  for (const [instances, idCollision] of [
    [1, 'hold'],
    [3, 'hold'],
    [1, 'rewrite'],
    [3, 'rewrite'],
  ] as const) {
    await using bus = await BusUnderTest.start({ instances, config: { idCollision } });
    await using a = await bus.connect();
    await using b = await bus.connect();
    await using c = await bus.connect();
    await collide([a, b, c]);
  }
});

verifies('bus/3.2/identity', async (mode) => {
  await using bus = await BusUnderTest.start({ mode });
  const gate = bus.gate('late');
  const first = await bus.connect();
  first.send(mine(1, 'first', { gate: gate.path }));
  await until(() => bus.notes().some(({ line }) => line !== undefined), 'it to be at the worker');
  await first[Symbol.asyncDispose]();
  await using second = await bus.connect(); // likely with the descriptor of the first
  second.send(mine(2, 'second'));
  expect(whose(await second.next())).toBe('second');
  gate.open();
  second.send(mine(1, 'second'));
  expect(whose(await second.next())).toBe('second');
  expect(second.waiting).toBe(0);
});

verifies('bus/16/second-answer', async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  await using b = await bus.connect();
  const line = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"twice"}').toString('base64');
  a.send({ jsonrpc: '2.0', id: 1, method: 'raw', params: { lines: [line, line] } });
  expect(String(await a.next())).toContain('twice');
  await b.ask('pid');
  await a.ask('pid');
  expect([a.waiting, b.waiting]).toEqual([0, 0]);
});

verifies(['bus/16/escaped-keys', 'bus/16/duplicate-keys', 'bus/16/nested-keys'], async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  const answer = (line: string): string => Buffer.from(line).toString('base64');
  const pairs = [
    [
      '{"\\u0069d":"k1","method":"raw","params":{"lines":["LINE"]}}',
      '{"jsonrpc":"2.0","\\u0069\\u0064":"k1","result":1}',
    ],
    ['{"id":"x","id":"k2","method":"raw","params":{"lines":["LINE"]}}', '{"id":"no","result":1,"id":"k2"}'],
    [
      '{"params":{"id":"no","lines":["LINE"]},"id":"k3","method":"raw"}',
      '{"result":{"id":"no","error":1},"id":"k3"}',
    ],
    [
      '{"id":"k4","meth\\u006fd":"raw","params":{"lines":["LINE"],"x":"\\"id\\":5}"}}',
      '{"id":"k4","result":"{\\"id\\":9}"}',
    ],
  ] as const;
  for (const [request, expected] of pairs) {
    // The worker of the tests reads the first "id" it finds, which is enough: it answers with the bytes it was given.
    a.send(request.replace('LINE', answer(expected)));
    expect(String(await a.next())).toBe(expected);
  }
});

verifies(['bus/row/15', 'bus/3.5/method'], async () => {
  await using bus = await BusUnderTest.start({ config: { sessionOwnership: 'strict' } });
  await using a = await bus.connect();
  await using b = await bus.connect();
  await a.ask('pid', {}, { sessionId: 'of-a' });
  const line = Buffer.from('{"jsonrpc":"2.0","id":5,"result":1,"sessionId":"of-a"}').toString('base64');
  b.send({ jsonrpc: '2.0', id: 5, method: 'raw', params: { lines: [line] } });
  expect(await b.message()).toMatchObject({ id: 5 });
  expect(a.waiting).toBe(0);
});
