// The scanner says what JSON.parse says, of every line, valid or not.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byJsonParse, byScanner } from './expected-fields.js';
import { mutatedLine, validLine } from './random-lines.js';

/** True when both say the same; the message of a failure shows the line. */
function isSame(line: Buffer, before = 0): boolean {
  expect(byScanner(line, before), line.toString()).toEqual(byJsonParse(line));
  return true;
}

test('a valid line is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(validLine, fc.nat(7), (line, before) => {
      expect(byJsonParse(line)).toBeDefined();
      isSame(line, before);
    }),
    { numRuns: 2500 },
  );
});

test('a damaged line is believed exactly when JSON.parse believes it', () => {
  expect.hasAssertions();
  fc.assert(fc.property(mutatedLine, fc.nat(7), isSame), { numRuns: 5000 });
});

test('random bytes are refused as JSON.parse refuses them', () => {
  expect.hasAssertions();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) =>
      isSame(
        Buffer.from(
          `{"id":1,"a":"${Buffer.from(bytes.filter((b) => b !== 10)).toString('latin1')}"}`,
          'latin1',
        ),
      ),
    ),
    { numRuns: 1500 },
  );
});

test('any value of the library is read the same when it is written by JSON.stringify', () => {
  expect.hasAssertions();
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('id', 'params', 'sessionId', 'method', 'x'), fc.jsonValue()),
      (value) => isSame(Buffer.from(JSON.stringify(value))),
    ),
    { numRuns: 1000 },
  );
});

test.each([
  ['the last of equal keys counts', '{"id":1,"id":"two","id":3}'],
  [
    'also when it is one that cannot be used',
    '{"id":1,"method":"a","sessionId":"s","pool":"p","id":null,"method":5,"sessionId":{},"pool":[]}',
  ],
  ['a later params takes the sessionId of an earlier one away', '{"params":{"sessionId":"a"},"params":{}}'],
  [
    'and so does a scalar',
    '{"params":{"sessionId":"a"},"params":7,"result":{"sessionId":"b"},"result":null}',
  ],
  [
    'a nested sessionId that is no string takes the earlier one away',
    '{"params":{"sessionId":"a","sessionId":{"sessionId":"b"}}}',
  ],
  [
    'deeper keys do not count',
    '{"params":{"id":1,"x":{"sessionId":"s"}},"a":{"sessionId":"s","method":"m"}}',
  ],
  ['nor do those inside arrays', '{"params":[{"sessionId":"s","id":1}],"x":[["id",2]]}'],
  ['nor those inside strings', '{"a":"\\"id\\":5,\\"method\\":\\"m\\""}'],
  ['keys may be spelled with escapes', '{"\\u0069d":4,"\\u006dethod":"m","params":{"session\\u0049d":"s"}}'],
  ['an empty id is an id, an empty session is none', '{"id":"","sessionId":"","pool":"","method":""}'],
  ['zero is an id', '{"id":0}'],
  ['space is allowed where JSON allows it', ' \t{ "id" : 1 , "params" : { } , "x" : [ ] }\r'],
])('%s', (_name, line) => {
  const found = byScanner(Buffer.from(line));
  expect(found).toBeDefined();
  expect(found).toEqual(byJsonParse(Buffer.from(line)));
});

test.each([
  '',
  ' ',
  '\r',
  '42',
  '[1]',
  '"x"',
  'null',
  'not json',
  '{',
  '}',
  '{]',
  '[}',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,}',
  '{"a":1 "b":2}',
  '{"a":1}}',
  '{"a":1}{"b":2}',
  '{"a":1} x',
  '{"a":[1}',
  '{"a":[1,]}',
  '{"a":tru}',
  '{"a":nulll}',
  '{"a":1abc}',
  '{"a":007}',
  '{"a":-}',
  '{"a":1.}',
  '{"a":.5}',
  '{"a":1e}',
  '{"a":+1}',
  '{"a":"\\q"}',
  '{"a":"\\u12g4"}',
  '{"a":"\\u12"}',
  '{"a":"\t"}',
  '{"a":"\0"}',
  "{'a':1}",
  '{a:1}',
  '{"a":"',
  '{"a',
  '{"a":"\\',
  '\uFEFF{"a":1}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"id":01}',
  '{"id":-}',
  '{"id":"\\x"}',
])('%j is no JSON object', (line) => {
  expect(byScanner(Buffer.from(line))).toBeUndefined();
  expect(byJsonParse(Buffer.from(line))).toBeUndefined();
});

test('bytes that are no UTF-8 pass inside strings, and nowhere else', () => {
  isSame(Buffer.from('{"id":"\xff\xfe","a":"\x80"}', 'latin1'));
  expect(byScanner(Buffer.from('{"id":1}\xa0', 'latin1'))).toBeUndefined();
});

test('a hundred thousand levels deep', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"params":', '}'],
  ] as const) {
    const line = `{"id":7,"x":${open.repeat(100_000)}1${close.repeat(100_000)},"method":"m"}`;
    expect(byScanner(Buffer.from(line))).toMatchObject({ id: 7, method: 'm' });
    expect(byScanner(Buffer.from(line.slice(0, -20)))).toBeUndefined();
  }
});

test('strings of a megabyte, with what must be seen anywhere in them', () => {
  const long = 'x'.repeat(1 << 20);
  isSame(Buffer.from(`{"a":"${long}","id":5,"method":"${long}"}`));
  for (const at of [1000, 1001, 1002, 1003, 70_001]) {
    for (const piece of ['\\"', '\\\\', '\u001f', '\\u00e9', 'é', '\\x']) {
      const text = `${long.slice(0, at)}${piece}${long.slice(at, 80_000)}`;
      expect(isSame(Buffer.from(`{"a":"${text}","id":5}`))).toBe(true);
    }
  }
});
