// stdio Bus: not one byte of a message is changed, either way, however it is cut into writes.

import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { BusUnderTest } from '../../helpers/bus.js';
import { type BusPeer, echoed } from '../../helpers/bus-client.js';
import { verifies } from '../kit/verifies.js';

/** Lines that an innocent re-serialisation would change. */
const ODD_LINES = [
  '{"jsonrpc":"2.0","id":1,"method":"echo"}\r',
  '  {"jsonrpc" : "2.0" ,\t"id": 2 , "method":"echo" }  ',
  '{"method":"echo","params":{"b":1,"a":2,"b":3},"id":3,"jsonrpc":"2.0"}',
  '{"jsonrpc":"2.0","id":4,"method":"echo","params":{"text":"ü \\u00fc \\/ \\ud83d\\ude00 😀 \u2028\u2029 \u007f"}}',
  '{"jsonrpc":"2.0","id":5,"method":"echo","params":[1.0,1e3,-0,10000000000000000000001,0.1e-7]}',
  '{"id":6,"jsonrpc":"2.0","method":"echo","extra":{"id":99,"method":"x"},"agentId":"a","_ext":{"audit":[]}}',
  '{"jsonrpc":"2.0","method":"echo","params":{"id":98,"result":1,"error":2,"sessionId":7},"id":7}',
  '{"jsonrpc":"2.0","id":8,"method":"ec\\u0068o","params":null}',
  '\r{"jsonrpc":"2.0","id":9,"method":"echo"}\t\r',
];

verifies(
  [
    'bus/4.2.3/unmodified',
    'bus/row/1',
    'bus/row/8',
    'bus/14.11/carriage-return',
    'bus/3.2/ndjson',
    'bus/3.3/reads',
  ],
  async (mode) => {
    await using bus = await BusUnderTest.start({ mode });
    await using client = await bus.connect();
    for (const line of ODD_LINES) {
      client.send(line);
      expect(echoed(await client.message()).toString(), line).toBe(line);
    }
  },
);

verifies(['bus/4.2.3/newline', 'bus/4.2.3/ndjson', 'bus/3.3/writes'], async (mode) => {
  await using bus = await BusUnderTest.start({ mode });
  await using client = await bus.connect();
  const answers = [
    '{"jsonrpc":"2.0","id":1,"result":{"odd"  :  [1.0, 2e5]}}\r',
    ' {"result":"ü\\u00fc😀","id":1}  ',
    '{"id":1,"error":{"code":-1,"message":"no","data":{"id":5,"result":1}},"jsonrpc":"2.0","more":[]}',
  ];
  for (const answer of answers) {
    const lines = [Buffer.from(answer).toString('base64')];
    client.send({ jsonrpc: '2.0', id: 1, method: 'raw', params: { lines } });
    expect((await client.next())?.toString()).toBe(answer);
  }
  expect(client.fragment).toHaveLength(0);
});

verifies('bus/row/9', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const line = '{"jsonrpc":"2.0","id":"ü","method":"echo","params":{"text":"in pieces: 😀"}}';
  for (const byte of Buffer.from(`${line}\n`)) await client.write(Uint8Array.of(byte));
  expect(echoed(await client.message()).toString()).toBe(line);
  const three = [1, 2, 3].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"echo"}`);
  await client.write(`${three.join('\n')}\n`);
  for (const sent of three) expect(echoed(await client.message()).toString()).toBe(sent);
  // And the other way: an answer that the worker writes in pieces, cut inside a character.
  const answer = Buffer.from('{"jsonrpc":"2.0","id":4,"result":"ü😀"}\n');
  const parts = [answer.subarray(0, 34), answer.subarray(34, 37), answer.subarray(37)];
  client.send({
    jsonrpc: '2.0',
    id: 4,
    method: 'pieces',
    params: { parts: parts.map((part) => part.toString('base64')) },
  });
  expect((await client.next())?.toString()).toBe(answer.toString().trimEnd());
});

verifies('bus/4.2.1/ndjson', async (mode) => {
  await using bus = await BusUnderTest.start({ mode });
  await using client = await bus.connect();
  const sizes = [10, 4095, 4096, 65_500, 65_536, 65_537, 131_072, 300_000, 900_000];
  const lines = sizes.map(
    (size, at) =>
      `{"jsonrpc":"2.0","method":"digest","params":{"pad":"${'é'.repeat(size / 2)}"},"id":${at + 1}}`,
  );
  for (const line of lines) client.send(line);
  for (const line of lines) await expectDigest(client, line);
  const { result } = await client.call('big', { bytes: 900_000 });
  expect(String(result?.['pad'])).toHaveLength(900_000);
});

verifies(['bus/ours/blank-lines', 'bus/4.1.2/stays-open'], async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  await client.write('\n\n');
  expect((await client.call('echo')).result).toBeDefined();
  await client.write('\n');
  expect((await client.call('echo')).result).toBeDefined();
  await new Promise((resolve) => setTimeout(resolve, 300)); // it is about nothing happening to a silent connection
  expect((await client.call('echo')).result).toBeDefined();
});

verifies(['bus/4.2.2/minimal', 'bus/4.2.1/json-rpc', 'bus/3.5/params'], async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const lines = [
    '{"id":1,"method":"echo"}',
    '{"jsonrpc":"1.0","id":2,"method":"echo","params":"text"}',
    '{"jsonrpc":2,"id":3,"method":"echo","params":[[[]]]}',
    '{"id":4,"method":""}',
    '{"id":5}',
    '{"jsonrpc":"2.0","id":6,"method":"echo","result_":1,"params":{"result":2}}',
  ];
  for (const line of lines) {
    client.send(line);
    if (line === '{"id":5}') continue; // a message with an id is forwarded; the worker of the tests says nothing to it
    expect(echoed(await client.message()).toString(), line).toBe(line);
  }
});

verifies('bus/row/10', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  client.send('{"jsonrpc":"2.0","id":1,"method":"echo"}');
  await client.write('{"jsonrpc":"2.0","id":2,"method":"echo"}');
  client.end();
  const lines = await client.rest();
  expect(lines).toHaveLength(1);
  expect(bus.notes().filter(({ line }) => line !== undefined)).toHaveLength(1);
});

verifies('bus/4.2.1/newline', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  await client.write('{"jsonrpc":"2.0","id":1,"method":"echo"}');
  await using other = await bus.connect();
  await other.ask('echo'); // whatever was whole would have been forwarded by now
  expect(bus.notes().filter(({ line }) => line !== undefined)).toHaveLength(1);
  await client.write('\n');
  expect(echoed(await client.message()).toString()).toBe('{"jsonrpc":"2.0","id":1,"method":"echo"}');
});

verifies(['bus/row/2', 'bus/4.2.2/method'], async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const line = '{"jsonrpc":"2.0","method":"tell","params":{"a":  1}}';
  client.send(line);
  const { heard } = await client.ask('heard');
  expect((heard as string[]).map((text) => Buffer.from(text, 'base64').toString())).toEqual([line]);
  expect(client.waiting).toBe(0);
});

verifies('bus/ours/pass-on', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  for (const method of ['rpc.discover', '$/setTrace', 'initialize', 'ping', 'stats', 'bus', 'busy/stats'])
    expect(echoed(await client.call(method)).toString()).toContain(`"method":"${method}"`);
});

async function expectDigest(client: BusPeer, line: string): Promise<void> {
  const { result } = await client.message();
  expect(result).toMatchObject({
    bytes: Buffer.byteLength(line),
    sha256: createHash('sha256').update(line).digest('hex'),
  });
}
