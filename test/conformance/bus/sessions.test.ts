// stdio Bus: a session stays with one worker and belongs to one client.

import { expect } from 'vitest';
import { BusUnderTest, skipForeign } from '../../helpers/bus.js';
import { type BusPeer, echoed } from '../../helpers/bus-client.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const pidOf = async (client: BusPeer, more: object = {}, params: object = {}): Promise<number> =>
  Number((await client.ask('pid', params, more))['pid']);

verifies(
  ['bus/3.4/one-worker', 'bus/3.4/id', 'bus/4.2.2/session', 'bus/3.2/many-sessions', 'bus/3.5/session'],
  async (mode) => {
    await using bus = await BusUnderTest.start({ mode, instances: 3 });
    await using client = await bus.connect();
    const names = ['one', 'two', 'three', 'ü "four"', '\u2028', '5'];
    const first = new Map<string, number>();
    for (const sessionId of names) first.set(sessionId, await pidOf(client, { sessionId }));
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        names.map(async (sessionId) => {
          expect(await pidOf(client, { sessionId }), sessionId).toBe(first.get(sessionId));
        }),
      );
    }
    expect(new Set(first.values()).size).toBe(3); // they are spread, too
  },
);

verifies(['bus/3.4/one-owner', 'bus/row/16', 'bus/14.2/strict'], async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using owner = await bus.connect();
  await using other = await bus.connect();
  const pid = await pidOf(owner, { sessionId: 's' });
  const refused = await other.call('echo', {}, { sessionId: 's' });
  expect(refused).toMatchObject({ jsonrpc: '2.0', error: { code: -32005 } });
  other.send({ jsonrpc: '2.0', method: 'tell', sessionId: 's' }); // nobody hears of it
  expect(await pidOf(other)).toBeGreaterThan(0); // and its connection goes on
  expect(await pidOf(owner, { sessionId: 's' })).toBe(pid);
  expect((await owner.ask('heard', {}, { sessionId: 's' }))['heard']).toEqual([]);
  await owner.ask('flood', { count: 3 }, { sessionId: 's' });
  expect(owner.waiting).toBe(3);
  expect(other.waiting).toBe(0);
});

verifies('bus/14.2/shared', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ instances: 3, config: { sessionOwnership: 'shared' } });
  await using owner = await bus.connect();
  await using other = await bus.connect();
  const pid = await pidOf(owner, { sessionId: 's' });
  for (let i = 0; i < 4; i++) expect(await pidOf(other, { sessionId: 's' })).toBe(pid);
  await other.ask('flood', { count: 3 }, { sessionId: 's' });
  await owner.ask('pid', {}, { sessionId: 's' });
  expect(owner.waiting).toBe(3);
  expect(other.waiting).toBe(0);
});

verifies(['bus/3.4/owner-leaves', 'bus/row/17'], async (mode) => {
  await using bus = await BusUnderTest.start({ mode, instances: 2 });
  const isFree = async (client: BusPeer): Promise<number> =>
    await until(
      async () => (await client.call('pid', {}, { sessionId: 's' })).result?.['pid'] as number | undefined,
      'the session to be free',
    );
  const owner = await bus.connect();
  await pidOf(owner, { sessionId: 's' });
  await owner[Symbol.asyncDispose]();
  await using next = await bus.connect();
  const bound = await isFree(next);
  expect(await pidOf(next, { sessionId: 's' })).toBe(bound);
  await next.ask('flood', { count: 3 }, { sessionId: 's' });
  expect(next.waiting).toBe(3); // it is the owner now, and no mere guest
  await using third = await bus.connect();
  expect(await third.call('pid', {}, { sessionId: 's' })).toMatchObject({ error: { code: -32005 } });
  // One that leaves with a request open may only have closed its writing side: it is gone when that is answered.
  const gate = bus.gate('later');
  next.request('flood', { count: 2, gate: gate.path }, { sessionId: 's' });
  const floods = (): number => bus.notes().filter(({ line }) => isFlood(line)).length;
  await until(() => floods() === 2, 'it to be at the worker');
  await next[Symbol.asyncDispose]();
  gate.open();
  await isFree(third);
  await pidOf(third, { sessionId: 's' });
  expect(third.waiting).toBe(0); // what was meant for the one before reaches nobody else
});

