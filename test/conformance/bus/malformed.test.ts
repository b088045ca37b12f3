// stdio Bus: what is malformed closes the client that sent it, and nobody else notices.

import { expect } from 'vitest';
import { BusUnderTest, skipForeign } from '../../helpers/bus.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const BOM = '\ufeff';
const NO_JSON = [
  'not json',
  '[1]',
  '42',
  '"text"',
  'null',
  'true',
  '   ',
  '\t',
  `${BOM}{"id":1,"method":"echo"}`,
  '{',
];
const DEEPER = [
  '{"id":1,"method":"echo","params":{"a":}}',
  '{"id":1,"method":"echo","params":[1}}',
  '{"id":1,"method":"echo","params":[1,]}',
  '{"id":1,"method":"echo",}',
  '{"id":1,"method":"echo"} x',
  '{"id":1,"method":"echo"}{"id":2,"method":"echo"}',
  '{"id":1,"method":"echo","params":"\\q"}',
  '{"id":1,"method":"echo","params":007}',
  '{"id":1,"method":"echo","params":[1 2]}',
  '{"id":1,"method":"echo","params":{"a" 1}}',
  '{"id":1,"method":"echo","params":{a:1}}',
  "{'id':1,'method':'echo'}",
  '{"id":1,"method":"echo","params":"\\u00g0"}',
  '{"id":1,"method":"echo","params":[.5]}',
  '{"id":1,"method":"echo","params":[1.]}',
  '{"id":1,"method":"echo","params":[1e]}',
  '{"id":1,"method":"echo","params":[+1]}',
  '{"id":01,"method":"echo"}',
  '{"id":1,"method":"echo","params":[NaN]}',
  '{"id":1,"method":"echo"}}',
  '{"id":1,"method":"echo","params":"open}',
];
const BROKEN = [
  '{"id":1,"method":"echo","params":tru}',
  '{"id":1,"method":"echo","params":"a\tb"}',
  '{"id":1,"method":"echo","params":"a\0b"}',
  '{"id":1abc,"method":"echo"}',
  '{"id":1,"method":"echo","params":nulll}',
];

/** Sends each line by a client of its own; another client must be served through all of it. */
async function closesOnlyItself(mode: 'unix' | 'tcp' | 'stdio', lines: readonly string[]): Promise<void> {
  await using bus = await BusUnderTest.start({ mode });
  await using bystander = await bus.connect();
  const { pid } = await bystander.ask('pid');
  for (const line of lines) {
    await using client = await bus.connect();
    client.send(line);
    const [answer, ...more] = (await client.rest()).map((bytes) => JSON.parse(bytes.toString()) as unknown);
    expect(answer, line).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
    expect(more, line).toEqual([]);
    expect(await bystander.ask('pid')).toEqual({ pid });
  }
  expect(bus.child.exitCode).toBeNull();
}

verifies(
  ['bus/row/4', 'bus/4.2.1/object', 'bus/row/41'],
  async (mode) => await closesOnlyItself(mode, NO_JSON),
);
verifies('bus/row/5', async (mode) => await closesOnlyItself(mode, DEEPER));
verifies('bus/row/6', async (mode) => await closesOnlyItself(mode, BROKEN));

verifies('bus/4.3/bad-json', async (mode) => {
  await using bus = await BusUnderTest.start({ mode });
  await using client = await bus.connect();
  client.send('{"jsonrpc":"2.0","id":"before","method":"echo"}');
  expect(await client.message()).toMatchObject({ id: 'before' });
  // Both at once: to write where nobody reads any more would cost us the answer to the first.
  await client.write('{not json\n{"jsonrpc":"2.0","id":"after","method":"echo"}\n');
  const rest = (await client.rest()).map((bytes) => JSON.parse(bytes.toString()) as object);
  expect(rest).toMatchObject([{ id: null, error: { code: -32700 } }]);
  await until(() => bus.stderr !== '', 'a line of the log');
  if (mode === 'stdio') {
    expect(await bus.ended).toEqual({ code: 0, signal: null });
    return;
  }
  await using next = await bus.connect();
  expect((await next.call('echo')).result).toBeDefined();
});

verifies(['bus/row/3', 'bus/4.3/no-routing-field'], async () => {
  await using bus = await BusUnderTest.start();
  await using bystander = await bus.connect();
  for (const line of ['{}', '{"jsonrpc":"2.0"}', '{"params":{"id":1,"method":"x"}}', '{"result":1}']) {
    const before = bus.stderr.length;
    await using client = await bus.connect();
    client.send(line);
    const rest = (await client.rest()).map((bytes) => JSON.parse(bytes.toString()) as object);
    for (const message of rest) expect(message, line).toMatchObject({ id: null, error: { code: -32600 } });
    await until(() => bus.stderr.length > before, `a warning about ${line}`);
    await bystander.ask('echo');
  }
  expect(bus.notes().filter(({ line }) => line !== undefined)).toHaveLength(4);
});

verifies('bus/14.5/lenient', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ config: { lenient: true } });
  await using client = await bus.connect();
  client.send('{"params":[]}');
  await client.ask('echo');
  const lines = bus.notes().flatMap(({ line }) => (line === undefined ? [] : [line]));
  expect(Buffer.from(lines[0] ?? '', 'base64').toString()).toBe('{"params":[]}');
});

verifies('bus/row/7', async () => {
  await using bus = await BusUnderTest.start();
  await using bystander = await bus.connect();
  await using client = await bus.connect();
  const before = '{"jsonrpc":"2.0","id":1,"method":"echo","params":"';
  await client.write(
    Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"}\n')]),
  );
  await Promise.race([client.next(), client.ended()]); // forwarded as it is, or refused: never silence
  expect((await bystander.call('echo')).result).toBeDefined();
});

verifies(['bus/row/29', 'bus/ours/memory'], async () => {
  await using bus = await BusUnderTest.start({ limits: { max_input_buffer: 100_000 } });
  await using bystander = await bus.connect();
  await using client = await bus.connect();
  client.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":"${'x'.repeat(99_000)}"}`);
  expect(await client.message()).toMatchObject({ id: 1 });
  const tooLong = `{"jsonrpc":"2.0","id":2,"method":"echo","params":"${'x'.repeat(100_000)}"}`;
  client.send(tooLong);
  const rest = (await client.rest()).map((bytes) => JSON.parse(bytes.toString()) as object);
  expect(rest).toMatchObject([{ error: { code: -32600 } }]);
  await using endless = await bus.connect();
  const writing = endless.write(Buffer.alloc(8 * 1024 * 1024, 'x'));
  expect((await endless.rest()).map((bytes) => JSON.parse(bytes.toString()) as object)).toMatchObject([
    { error: {} },
  ]);
  endless.destroy();
  await writing;
  expect((await bystander.call('echo')).result).toBeDefined();
  expect(bus.notes().filter(({ line, bytes }) => (line ?? bytes) !== undefined)).toHaveLength(2);
});

verifies('bus/row/39', async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  client.send(`{"jsonrpc":"2.0","id":1,"method":"pid","params":${nested}}`);
  await Promise.race([client.next(), client.ended()]);
  await using other = await bus.connect();
  expect((await other.call('echo')).result).toBeDefined();
});
