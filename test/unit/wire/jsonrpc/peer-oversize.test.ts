// Lines over the cap are refused under their own id where they begin with one; null stands for no params.

import { expect, test } from 'vitest';
import { wirePeer } from './wire-side.js';

const echo = ({ params }: { readonly params?: unknown }): unknown => params;

const long = 'x'.repeat(5000);
test.each([
  [`{"id":9007199254740993,"method":"${long}"}`, '9007199254740993'],
  [`{ "jsonrpc" : "2.0", "id" : "a-1" , "method": "${long}"}`, '"a-1"'],
  [`{"jsonrpc":"2.0","method":"${long}","id":1}`, 'null'],
  [`{"jsonrpc":"2.0","id":"${long}"}`, 'null'],
  [`{"jsonrpc":"2.0","id":1e5,"method":"${long}"}`, 'null'],
  [long, 'null'],
])('over the cap is refused under its id where it begins with one (%#)', async (line, id) => {
  await using served = wirePeer({ onRequest: echo, maxLineBytes: 1000 });
  served.wire.send(line);
  expect((await served.wire.take(1))[0]).toContain(`"id":${id},"error":{"code":-32600`);
});

test('null stands for no params', async () => {
  await using served = wirePeer({ onRequest: ({ params }) => [typeof params] });
  served.wire.send('{"jsonrpc":"2.0","id":1,"method":"m","params":null}');
  expect(await served.wire.takeJson()).toEqual({ jsonrpc: '2.0', id: 1, result: ['undefined'] });
});
