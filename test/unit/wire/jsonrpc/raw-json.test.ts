import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRawId, readRawMember, splitRawArray } from '../../../../src/wire/jsonrpc/raw-json.js';
import { runs } from '../../../helpers/runs.js';

test('an id is read as it was written', () => {
  for (const id of [
    '1',
    '1.0',
    '1e2',
    '-0',
    '9007199254740993',
    'null',
    '"a\\u0062"',
    '"\\"id\\":7"',
    '"\\\\"',
  ]) {
    expect(readRawId(`{"jsonrpc":"2.0","id":${id},"method":"m"}`)).toBe(id);
    expect(readRawId(`{ "method" : "m" , "id" :\t${id} }`)).toBe(id);
    expect(readRawId(`{"params":{"id":5,"x":[{"id":6}]},"id":${id}}`)).toBe(id);
  }
});

test('of equal keys the last counts, and a key may be written with escapes', () => {
  expect(readRawId('{"id":1,"id":1.0}')).toBe('1.0');
  expect(readRawId('{"id":1,"\\u0069d":2.0}')).toBe('2.0');
  expect(readRawId('{"i\\u0064":3e0}')).toBe('3e0');
  expect(readRawId('{"x":"\\"id\\":9","id":4.50}')).toBe('4.50');
});

test('an id whose value is known is read as it was written, or as an equal one was', () => {
  for (const id of [
    '1',
    '-1',
    '1.0',
    '1e2',
    '-0',
    '9007199254740993',
    'null',
    '""',
    '"a-1:2"',
    '"a\\u0062"',
  ]) {
    expect(readRawId(`{"jsonrpc":"2.0","id":${id},"method":"m"}`, JSON.parse(id))).toBe(id);
    expect(readRawId(`{"jsonrpc":"2.0","id":${id}}`, JSON.parse(id))).toBe(id);
    expect(readRawId(`{"jsonrpc":"2.0","method":"m","id": ${id} }`, JSON.parse(id))).toBe(id);
  }
  expect(readRawId('{"jsonrpc":"2.0","id":1,"method":"m","id":12}', 12)).toBe('12');
  expect(readRawId('{"jsonrpc":"2.0","id":12,"method":"m","id":1}', 1)).toBe('1');
});

test('a member that is not there is undefined', () => {
  expect(readRawMember('{"a":{"b":1}}', 'b')).toBeUndefined();
  expect(readRawMember('{}', 'b')).toBeUndefined();
});

test('a text nested deeper than any stack is read through', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  expect(readRawId(`{"params":${deep},"id":7.0,"x":{"id":1}}`)).toBe('7.0');
});

/** JSON text with white space, escapes and repeated keys as a sender may write them, beside its value. */
const space = fc.constantFrom('', ' ', '\t', ' \r ');
const token = fc.oneof(
  fc.constantFrom('1.0', '1e2', '-0', 'null', 'true', '9007199254740993'),
  fc.string().map((text) => JSON.stringify(text)),
  fc
    .string({ unit: fc.constantFrom('"', '\\', 'i', 'd', '{', '}', '[', ']', ',', ':') })
    .map((text) => JSON.stringify(text)),
  fc
    .string()
    .map(
      (text) =>
        `"${text.replaceAll(/[^]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`,
    ),
);
const key = fc.constantFrom('"id"', '"a"', '"\\u0069d"', '"ID"', '"i\\"d"', '"params"', '"\\\\"', '""');
const { value: json } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, token, tie('array'), tie('object')),
  array: fc
    .tuple(
      fc.array(
        fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
        { maxLength: 4 },
      ),
      space,
    )
    .map(([items, blank]) => `[${items.length === 0 ? blank : items.join(',')}]`),
  object: fc
    .tuple(
      fc.array(
        fc
          .tuple(space, key, space, fc.constant(':'), space, tie('value'), space)
          .map((parts) => parts.join('')),
        {
          maxLength: 5,
        },
      ),
      space,
    )
    .map(([members, blank]) => `{${members.length === 0 ? blank : members.join(',')}}`),
}));

test('what is read is what JSON.parse finds, for any text', () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 5 }), space, (values, blank) => {
      const text = `${blank}[${values.join(`${blank},`)}]${blank}`;
      const parsed = JSON.parse(text) as unknown[];
      const split = splitRawArray(text);
      expect(split.map((element) => JSON.parse(element) as unknown)).toEqual(parsed);
      for (const [i, element] of parsed.entries()) {
        if (typeof element !== 'object' || element === null || Array.isArray(element)) continue;
        for (const [name, value] of Object.entries(element)) {
          const raw = readRawMember(split[i] ?? '', name);
          expect(JSON.parse(raw ?? 'undefined')).toEqual(value);
        }
        const member = readRawMember(split[i] ?? '', 'id');
        expect('id' in element ? readRawId(split[i] ?? '') : undefined).toBe(member);
      }
    }),
    { numRuns: runs(3000) },
  );
});
