import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_ACTION_TIMEOUT_MS,
  MAX_FIELDS,
  MAX_QUOTED_LINES,
  parseAction,
} from '../../../../src/string/actions/parse-action.js';
import { parseField } from '../../../../src/string/actions/parse-field.js';
import { runs } from '../../../helpers/runs.js';

const parse = (text: string) => parseAction({ id: 'x', text, line: 10 });
const action = (text: string) => {
  const { action: found, warnings } = parse(text);
  expect(warnings).toEqual([]);
  if (found === undefined) throw new Error('no action');
  return found;
};

describe('the first line', () => {
  test('an HTTP action is cut at its first option', () => {
    const found = action(`POST $URL/tasks?a=b -H "Authorization: Bearer $T" -d '{"title":"{title}"}'`);
    expect(found).toMatchObject({
      method: 'POST',
      target: '$URL/tasks?a=b',
      headers: [{ name: 'Authorization', value: 'Bearer $T' }],
      body: '{"title":"{title}"}',
    });
  });

  test('the method may be in any case', () => {
    expect(action('get http://x/').method).toBe('GET');
    expect(action('cli ls').method).toBe('CLI');
  });

  test('of a command all is the command, options too', () => {
    expect(action(`CLI curl -H "A: b" -d '{x}' {url}`)).toMatchObject({
      target: `curl -H "A: b" -d '{x}' {url}`,
      headers: [],
      body: undefined,
    });
  });

  test('a line that ends with a backslash goes on', () => {
    expect(action('CLI git log \\\n    --oneline \\\n    -n {n}\n  n: number').target).toBe(
      'git log  --oneline  -n {n}',
    );
  });

  test('an apostrophe inside a quoted body does not end it', () => {
    expect(action(`POST http://x -d '{"t":"it's {a}"}' -H 'A: b'`)).toMatchObject({
      body: `{"t":"it's {a}"}`,
      headers: [{ name: 'A', value: 'b' }],
    });
    expect(action(`POST http://x -d 'it'\\''s'`).body).toBe("it's");
    expect(action(String.raw`POST http://x -d "{\"a\": 1}"`).body).toBe('{"a": 1}');
  });

  test('a quoted body may have many lines', () => {
    const found = action(`POST http://x -d '{\n  "a": "{a}"\n}'\n  a: string (required)`);
    expect(found.body).toBe('{\n  "a": "{a}"\n}');
    expect(found.fields.map(({ name }) => name)).toEqual(['a']);
  });

  test('a quote that never ends swallows no fields', () => {
    const { action: found, warnings } = parse(`POST http://x -d '{"a":1}\n  a: string`);
    expect(found?.fields).toHaveLength(1);
    expect(warnings).toMatchObject([{ line: 11, code: 'INVALID_ACTION_BLOCK' }]);
    const long = parse(`POST http://x -d '\n${'x\n'.repeat(MAX_QUOTED_LINES)}'`);
    expect(long.warnings.length).toBeGreaterThan(0);
  });

  test('headers and a body may stand below', () => {
    const found = action(
      'POST http://x\n  -H "A: 1"\n  -H "B: 2"\n  body:\n    {\n      "a": "{a}"\n    }\n  a: string',
    );
    expect(found.headers.map(({ name }) => name)).toEqual(['A', 'B']);
    expect(found.body).toBe('{\n  "a": "{a}"\n}');
    expect(found.fields).toHaveLength(1);
  });

  test.each(['', '   \n', 'FETCH http://x', 'GET', 'just words here'])(
    '%j is no action, and says so',
    (text) => {
      const found = parse(text);
      expect(found.action).toBeUndefined();
      expect(found.warnings).toMatchObject([{ code: 'INVALID_ACTION_BLOCK' }]);
    },
  );

  test('a header cannot bring in a second one', () => {
    expect(parse('GET http://x -H "A: b\r\nC: d"').action?.headers ?? []).toEqual([]);
  });
});

