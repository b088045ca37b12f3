// stdio Bus: whoever is slow slows its senders; nothing is dropped, nothing is glued, memory stays flat.

import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { BusUnderTest, skipForeign } from '../../helpers/bus.js';
import { peakRssBytes } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const MIB = 1024 * 1024;
/** What may be queued between a client and its worker, several times over. */
const MAX_AHEAD_BYTES = 64 * MIB;
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

verifies(['bus/row/27', 'bus/row/28'], async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const lines = [66_000, 10, 500_000, 10, 130_000, 900_000, 10, 64 * 1024].map(
    (bytes, n) => `{"jsonrpc":"2.0","id":${n},"method":"digest","params":{"pad":"${'x'.repeat(bytes)}"}}`,
  );
  for (const line of lines) client.send(line);
  for (const [id, line] of lines.entries())
    expect(await client.message()).toMatchObject({ id, result: { bytes: line.length, sha256: sha(line) } });
});

verifies(['bus/row/30', 'bus/14.4/slow-worker'], async () => {
  await using bus = await BusUnderTest.start({ limits: { max_output_queue: MIB } });
  await using client = await bus.connect();
  await using other = await bus.connect();
  const gate = bus.gate('reads');
  await client.ask('deaf', { gate: gate.path });
  const [all, pad] = [3000, 'x'.repeat(1024)];
  for (let id = 1; id <= all; id++) client.send({ jsonrpc: '2.0', id, method: 'pid', params: { pad } });
  // Enough for every queue on the way to be full: the client's writes must come to a stop, not the bus's memory grow.
  const flooding = client.write(
    Buffer.concat(
      Array.from({ length: 12_000 }, (_, n) =>
        Buffer.from(`{"jsonrpc":"2.0","method":"n${n}","params":{"pad":"${pad}"}}\n`),
      ),
    ),
  );
  const stalled = await Promise.race([
    flooding.then(() => false),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 700)),
  ]);
  expect(stalled, 'the client is made to wait').toBe(true);
  expect(peakRssBytes(bus.pid)).toBeLessThan(200 * MIB);
  const late = other.request('pid');
  gate.open();
  for (let id = 1; id <= all; id++) expect(await client.message()).toMatchObject({ id, result: {} });
  await flooding;
  const { methods } = await client.ask('heardMethods');
  expect(methods).toEqual(Array.from({ length: 12_000 }, (_, n) => `n${n}`));
  expect(await other.take((m) => m.id === late)).toMatchObject({ result: {} });
});

verifies(['bus/row/31', 'bus/3.1/non-blocking'], async () => {
  await using bus = await BusUnderTest.start({
    instances: 2,
    limits: { max_output_queue: MIB, backpressure_timeout_sec: 60 },
  });
  await using slow = await bus.connect();
  await using other = await bus.connect();
  const { pid } = await slow.ask('pid', {}, { sessionId: 's' });
  slow.pause();
  const asked = slow.request('flood', { count: 3000, bytes: 4000 }, { sessionId: 's' });
  // The other client is served meanwhile, also by the other worker; the one that floods may have to wait.
  const served = await until(async () => {
    const answer = await other.ask('pid');
    return answer['pid'] !== pid && answer;
  }, 'the other client to be served');
  expect(served).toBeDefined();
  for (let i = 0; i < 50; i++)
    await other.ask('pid', {}, { sessionId: `t-${String(served['pid'])}` }).catch(() => {});
  expect(peakRssBytes(bus.pid)).toBeLessThan(200 * MIB);
  slow.resume();
  for (let n = 0; n < 3000; n++) expect((await slow.message()).params?.['n']).toBe(n);
  expect(await slow.message()).toMatchObject({ id: asked, result: { count: 3000 } });
});

verifies(['bus/14.4/slow-client', 'bus/14.4/whole-lines'], async () => {
  await using bus = await BusUnderTest.start({
    limits: { max_output_queue: 256 * 1024, backpressure_timeout_sec: 1 },
  });
  await using slow = await bus.connect();
  await using other = await bus.connect();
  slow.pause();
  const before = Date.now();
  slow.request('flood', { count: 3000, bytes: 4000 }, { sessionId: 's' });
  await until(() => /back-?pressure|slow|not read/i.test(bus.stderr), 'the log to tell');
  expect(Date.now() - before).toBeGreaterThan(900);
  await until(async () => (await other.call('pid')).result, 'the worker to be free again');
  slow.resume();
  const lines = await slow.rest();
  for (const [n, line] of lines.entries()) {
    const message = JSON.parse(line.toString()) as { params?: { n: number } };
    expect(message.params?.n ?? n).toBe(n); // no gap before the end
  }
  expect(lines.length).toBeLessThan(3000);
});

verifies('bus/16/fairness', async () => {
  await using bus = await BusUnderTest.start();
  await using flood = await bus.connect();
  await using quiet = await bus.connect();
  await quiet.ask('pid');
  const pad = 'x'.repeat(200);
  const block = Buffer.from(
    Array.from({ length: 5000 }, () => `{"jsonrpc":"2.0","method":"tell","params":{"pad":"${pad}"}}\n`).join(
      '',
    ),
  );
  const stop = new AbortController();
  let sent = 0;
  const flooding = (async () => {
    while (!stop.signal.aborted) {
      await flood.write(block);
      sent += 1;
    }
  })();
  // How much of a flood that never ends goes before an answer, and not how long that takes: the machine may be slow.
  const ahead: number[] = [];
  for (let n = 0; n < 15; n++) {
    const from = sent;
    await quiet.ask('pid');
    ahead.push(sent - from);
  }
  stop.abort();
  flood.destroy();
  await flooding;
  expect(sent).toBeGreaterThan(0);
  expect(ahead.sort((a, b) => a - b)[7]! * block.length).toBeLessThan(MAX_AHEAD_BYTES);
});

verifies(['bus/row/11', 'bus/14.11/half-close'], async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  const gate = bus.gate('end');
  for (let id = 1; id <= 10; id++)
    client.send({ jsonrpc: '2.0', id, method: 'pid', params: { gate: gate.path } });
  client.end();
  await until(() => bus.notes().filter(({ line }) => line !== undefined).length === 10, 'all to be there');
  expect(client.isOver).toBe(false);
  gate.open();
  const answers = (await client.rest()).map(
    (bytes) => JSON.parse(bytes.toString()) as { id: number; result: object },
  );
  expect(answers.map(({ id }) => id).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  for (const { result } of answers) expect(result).toBeDefined();
});

verifies(['bus/row/34', 'bus/4.1.2/many-clients', 'bus/ours/idle-clients'], async (mode, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ mode });
  const clients = [];
  try {
    for (let n = 0; n < 1050; n++) clients.push(await bus.connect());
    const answers = await Promise.all(clients.map(async (client) => await client.call('pid')));
    for (const { result } of answers) expect(result).toBeDefined();
    expect(peakRssBytes(bus.pid)).toBeLessThan(220 * MIB);
  } finally {
    await Promise.all(clients.map(async (client) => await client[Symbol.asyncDispose]()));
  }
});
