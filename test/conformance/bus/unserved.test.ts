// stdio Bus: a request that cannot be served is answered with an error under its own id, never met by silence.

import { join } from 'node:path';
import { expect } from 'vitest';
import { BusUnderTest, poolOf, skipForeign } from '../../helpers/bus.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

verifies(['bus/row/18', 'bus/14.3/exited'], async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  await using b = await bus.connect();
  const gate = bus.gate('never');
  const tokens = ['1', '"two"', '1.50', '"\\u0033"', '-0', '1e3'];
  for (const token of tokens)
    a.send(`{"jsonrpc":"2.0","id":${token},"method":"pid","params":{"gate":${JSON.stringify(gate.path)}}}`);
  b.send({ jsonrpc: '2.0', id: 'b', method: 'pid', params: { gate: gate.path } });
  await until(
    () => bus.notes().filter(({ line }) => line !== undefined).length === 7,
    'all to be at the worker',
  );
  b.request('die');
  const told: string[] = [];
  for (let n = 0; n < tokens.length; n++) {
    const line = String(await a.next());
    told.push(/"id":([^,]+),/.exec(line)?.[1] ?? '');
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0', error: { code: -32002 } });
  }
  expect(told).toEqual(tokens); // each as it was written, in the order asked
  expect(await b.take((m) => m.id === 'b')).toMatchObject({ error: { code: -32002 } });
  expect((await a.call('pid')).result).toBeDefined(); // its successor serves
});

verifies(['bus/row/22', 'bus/14.3/unavailable', 'bus/14.6/window'], async () => {
  await using bus = await BusUnderTest.start({ limits: { max_restarts: 0, restart_window_sec: 60 } });
  await using client = await bus.connect();
  expect(await client.call('die')).toMatchObject({ error: { code: -32002 } });
  for (let i = 0; i < 3; i++) {
    const answer = await client.call('pid');
    expect(answer).toMatchObject({ error: { code: -32000 } });
    expect(answer.error?.data).toMatchObject({ pool: 'w' });
  }
  expect(bus.child.exitCode).toBeNull();
});

verifies(['bus/row/24', 'bus/14.3/pool'], async () => {
  await using bus = await BusUnderTest.start({ pools: [poolOf('left'), poolOf('right')] });
  await using client = await bus.connect();
  const { pid: left } = await client.ask('pid', {}, { pool: 'left' });
  const { pid: right } = await client.ask('pid', {}, { pool: 'right' });
  expect(left).not.toBe(right);
  const unknown = await client.call('pid', {}, { pool: 'middle' });
  expect(unknown).toMatchObject({ error: { code: -32001 } });
  expect(JSON.stringify(unknown.error)).toContain('middle');
  expect(await client.call('pid')).toMatchObject({ error: { code: -32001 } });
  client.send({ jsonrpc: '2.0', method: 'tell', pool: 'middle' });
  expect(await client.ask('pid', {}, { pool: 'left' })).toEqual({ pid: left });
});

verifies('bus/14.3/overloaded', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ limits: { max_pending: 5, max_sessions: 3 } });
  await using client = await bus.connect();
  const gate = bus.gate('end');
  const open = Array.from({ length: 8 }, () => client.request('pid', { gate: gate.path }));
  const refused = await Promise.all(open.slice(5).map((id) => client.take((m) => m.id === id)));
  for (const answer of refused) expect(answer).toMatchObject({ error: { code: -32003 } });
  gate.open();
  for (const id of open.slice(0, 5))
    expect(await client.take((m) => m.id === id)).toMatchObject({ result: {} });
  for (const sessionId of ['a', 'b', 'c']) await client.ask('pid', {}, { sessionId });
  expect(await client.call('pid', {}, { sessionId: 'd' })).toMatchObject({ error: { code: -32003 } });
  await client.ask('pid', {}, { sessionId: 'a' });
});

verifies('bus/row/32', async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  const gate = bus.gate('all');
  const all = 5000;
  for (let n = 1; n <= all; n++)
    client.send(`{"jsonrpc":"2.0","id":${n},"method":"pid","params":{"gate":${JSON.stringify(gate.path)}}}`);
  await until(() => bus.notes().filter(({ line }) => line !== undefined).length === all, 'all to be pending');
  gate.open();
  const ids = new Set<unknown>();
  for (let n = 1; n <= all; n++) {
    const { id, result } = await client.message();
    expect(result).toBeDefined();
    ids.add(id);
  }
  expect(ids.size).toBe(all);
});

verifies('bus/14.3/notification', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ pools: [poolOf('left'), poolOf('right')] });
  await using client = await bus.connect();
  const before = bus.stderr.length;
  client.send({ jsonrpc: '2.0', method: 'tell', pool: 'middle' });
  client.send({ jsonrpc: '2.0', method: 'tell' });
  await client.ask('pid', {}, { pool: 'left' });
  await until(() => bus.stderr.length > before, 'a line of the log');
  const stats = await client.ask('bus/stats');
  expect(JSON.stringify(stats)).toMatch(/otificationsDropped":2/);
});

verifies('bus/14.3/shutting-down', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const gate = bus.gate('end');
  const open = client.request('pid', { gate: gate.path });
  await until(() => bus.notes().some(({ line }) => line !== undefined), 'it to be at the worker');
  bus.child.kill('SIGTERM');
  // Either it is not read any more, or it is refused; the one that is pending is answered in any case.
  await until(() => bus.stderr !== '', 'the bus to say something');
  const late = client.request('pid');
  gate.open();
  const answers = new Map<unknown, object>();
  for (const bytes of await client.rest()) {
    const message = JSON.parse(bytes.toString()) as { id: unknown };
    answers.set(message.id, message);
  }
  expect(answers.get(open)).toMatchObject({ result: {} });
  const lateAnswer = answers.get(late);
  if (lateAnswer !== undefined && 'error' in lateAnswer)
    expect(lateAnswer).toMatchObject({ error: { code: -32004 } });
  expect(await bus.ended).toEqual({ code: 0, signal: null });
});

verifies('bus/14.5/worker-line', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ limits: { max_rubbish_lines: 10, max_restarts: 50 } });
  await using client = await bus.connect();
  const { pid } = await client.ask('print', { lines: Array.from({ length: 5 }, (_, n) => `stray ${n}`) });
  expect(await client.ask('pid')).toEqual({ pid });
  await client.call('print', { lines: Array.from({ length: 50 }, (_, n) => `stray ${n}`) });
  await until(async () => (await client.call('pid')).result?.['pid'] !== pid, 'the worker to be replaced');
  await until(() => bus.stderr !== '', 'a line of the log');
});

verifies('bus/row/23', async () => {
  await expect(
    BusUnderTest.start({
      pools: [{ id: 'x', command: join('/nowhere', 'no-such-command'), args: [], instances: 1 }],
    }),
  ).rejects.toThrow(/ended with 1\b[\s\S]*no-such-command/);
});
