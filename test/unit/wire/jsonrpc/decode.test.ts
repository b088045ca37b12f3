import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeLine } from '../../../../src/wire/jsonrpc/decode.js';
import { runs } from '../../../helpers/runs.js';

const kindOf = (text: string): string => decodeLine(text, 10).kind;
const reasonOf = (text: string): unknown => {
  const line = decodeLine(text, 10);
  return line.kind === 'bad-request' ? [line.reason, line.rawId] : line.kind;
};

test('each kind of message is known for what it is', () => {
  expect(kindOf('{"jsonrpc":"2.0","id":0,"method":"m"}')).toBe('request');
  expect(kindOf('{"jsonrpc":"2.0","id":"","method":""}')).toBe('request');
  expect(kindOf('{"jsonrpc":"2.0","id":null,"method":"m"}')).toBe('request');
  expect(kindOf('{"jsonrpc":"2.0","method":"m","params":[]}')).toBe('notification');
  expect(kindOf('{"jsonrpc":"2.0","id":1,"result":null}')).toBe('response');
  expect(kindOf('{"jsonrpc":"2.0","id":1,"result":1,"error":null}')).toBe('response');
  expect(kindOf('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}')).toBe('response');
  expect(kindOf('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}')).toBe('cancel');
  expect(kindOf('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}')).toBe(
    'cancel',
  );
  expect(kindOf('[{"jsonrpc":"2.0","method":"m"}]')).toBe('batch');
});

test('a line may end in a carriage return, and a blank one is nothing', () => {
  expect(kindOf('{"jsonrpc":"2.0","method":"m"}\r')).toBe('notification');
  expect(kindOf('')).toBe('blank');
  expect(kindOf(' \t\r')).toBe('blank');
  expect(kindOf('\u0000')).toBe('parse-error');
});

test('what is wrong with a request is said, with its id if it has a legal one', () => {
  expect(reasonOf('5')).toEqual(['a request is an object', 'null']);
  expect(reasonOf('null')).toEqual(['a request is an object', 'null']);
  expect(reasonOf('{"id":1.0,"method":"m"}')).toEqual(['jsonrpc must be "2.0"', '1.0']);
  expect(reasonOf('{"jsonrpc":2.0,"id":1,"method":"m"}')).toEqual(['jsonrpc must be "2.0"', '1']);
  expect(reasonOf('{"jsonrpc":"2.0","id":7,"method":5}')).toEqual(['method must be a string', '7']);
  expect(reasonOf('{"jsonrpc":"2.0","id":"x"}')).toEqual(['method must be a string', '"x"']);
  for (const params of ['"text"', '1', 'true']) {
    expect(reasonOf(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`)).toEqual([
      'params must be an object or an array',
      '1',
    ]);
  }
  for (const id of ['{}', '[1]', 'true']) {
    expect(reasonOf(`{"jsonrpc":"2.0","id":${id},"method":"m"}`)).toEqual([
      'id must be a string, a number or null',
      'null',
    ]);
  }
  expect(reasonOf('[]')).toEqual(['a batch must not be empty', 'null']);
});

test('what looks like a response is never taken for a request', () => {
  expect(kindOf('{"jsonrpc":"2.0","result":1}')).toBe('bad-response');
  expect(kindOf('{"jsonrpc":"2.0","id":{},"result":1}')).toBe('bad-response');
  expect(kindOf('{"id":1,"result":1}')).toBe('bad-response');
  expect(kindOf('{"jsonrpc":"2.0","id":1,"error":"no"}')).toBe('bad-response');
  expect(kindOf('{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"no"}}')).toBe('bad-response');
  expect(kindOf('{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"no"}}')).toBe(
    'bad-response',
  );
});

test('unknown fields are tolerated, of equal ones the last counts', () => {
  expect(
    decodeLine('{"jsonrpc":"1.0","x":1,"id":1,"method":"a","method":"b","jsonrpc":"2.0","id":2.0}', 10),
  ).toEqual({
    kind: 'request',
    method: 'b',
    params: undefined,
    id: 2,
    rawId: '2.0',
    body: { jsonrpc: '2.0', x: 1, id: 2, method: 'b' },
  });
});

test('each member of a batch keeps its own id as written', () => {
  const line = decodeLine(
    '[{"jsonrpc":"2.0","method":"m","id":1.0},{"jsonrpc":"2.0","method":"m","params":{"id":9},"id":"\\u0061"}, 3]',
    10,
  );
  expect(
    line.kind === 'batch' && line.members.map((member) => ('rawId' in member ? member.rawId : '')),
  ).toEqual(['1.0', '"\\u0061"', 'null']);
});

test('a batch over the cap is not looked into', () => {
  expect(decodeLine(`[${Array.from({ length: 11 }, () => '1').join(',')}]`, 10)).toEqual({
    kind: 'batch-too-long',
    length: 11,
  });
});

test('no text makes it throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), (text) => {
      expect(decodeLine(text, 5).kind).toEqual(expect.any(String));
    }),
    { numRuns: runs(1000) },
  );
});