describe('fields', () => {
  test('in the form of the reference', () => {
    expect(action('CLI x\n  query, -q: string (required) "Search text" = "all"').fields).toEqual([
      {
        name: 'query',
        short: 'q',
        type: 'string',
        required: true,
        description: 'Search text',
        default: 'all',
        choices: undefined,
        min: undefined,
        max: undefined,
      },
    ]);
  });

  test.each([
    ['n: number (optional, min:1, max:50) "d" = "5"', { type: 'number', min: 1, max: 50, default: '5' }],
    ['n: number "d" (required)', { required: true, description: 'd' }],
    ['my-name: string', { name: 'my-name', required: false }],
    ["a: string = 'x y'", { default: 'x y' }],
    ['a: string = x', { default: 'x' }],
    ['a: string = two words "d"', { default: 'two words', description: 'd' }],
    ['a: string = ""', { default: '' }],
    ['a: string =', { default: '' }],
    ['a: open|done (required)', { choices: ['open', 'done'], type: 'string' }],
    ['a: string (required, a|b|c)', { choices: ['a', 'b', 'c'], required: true }],
    ['a: integer', { type: 'number' }],
    ['a: path', { type: 'path' }],
    ['a: json', { type: 'json' }],
    [String.raw`a: string "say \"hi\""`, { description: 'say "hi"' }],
    ['a: string (required)"d"="x"', { required: true, description: 'd', default: 'x' }],
  ])('%s', (text, expected) => {
    const { field, problems } = parseField(text);
    expect(problems).toEqual([]);
    expect(field).toMatchObject(expected);
  });

  test('what cannot be understood is named with its line', () => {
    const { action: found, warnings } = parse(
      'CLI x\n  good: string\n  not a field\nflat: string\n  a: weird (odd)\n',
    );
    expect(found?.fields.map(({ name }) => name)).toEqual(['good', 'a']);
    expect(warnings).toEqual([
      { line: 13, code: 'INVALID_FIELD', message: 'act.x: not a field: not a field' },
      { line: 14, code: 'INVALID_FIELD', message: 'act.x: a field has to be indented: flat: string' },
      { line: 15, code: 'INVALID_CONSTRAINT', message: 'act.x: unknown constraint: odd' },
      { line: 15, code: 'INVALID_CONSTRAINT', message: 'act.x: unknown type weird, taken for string' },
    ]);
  });

  test('the same name twice is one field', () => {
    const { action: found, warnings } = parse('CLI x\n  a: string\n  a: number');
    expect(found?.fields).toHaveLength(1);
    expect(warnings).toHaveLength(1);
  });

  test(`MAX_FIELDS is ${MAX_FIELDS}`, () => {
    const many = Array.from({ length: MAX_FIELDS + 1 }, (_, n) => `  f${n}: string`).join('\n');
    expect(parse(`CLI x\n${many}`).action?.fields).toHaveLength(MAX_FIELDS);
  });
});

describe('timeout', () => {
  test.each([
    ['timeout: 90', 90_000],
    ['timeout: 250ms', 250],
    ['timeout: 2m', 120_000],
    ['timeout: 99999m', MAX_ACTION_TIMEOUT_MS],
  ])('%s', (line, ms) => {
    expect(action(`CLI x\n  ${line}`).timeoutMs).toBe(ms);
  });

  test('a field may be called so', () => {
    expect(action('CLI x\n  timeout: number (optional)')).toMatchObject({
      timeoutMs: undefined,
      fields: [{ name: 'timeout' }],
    });
  });
});

test('any text gives an action or a warning, and lines lie inside of it', () => {
  const piece = fc.constantFrom(
    'CLI ',
    'GET ',
    'post http://x',
    ' -H ',
    ' -d ',
    "'",
    '"',
    '\\',
    '\n',
    '\n  ',
    ': ',
    'a',
    'string',
    '(',
    ')',
    '=',
    'required',
    'body:',
    'timeout: ',
    '9',
    '{a}',
    '|',
    ',',
    ' ',
    '\r\n',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
      ),
      (text) => {
        const { action: found, warnings } = parse(text);
        expect(found !== undefined || warnings.length > 0).toBe(true);
        const lines = text.split('\n').length;
        for (const { line } of warnings) expect(line >= 10 && line <= 10 + lines).toBe(true);
      },
    ),
    { numRuns: runs(10_000) },
  );
});

test('a field that was written is read back', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,10}$/u);
  const text = fc.string({ maxLength: 20 }).map((value) => value.replaceAll(/["\\\n\r]/gu, ''));
  fc.assert(
    fc.property(
      word,
      fc.option(fc.stringMatching(/^[a-z]$/u)),
      fc.boolean(),
      text,
      text,
      fc.boolean(),
      (name, short, required, description, value, swapped) => {
        const constraint = `(${required ? 'required' : 'optional'})`;
        const middle = swapped ? `"${description}" ${constraint}` : `${constraint} "${description}"`;
        const { field, problems } = parseField(
          `${name}${short === null ? '' : `, -${short}`}: string ${middle} = "${value}"`,
        );
        expect(problems).toEqual([]);
        expect(field).toMatchObject({
          name,
          short: short ?? undefined,
          required,
          description,
          default: value,
        });
      },
    ),
    { numRuns: runs(10_000) },
  );
});