const isFlood = (line: string | undefined): boolean =>
  line !== undefined && Buffer.from(line, 'base64').toString().includes('"flood"');

verifies(['bus/3.4/worker-exit'], async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  const pid = await pidOf(client, { sessionId: 's' });
  await client.call('die', {}, { sessionId: 's' });
  const now = await pidOf(client, { sessionId: 's' });
  expect(now).not.toBe(pid);
  expect(await pidOf(client, { sessionId: 's' })).toBe(now);
});

verifies('bus/14.2/notify-loss', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ config: { notifyLoss: true } });
  await using owner = await bus.connect();
  await using other = await bus.connect();
  await pidOf(owner, { sessionId: 'mine' });
  await pidOf(other, { sessionId: 'yours' });
  await owner.call('die', {}, { sessionId: 'mine' });
  const told = await owner.take((m) => m.method === 'bus/session_lost');
  expect(told.sessionId ?? told.params?.['sessionId']).toBe('mine');
  const toldOther = await other.take((m) => m.method === 'bus/session_lost');
  expect(toldOther.sessionId ?? toldOther.params?.['sessionId']).toBe('yours');
});

verifies('bus/14.2/ttl', async (_, skip) => {
  skipForeign(skip);
  const ttlMs = 2000;
  await using bus = await BusUnderTest.start({ instances: 2, config: { sessionTtlSec: ttlMs / 1000 } });
  await using owner = await bus.connect();
  await using other = await bus.connect();
  for (let n = 0; ; n++) {
    const session = { sessionId: `s${n}` };
    const fromMs = Date.now();
    await pidOf(owner, session);
    const early = await other.call('pid', {}, session);
    if (Date.now() - fromMs >= ttlMs) continue; // not early: nobody may say what it had to be
    expect(early).toMatchObject({ error: { code: -32005 } });
    await until(async () => (await other.call('pid', {}, session)).result, 'it to be forgotten');
    break;
  }
});

verifies(['bus/row/33', 'bus/14.2/limit', 'bus/16/no-fixed-tables'], async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  const first: (number | undefined)[] = [];
  const all = 1100;
  const askAll = async (): Promise<number[]> => {
    const ids = Array.from({ length: all }, (_, n) => client.request('pid', {}, { sessionId: `s${n}` }));
    const pids = new Map<unknown, number>();
    for (let n = 0; n < all; n++) {
      const { id, result } = await client.message();
      pids.set(id, Number(result?.['pid']));
    }
    return ids.map((id) => pids.get(id) ?? 0);
  };
  first.push(...(await askAll()));
  expect(await askAll()).toEqual(first);
  expect(first).not.toContain(0);
});

verifies('bus/14.10/params-session', async () => {
  await using bus = await BusUnderTest.start({ instances: 3 });
  await using client = await bus.connect();
  await using other = await bus.connect();
  const pid = await pidOf(client, {}, { sessionId: 'inside' });
  for (let i = 0; i < 6; i++) expect(await pidOf(client, {}, { sessionId: 'inside' })).toBe(pid);
  const line = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{ "sessionId" : "inside" }}';
  client.send(line);
  expect(echoed(await client.message()).toString()).toBe(line);
  await client.ask('flood', { count: 4, inside: true, sessionId: 'inside' });
  expect(client.waiting).toBe(4); // notifications with nothing but params.sessionId
  expect(other.waiting).toBe(0);
  expect(await other.call('pid', { sessionId: 'inside' })).toMatchObject({ error: { code: -32005 } });
});

verifies('bus/14.10/result-session', async () => {
  await using bus = await BusUnderTest.start({ instances: 3 });
  await using client = await bus.connect();
  await using other = await bus.connect();
  const opened = await Promise.all(
    ['n1', 'n2', 'n3', 'n4'].map(
      async (name) => [name, (await client.ask('open', { name }))['pid']] as const,
    ),
  );
  for (const [name, pid] of opened)
    for (let i = 0; i < 3; i++) expect(await pidOf(client, {}, { sessionId: name })).toBe(pid);
  expect(await other.call('pid', { sessionId: 'n1' })).toMatchObject({ error: { code: -32005 } });
  await client.ask('flood', { count: 2, inside: true, sessionId: 'n2' });
  expect(client.waiting).toBe(2);
});
