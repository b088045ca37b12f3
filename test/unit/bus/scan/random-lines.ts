// Lines for the scanner: objects full of the keys that matter, written in every way JSON allows, and damaged copies of them.

import fc from 'fast-check';

const KEYS = [
  'id',
  'sessionId',
  'params',
  'result',
  'error',
  'method',
  'pool',
  'requestId',
  'jsonrpc',
  'iD',
  'sessionID',
  'paramz',
  'resulT',
  'pooh',
  '',
  '__proto__',
  'constructor',
];

/** JSON text, not values: duplicates of keys, escapes, spaces and odd numbers are all in how a thing is written. */
const text = fc.letrec<{ value: string; object: string; string: string; key: string }>((tie) => ({
  string: fc.array(stringPiece(), { maxLength: 12 }).map((pieces) => `"${pieces.join('')}"`),
  key: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...KEYS).map((key) => `"${key}"`) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(...KEYS), fc.nat()).map(([key, at]) => escapeOne(key, at)),
    },
    { weight: 1, arbitrary: tie('string') },
  ),
  object: fc
    .array(fc.tuple(space(), tie('key'), space(), space(), tie('value'), space()), { maxLength: 6 })
    .chain((members) =>
      space().map(
        (inside) =>
          `{${members.length === 0 ? inside : members.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`).join(',')}}`,
      ),
    ),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('string'),
    scalar(),
    tie('object'),
    fc
      .array(fc.tuple(space(), tie('value'), space()), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
  ),
}));

export const validLine: fc.Arbitrary<Buffer> = fc
  .tuple(space(), text.object, space())
  .map(([before, object, after]) => Buffer.from(before + object + after));

/** A line with a few bytes changed, taken out, put in or swapped; often no JSON any more, sometimes still. */
export const mutatedLine: fc.Arbitrary<Buffer> = fc
  .tuple(
    validLine,
    fc.array(fc.tuple(fc.nat(), fc.nat(3), interestingByte()), { minLength: 1, maxLength: 4 }),
  )
  .map(([line, changes]) => {
    let bytes = [...line];
    for (const [where, how, byte] of changes) {
      const at = where % (bytes.length + 1);
      if (how === 0) bytes[at] = byte;
      else if (how === 1) bytes.splice(at, 1);
      else if (how === 2) bytes.splice(at, 0, byte);
      else bytes = bytes.slice(0, Math.max(1, at));
    }
    return Buffer.from(bytes.filter((byte) => byte !== 10));
  });

function stringPiece(): fc.Arbitrary<string> {
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom('a', 'é', '…', '😀', ' ', '{', '}', ',', ':', '[', '/', "'", '\u007f'),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        '\\"',
        '\\\\',
        '\\/',
        '\\b',
        '\\n',
        '\\t',
        '\\u0041',
        '\\ud800',
        '\\uD83D\\uDE00',
      ),
    },
    { weight: 1, arbitrary: fc.nat(40).map((length) => 'x'.repeat(length)) },
  );
}

function scalar(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(
      'true',
      'false',
      'null',
      '0',
      '-0',
      '1',
      '7',
      '1.0',
      '-1.5e3',
      '1E+2',
      '0.5',
      '2e-7',
      '12345678901234567890',
    ),
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  );
}

function space(): fc.Arbitrary<string> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant('') }, fc.constantFrom(' ', '\t', '\r', '  \t '));
}

function interestingByte(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.constantFrom(...Buffer.from('{}[]",:\\0123456789-+.eEtrufalsn xX/id\t\r\0\u001f\u007f')),
    fc.nat(255),
  );
}

function escapeOne(key: string, at: number): string {
  if (key === '') return '""';
  const index = at % key.length;
  const code = key.charCodeAt(index).toString(16).padStart(4, '0');
  return `"${key.slice(0, index)}\\u${code}${key.slice(index + 1)}"`;
}
