import { expect, test } from 'vitest';
import {
  encodeBatch,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  MAX_QUOTED_METHODS,
  RawJson,
} from '../../../../src/wire/jsonrpc/encode.js';
import { joinPieces, type Line } from '../../../../src/wire/ndjson/pieces.js';

function textOf(line: Line): string {
  if (typeof line === 'string') return line;
  return joinPieces(line instanceof Uint8Array ? [line] : line).toString();
}

test('messages are one line of JSON each, the id as it came', () => {
  expect(encodeResult('1.0', { a: 'x\ny' })).toBe('{"jsonrpc":"2.0","id":1.0,"result":{"a":"x\\ny"}}');
  expect(encodeResult('null', undefined)).toBe('{"jsonrpc":"2.0","id":null,"result":null}');
  expect(encodeError('"a"', { code: 1, message: 'no', data: [1] })).toBe(
    '{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no","data":[1]}}',
  );
  expect(encodeRequest(3, 'm"', { p: 1 })).toBe('{"jsonrpc":"2.0","id":3,"method":"m\\"","params":{"p":1}}');
  expect(encodeRequest(3, 'm', undefined)).toBe('{"jsonrpc":"2.0","id":3,"method":"m"}');
  expect(encodeNotification('m', [1])).toBe('{"jsonrpc":"2.0","method":"m","params":[1]}');
});

test('what has no JSON form is refused', () => {
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  for (const value of [cycle, 1n, () => 1, Symbol('s')])
    expect(() => encodeResult('1', value)).toThrow(TypeError);
});

test('raw JSON is put in as it is, as text or as bytes', () => {
  expect(encodeResult('1', new RawJson('{"a":1.0}'))).toBe('{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}');
  expect(textOf(encodeResult('1', new RawJson(Buffer.from('[1.0]'))))).toBe(
    '{"jsonrpc":"2.0","id":1,"result":[1.0]}',
  );
  expect(textOf(encodeNotification('m', new RawJson(new TextEncoder().encode('{}'))))).toBe(
    '{"jsonrpc":"2.0","method":"m","params":{}}',
  );
});

test('raw JSON with a newline would break the framing and is refused', () => {
  expect(() => encodeResult('1', new RawJson('[1,\n2]'))).toThrow('newline');
  expect(() => encodeResult('1', new RawJson(Buffer.from('[1,\n2]')))).toThrow('newline');
});

test('a batch joins text and bytes in order', () => {
  expect(encodeBatch(['1', '2'])).toBe('[1,2]');
  expect(textOf(encodeBatch(['1', ['{', Buffer.from('"a":'), '2}'], Buffer.from('3')]))).toBe(
    '[1,{"a":2},3]',
  );
});

test('every method name is quoted right, also when there are more than are kept', () => {
  for (let round = 0; round < 2; round++)
    for (let i = 0; i <= MAX_QUOTED_METHODS + 10; i++)
      expect(JSON.parse(encodeNotification(`"${i}"\n`, undefined) as string)).toEqual({
        jsonrpc: '2.0',
        method: `"${i}"\n`,
      });
});
