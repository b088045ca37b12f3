// The examples of section 7 of the JSON-RPC 2.0 document, one test each, in its order.

import * as z from 'zod/mini';
import { expect, test } from 'vitest';
import { defineMethod } from '../../../../src/wire/jsonrpc/method.js';
import { Router } from '../../../../src/wire/jsonrpc/router.js';
import { wirePeer } from './wire-side.js';

const numbers = z.array(z.number());
const nothing = z.null();
const Subtract = defineMethod({
  name: 'subtract',
  params: z.object({ minuend: z.number(), subtrahend: z.number() }),
  positional: ['minuend', 'subtrahend'],
  result: z.number(),
  errors: [],
  summary: 'Minuend less subtrahend.',
});
const Sum = defineMethod({
  name: 'sum',
  params: numbers,
  positional: true,
  result: z.number(),
  errors: [],
  summary: '',
});
const GetData = defineMethod({
  name: 'get_data',
  params: z.object({}),
  result: z.array(z.unknown()),
  errors: [],
  summary: '',
});
const Update = defineMethod({
  name: 'update',
  params: numbers,
  positional: true,
  result: nothing,
  errors: [],
  summary: '',
});
const NotifyHello = defineMethod({ ...Update, name: 'notify_hello' });
const NotifySum = defineMethod({ ...Update, name: 'notify_sum' });

function serve(): ReturnType<typeof wirePeer> & { notified: string[] } {
  const notified: string[] = [];
  const router = new Router<undefined>()
    .method(Subtract, ({ minuend, subtrahend }) => minuend - subtrahend)
    .method(Sum, (all) => Promise.resolve(all.reduce((sum, value) => sum + value, 0)))
    .method(GetData, () => ['hello', 5])
    .method(Update, () => null)
    .method(NotifyHello, () => null)
    .method(NotifySum, () => null);
  return {
    notified,
    ...wirePeer({
      onRequest: (call) => router.call(call.method, call.params, undefined),
      onNotification: (call) => {
        notified.push(`${call.method} ${JSON.stringify(call.params)}`);
        return router.call(call.method, call.params, undefined);
      },
    }),
  };
}

const PARSE_ERROR = {
  jsonrpc: '2.0',
  error: {
    code: -32700,
    message: expect.stringMatching(/^Parse error at byte \d+: ./) as string,
    data: { offset: expect.any(Number) as number, reason: expect.any(String) as string },
  },
  id: null,
};
const INVALID_REQUEST = {
  jsonrpc: '2.0',
  error: { code: -32600, message: 'Invalid Request', data: { reason: expect.any(String) as string } },
  id: null,
};

test('1 rpc call with positional parameters', async () => {
  await using served = serve();
  const { wire } = served;
  expect(await wire.ask('{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}')).toEqual({
    jsonrpc: '2.0',
    result: 19,
    id: 1,
  });
  expect(await wire.ask('{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}')).toEqual({
    jsonrpc: '2.0',
    result: -19,
    id: 2,
  });
});

test('2 rpc call with named parameters', async () => {
  await using served = serve();
  const { wire } = served;
  for (const [id, params] of [
    [3, '{"subtrahend": 23, "minuend": 42}'],
    [4, '{"minuend": 42, "subtrahend": 23}'],
  ] as const) {
    expect(
      await wire.ask(`{"jsonrpc": "2.0", "method": "subtract", "params": ${params}, "id": ${id}}`),
    ).toEqual({
      jsonrpc: '2.0',
      result: 19,
      id,
    });
  }
});

test('3 a notification', async () => {
  await using served = serve();
  const { wire, notified } = served;
  wire.send(
    '{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}',
    '{"jsonrpc": "2.0", "method": "foobar"}',
  );
  // The next line that comes is the answer to the next request: the notifications had none, known or unknown.
  expect(await wire.ask({ jsonrpc: '2.0', method: 'get_data', id: 'next' })).toMatchObject({ id: 'next' });
  expect(notified).toEqual(['update [1,2,3,4,5]', 'foobar undefined']);
});

test('4 rpc call of non-existent method', async () => {
  await using served = serve();
  expect(await served.wire.ask('{"jsonrpc": "2.0", "method": "foobar", "id": "1"}')).toEqual({
    jsonrpc: '2.0',
    error: { code: -32601, message: 'Method not found', data: { method: 'foobar' } },
    id: '1',
  });
});

test('5 rpc call with invalid JSON', async () => {
  await using served = serve();
  expect(await served.wire.ask('{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]')).toEqual(
    PARSE_ERROR,
  );
});

test('6 rpc call with invalid Request object', async () => {
  await using served = serve();
  expect(await served.wire.ask('{"jsonrpc": "2.0", "method": 1, "params": "bar"}')).toEqual(INVALID_REQUEST);
});

test('7 rpc call batch, invalid JSON', async () => {
  await using served = serve();
  const line =
    '[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method" ]';
  expect(await served.wire.ask(line)).toEqual(PARSE_ERROR);
});

test('8 rpc call with an empty array', async () => {
  await using served = serve();
  expect(await served.wire.ask('[]')).toEqual(INVALID_REQUEST);
});

test('9 rpc call with an invalid batch, not empty', async () => {
  await using served = serve();
  expect(await served.wire.ask('[1]')).toEqual([INVALID_REQUEST]);
});

test('10 rpc call with invalid batch', async () => {
  await using served = serve();
  expect(await served.wire.ask('[1,2,3]')).toEqual([INVALID_REQUEST, INVALID_REQUEST, INVALID_REQUEST]);
});

test('11 rpc call batch', async () => {
  await using served = serve();
  const { wire, notified } = served;
  const batch = `[
    {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
    {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
    {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
    {"foo": "boo"},
    {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
    {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
  ]`;
  expect(await wire.ask(batch.replaceAll('\n', ' '))).toEqual([
    { jsonrpc: '2.0', result: 7, id: '1' },
    { jsonrpc: '2.0', result: 19, id: '2' },
    INVALID_REQUEST,
    {
      jsonrpc: '2.0',
      error: { code: -32601, message: 'Method not found', data: { method: 'foo.get' } },
      id: '5',
    },
    { jsonrpc: '2.0', result: ['hello', 5], id: '9' },
  ]);
  expect(notified).toEqual(['notify_hello [7]']);
});

test('12 rpc call batch, all notifications', async () => {
  await using served = serve();
  const { wire, notified } = served;
  wire.send(
    '[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]}, {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]',
  );
  expect(await wire.ask({ jsonrpc: '2.0', method: 'get_data', id: 'next' })).toMatchObject({ id: 'next' });
  expect(notified).toEqual(['notify_sum [1,2,4]', 'notify_hello [7]']);
});
