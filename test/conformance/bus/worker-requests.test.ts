// stdio Bus: what a worker asks reaches the owner of the session, and the answer that worker; cancellation finds its request.

import { expect } from 'vitest';
import { BusUnderTest } from '../../helpers/bus.js';
import type { BusPeer, Message } from '../../helpers/bus-client.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const got = (answer: Message): string => Buffer.from(String(answer.result?.['got']), 'base64').toString();

verifies(['bus/row/25', 'bus/row/38', 'bus/14.10/answers-back'], async () => {
  await using bus = await BusUnderTest.start({ instances: 3 });
  const clients = [await bus.connect(), await bus.connect(), await bus.connect()];
  try {
    for (const inside of [false, true]) {
      await Promise.all(
        clients.map(async (client, n) => await answerQuestion(client, `s${n}-${inside}`, inside)),
      );
    }
    for (const client of clients) expect(client.waiting).toBe(0);
  } finally {
    for (const client of clients) await client[Symbol.asyncDispose]();
  }
});

/** Every worker asks under the same id, at the same time; each must get the answer to its own question. */
async function answerQuestion(client: BusPeer, sessionId: string, inside: boolean): Promise<void> {
  const { pid } = await client.ask('pid', {}, { sessionId });
  const asked = client.request('ask', { id: 'q1', text: sessionId, inside }, { sessionId });
  const question = await client.take((m) => m.method === 'question', 'the question');
  expect(question).toMatchObject({ id: 'q1', params: { text: sessionId } });
  const answer = `{"jsonrpc":"2.0","id":"q1", "result" : {"for":${JSON.stringify(sessionId)}}}`; // no sessionId at all
  client.send(answer);
  const done = await client.take((m) => m.id === asked && m.method === undefined, 'the answer to come back');
  expect(got(done)).toBe(answer);
  expect(done.result?.['pid']).toBe(pid);
}

verifies('bus/16/only-who-asked', async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  await using b = await bus.connect();
  const asked = a.request('ask', { id: 1, text: 'for a' }, { sessionId: 'a' });
  await a.take((m) => m.method === 'question');
  b.send({ jsonrpc: '2.0', id: 1, result: 'from b' }); // b was asked nothing
  b.send({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'from b' } });
  await b.ask('pid');
  a.send({ jsonrpc: '2.0', id: 1, result: 'from a' });
  expect(got(await a.take((m) => m.id === asked && m.result !== undefined))).toContain('from a');
});

verifies('bus/row/26', async () => {
  await using bus = await BusUnderTest.start();
  await using a = await bus.connect();
  await using b = await bus.connect();
  const lines = [
    '{"jsonrpc":"2.0","method":"to nobody"}',
    '{"jsonrpc":"2.0","id":77,"result":"never asked for"}',
    '{"jsonrpc":"2.0","method":"x","sessionId":"unknown"}',
    '{"jsonrpc":"2.0","id":5,"method":"ask","params":{"sessionId":"unknown"}}',
    '{}',
  ];
  await a.ask('print', { lines });
  await b.ask('pid');
  await a.ask('pid');
  expect([a.waiting, b.waiting]).toEqual([0, 0]);
});

verifies('bus/ours/cancel', async () => {
  await using bus = await BusUnderTest.start({ instances: 3 });
  await using client = await bus.connect();
  await using other = await bus.connect();
  const gate = bus.gate('end');
  const slow = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'pid', params: { gate: gate.path } }));
  for (const message of slow) client.send(message);
  other.send({ ...slow[0], params: { gate: gate.path } });
  const lines = (): string[] =>
    bus.notes().flatMap(({ line }) => (line === undefined ? [] : [Buffer.from(line, 'base64').toString()]));
  await until(() => lines().length >= 3, 'the requests to be at their workers');
  client.send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 2 } });
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3, reason: 'no' } });
  await until(() => lines().filter((line) => line.includes('ancel')).length === 2, 'both cancellations');
  const readBy = (part: string): number[] =>
    bus
      .notes()
      .filter(({ line }) => line !== undefined && Buffer.from(line, 'base64').toString().includes(part))
      .map(({ pid }) => pid);
  expect(readBy('$/cancelRequest')).toEqual(readBy('"id":2,"method":"pid"'));
  expect(readBy('notifications/cancelled')).toEqual(readBy('"id":3,"method":"pid"'));
  gate.open();
  for (const { id } of slow) await client.take((m) => m.id === id);
  await other.take((m) => m.id === 1);
});

verifies('bus/14.10/answers-back', async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  const pids = [];
  for (const sessionId of ['one', 'two']) pids.push((await client.ask('pid', {}, { sessionId }))['pid']);
  expect(new Set(pids).size).toBe(2);
  // Two workers ask the same client under the same id, as every SDK does: it starts at 0.
  const asked = ['one', 'two'].map((text) => client.request('ask', { id: 0, text }, { sessionId: text }));
  for (let n = 0; n < 2; n++) {
    const { params, id } = await client.take((m) => m.method === 'question', 'a question');
    client.send({ jsonrpc: '2.0', id, result: { for: params?.['text'] } });
  }
  for (const [at, text] of ['one', 'two'].entries()) {
    const answer = await client.take((m) => m.id === asked[at] && m.method === undefined);
    expect(JSON.parse(got(answer))).toMatchObject({ id: 0, result: { for: text } });
    expect(answer.result?.['pid']).toBe(pids[at]);
  }
});
