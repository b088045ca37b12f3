// stdio Bus: length framing on the side of the clients, lines on the side of the workers.

import { expect } from 'vitest';
import { BusUnderTest } from '../../helpers/bus.js';
import { type BusPeer, echoed, frame } from '../../helpers/bus-client.js';
import { verifies } from '../kit/verifies.js';

verifies('bus/ours/length', async () => {
  for (const mode of ['unix', 'stdio'] as const) {
    await using bus = await BusUnderTest.start({ mode, framing: 'length' });
    await using client = await bus.connect();
    const bodies = ['{"jsonrpc":"2.0","id":1,"method":"echo"}', ' {"id" : "ü😀", "method":"echo"}\r'];
    for (const body of bodies) {
      client.send(body);
      expect(echoed(await client.message()).toString()).toBe(body);
    }
    for (const byte of frame(Buffer.from('{"id":3,"method":"pid"}'))) await client.write(Uint8Array.of(byte));
    expect(await client.message()).toMatchObject({ id: 3 });
    const three = [4, 5, 6].map((id) => frame(Buffer.from(`{"id":${id},"method":"pid"}`)));
    await client.write(Buffer.concat(three));
    for (const id of [4, 5, 6]) expect(await client.message()).toMatchObject({ id });
    const long = `{"id":7,"method":"digest","params":"${'x'.repeat(900_000)}"}`;
    client.send(long);
    expect(await client.message()).toMatchObject({ id: 7, result: { bytes: long.length } });
    await client.ask('flood', { count: 100, bytes: 1000 }, { sessionId: 's' });
    for (let n = 0; n < 100; n++) expect((await client.message()).params?.['n']).toBe(n);
    expect(client.fragment).toHaveLength(0);
  }
});

verifies('bus/ours/length-too-large', async () => {
  await using bus = await BusUnderTest.start({ framing: 'length', limits: { max_input_buffer: 1000 } });
  await using bystander = await bus.connect();
  const bad: [Buffer, number][] = [
    [Buffer.from([0x7f, 0xff, 0xff, 0xff, 0x7b]), -32600],
    [Buffer.concat([frame(Buffer.alloc(1001, 0x20))]), -32600],
    [frame(Buffer.from('not json')), -32700],
    [frame(Buffer.from('{"id":1,"method":"pid"}\n{"id":2,"method":"pid"}')), -32700],
  ];
  for (const [bytes, code] of bad) {
    await using client: BusPeer = await bus.connect();
    await client.write(bytes);
    expect((await client.rest()).map((body) => JSON.parse(body.toString()) as object)).toMatchObject([
      { id: null, error: { code } },
    ]);
    expect((await bystander.call('pid')).result).toBeDefined();
  }
  // A newline inside a body is white space for JSON, and would be the end of a line for the worker.
  await using client = await bus.connect();
  client.send('{"id":1,\n"method":"pid"}');
  await Promise.race([client.next(), client.ended()]);
  expect((await bystander.call('pid')).result).toBeDefined();
});
