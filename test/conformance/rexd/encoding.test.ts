// REXD v1: how messages look on the wire.

import { expect } from 'vitest';
import { startRexd } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';

const open = (id: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'session.open', params: { client_name: 'tést ✓' } });

verifies('rexd/encoding/ndjson', async () => {
  await using rexd = startRexd();
  rexd.write(`${open(1)}\r\n${open(2)}\n`);
  expect(new Set([(await rexd.answer()).id, (await rexd.answer()).id])).toEqual(new Set([1, 2]));
});

verifies('rexd/encoding/ndjson', async () => {
  await using rexd = startRexd();
  const bytes = Buffer.from(`${open(1)}\n`);
  for (const byte of bytes) rexd.write(Buffer.of(byte)); // a character of several bytes arrives in pieces
  expect((await rexd.answer()).id).toBe(1);
});

verifies('rexd/encoding/json-rpc', async () => {
  await using rexd = startRexd();
  const refused: [string, number][] = [
    ['{not json', -32700],
    ['', -32700],
    ['[]', -32600],
    ['7', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"session.info"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":5}', -32600],
  ];
  for (const [line, code] of refused) expect((await rexd.exchange(line)).error?.code, line).toBe(code);
  expect((await rexd.exchange(open(1))).result).toBeDefined();
});

verifies('rexd/messages/response-id', async () => {
  await using rexd = startRexd();
  for (const id of ['0', '""', '"a\\u0062"', '-7', '1.5', '9007199254740993', '1e2', 'null']) {
    rexd.write(`{"jsonrpc":"2.0","id":${id},"method":"session.open","params":{"client_name":"t"}}\n`);
    const line = await rexd.line();
    const written = id === '"a\\u0062"' ? [`"id":"ab"`, `"id":${id}`] : [`"id":${id}`];
    expect(
      written.some((text) => line?.includes(text) === true),
      `${id} in ${line}`,
    ).toBe(true);
  }
});

verifies('rexd/messages/notification', async () => {
  await using rexd = startRexd();
  rexd.write('{"jsonrpc":"2.0","method":"session.info","params":{"session_id":"s_none"}}\n');
  rexd.write('{"jsonrpc":"2.0","method":"no.such"}\n');
  expect((await rexd.exchange(open('after'))).id).toBe('after');
});

verifies('rexd/errors/method-not-found', async () => {
  await using rexd = startRexd();
  expect((await rexd.call('no.such')).error).toMatchObject({ code: -32601, data: { method: 'no.such' } });
});

verifies('rexd/errors/structured', async () => {
  await using rexd = startRexd();
  const { error } = await rexd.call('session.info', { session_id: 5 });
  expect(error).toMatchObject({
    code: expect.any(Number),
    message: expect.stringMatching(/./),
    data: expect.any(Object),
  });
});

verifies('rexd/transport/stdio', async () => {
  await using rexd = startRexd();
  rexd.write(open('last')); // no newline: the end of the input ends the line too
  rexd.endInput();
  expect((await rexd.answer()).id).toBe('last');
  expect(await rexd.rest()).toEqual([]);
  expect(await rexd.ended).toEqual({ code: 0, signal: null });
});
