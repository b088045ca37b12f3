// stdio Bus: pools whose workers keep the session inside of params, or refuse keys that are not of JSON-RPC.

import { expect } from 'vitest';
import { BusUnderTest, skipForeign } from '../../helpers/bus.js';
import { echoed } from '../../helpers/bus-client.js';
import { verifies } from '../kit/verifies.js';

verifies('bus/ours/strip', async (_, skip) => {
  skipForeign(skip);
  await using plain = await BusUnderTest.start({ worker: ['--strict'] });
  await using refusedBy = await plain.connect();
  expect(await refusedBy.call('echo', {}, { sessionId: 's' })).toMatchObject({ error: { code: -32600 } });

  await using bus = await BusUnderTest.start({
    worker: ['--strict'],
    instances: 2,
    pool: { session: { strip: true } },
  });
  await using client = await bus.connect();
  const answer = await client.call('echo', { a: 1 }, { sessionId: 's' });
  expect(answer).toMatchObject({ sessionId: 's', result: {} });
  expect(JSON.parse(echoed(answer).toString())).not.toHaveProperty('sessionId');
  const { pid } = answer.result ?? {};
  for (let n = 0; n < 4; n++) expect((await client.ask('pid', {}, { sessionId: 's' }))['pid']).toBe(pid);
  for (const line of [
    '{"sessionId":"s","jsonrpc":"2.0","id":1,"method":"echo"}',
    '{"jsonrpc":"2.0", "sessionId" : "s" , "id":2,"method":"echo"}',
    '{"jsonrpc":"2.0","id":3,"method":"echo","params":{"sessionId":"s","x":"sessionId"},"sessionId":"s"}',
    '{"sessionId":"s","id":4,"method":"echo","sessionId":"s"}',
  ]) {
    client.send(line);
    const message = await client.message();
    const read = JSON.parse(echoed(message).toString()) as object;
    const { sessionId: _gone, ...expected } = JSON.parse(line) as { sessionId?: string };
    expect(read, line).toEqual(expected);
    expect(message.sessionId).toBe('s');
  }
  client.send('{ "jsonrpc":"2.0" ,"id":5, "method":"echo"}'); // nothing to strip: not one byte is changed
  expect(echoed(await client.message()).toString()).toBe('{ "jsonrpc":"2.0" ,"id":5, "method":"echo"}');
});

verifies('bus/ours/lift', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({
    worker: ['--strict'],
    instances: 3,
    pool: { session: { lift: true, strip: true } },
  });
  await using client = await bus.connect();
  await using other = await bus.connect();
  const { pid } = await client.ask('open', { name: 'acp-1' });
  for (let n = 0; n < 4; n++) expect((await client.ask('pid', { sessionId: 'acp-1' }))['pid']).toBe(pid);
  await client.ask('flood', { count: 3, inside: true, sessionId: 'acp-1' });
  expect(client.waiting).toBe(3);
  for (let n = 0; n < 3; n++)
    expect(await client.message()).toMatchObject({ params: { n, sessionId: 'acp-1' } });
  const asked = client.request('ask', { id: 9, text: 'may I?', inside: true, sessionId: 'acp-1' });
  expect(await client.message()).toMatchObject({ id: 9, method: 'question' });
  client.send({ jsonrpc: '2.0', id: 9, result: { ok: true } });
  expect((await client.take((m) => m.id === asked)).result?.['pid']).toBe(pid);
  expect(other.waiting).toBe(0);
});
