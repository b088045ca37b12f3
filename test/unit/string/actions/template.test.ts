import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lookUp } from '../../../../src/string/actions/look-up.js';
import { MAX_LOOP_DEPTH, parseTemplate } from '../../../../src/string/actions/parse-template.js';
import {
  MAX_FILLED_CHARS,
  MAX_ROUNDS,
  MAX_TEMPLATE_CHARS,
  MAX_VALUE_SHORTCUTS,
  renderTemplate,
  type TemplateInput,
} from '../../../../src/string/actions/render-template.js';
import { runs } from '../../../helpers/runs.js';

function render(lines: readonly string[], body: unknown, more: Partial<TemplateInput> = {}) {
  return renderTemplate(parseTemplate(lines.join('\n')).lines, {
    response: { status: 200, body },
    values: new Map(),
    variables: new Map(),
    isDeclared: () => false,
    ...more,
  });
}

describe('paths', () => {
  const root = { Response: { body: { items: [{ name: 'a' }], 'odd key': 1, none: null } } };
  test.each([
    ['Response.body.items[0].name', 'a'],
    ['Response.body.items.0.name', 'a'],
    ['Response.body["odd key"]', 1],
    ['Response.body.none', null],
  ])('%s', (path, value) => {
    expect(lookUp(root, path)).toEqual({ found: true, value });
  });

  test.each([
    'Response.body.missing',
    'Response.body.items[1]',
    'Response.body.none.x',
    'Response.body.constructor',
    'Response.__proto__',
  ])('%s leads nowhere', (path) => {
    expect(lookUp(root, path)).toEqual({ found: false });
  });
});

describe('lines', () => {
  test('text with what there is', () => {
    const { output } = render(
      ['{Response.status} {Response.body.a} {f} {f[1]} {v} {unknown} {o}', '', ''],
      { a: { b: [1] } },
      {
        values: new Map([['f', ['x', 'y']]]),
        variables: new Map([['v', 'session']]),
        isDeclared: (name) => name === 'o',
      },
    );
    expect(output).toBe('200 {"b":[1]} x y session {unknown} ');
  });

  test('assignments: from the answer, a text, another variable', () => {
    const { output, variables } = render(
      [
        '{a} = {Response.body.x}',
        '{b} = "literal {a}"',
        '{c} = {b}',
        '{d} = {Response.body.none}',
        '{e} = words',
        '{a}{b}',
      ],
      { x: 1, none: null },
    );
    expect(Object.fromEntries(variables)).toEqual({ a: '1', b: 'literal 1', c: 'literal 1', d: '' });
    expect(output).toBe('{e} = words\n1literal 1');
  });

  test('loops in loops, each with numbers that go on', () => {
    const { output, shortcuts } = render(
      [
        'for: g in Response.body',
        '# {g.name}',
        'for: i in g.items',
        '{@it} = {i}',
        '- {@it} {i}',
        'end:',
        'end:',
        'done',
      ],
      [
        { name: 'one', items: ['a', 'b'] },
        { name: 'two', items: ['c'] },
      ],
    );
    expect(output).toBe('# one\n- @it-1 a\n- @it-2 b\n# two\n- @it-3 c\ndone');
    expect(shortcuts.get('it')).toEqual([
      ['it-1', 'a'],
      ['it-2', 'b'],
      ['it-3', 'c'],
    ]);
  });

  test('nothing to go through is nothing', () => {
    for (const body of [[], {}, 'text', null])
      expect(render(['for: x in Response.body', '{x}', 'end:'], body).output).toBe('');
  });

  test('shortcuts: one value, a tuple, a tuple of one', () => {
    const { shortcuts } = render(
      ['{@a} = {Response.body.x}', '{@b} = ({Response.body.x}, "p, q", r)', '{@c} = (z)'],
      { x: 'X, Y' },
    );
    expect([...shortcuts.values()].flat()).toEqual([
      ['a', 'X, Y'],
      ['b', ['X, Y', 'p, q', 'r']],
      ['c', 'z'],
    ]);
  });

  test('a path that leads nowhere stays, and is named with what there is', () => {
    const { output } = render(['{Response.body.nope} {Response.body.nope}'], { a: 1, b: 2 });
    expect(output).toBe(
      '{Response.body.nope} {Response.body.nope}\nUnresolved template reference {Response.body.nope}; available: a, b',
    );
  });

  test('files to keep', () => {
    const { files, output } = render(
      [
        'save: Response.body.data',
        'decode: base64',
        'to: out/{Response.body.name}',
        'save: Response.body.none',
        'to: never',
      ],
      { data: 'aGk=', name: 'x.txt' },
    );
    expect(files).toEqual([{ path: 'out/x.txt', data: Buffer.from('hi') }]);
    expect(output).toBe('save: path returned no value: Response.body.none');
  });

  test('an answer cannot bring in references of its own', () => {
    const { output } = render(
      ['{Response.body.a} {f}'],
      { a: '{f} {Response.body.b} {@x}', b: 'never' },
      { values: new Map([['f', '{Response.body.b}']]) },
    );
    expect(output).toBe('{f} {Response.body.b} {@x} {Response.body.b}');
  });
});

describe('limits', () => {
  test('MAX_LOOP_DEPTH', () => {
    const deep = (count: number) =>
      ['for: x in Response.body\n'.repeat(count), '{x}\n', 'end:\n'.repeat(count)].join('');
    expect(parseTemplate(deep(MAX_LOOP_DEPTH)).problems).toEqual([]);
    expect(parseTemplate(deep(MAX_LOOP_DEPTH + 1)).problems).not.toEqual([]);
    expect(parseTemplate(deep(100_000)).problems).not.toEqual([]);
  });

  test('MAX_ROUNDS and MAX_VALUE_SHORTCUTS', () => {
    const many = Array.from({ length: MAX_ROUNDS + 1 }, () => 0);
    expect(render(['for: x in Response.body', 'end:'], many).output).toMatch(/rounds; the rest is left out/u);
    const { shortcuts, output } = render(
      ['for: x in Response.body', '{@x} = {x}', 'end:'],
      many.slice(0, MAX_VALUE_SHORTCUTS + 1),
    );
    expect(shortcuts.get('x')).toHaveLength(MAX_VALUE_SHORTCUTS);
    expect(output).toMatch(/shortcuts; the rest is left out/u);
  });

  test('MAX_TEMPLATE_CHARS', () => {
    const { output } = render(
      ['for: x in Response.body', '{x}', 'end:'],
      Array.from({ length: 2000 }, () => 'x'.repeat(1000)),
    );
    expect(output.length).toBeLessThan(MAX_TEMPLATE_CHARS + 200);
    expect(output).toMatch(/characters; the rest is left out …\]$/u);
  });
});

test('any template is rendered, whatever the answer', () => {
  const line = fc.constantFrom(
    'for: x in Response.body',
    'for: y in x.items',
    'for: z in Response.nothing',
    'end:',
    '{x.a} {y}',
    '{@n} = ({x.a}, {y})',
    '{@n}',
    '{v} = {x.a}',
    'save: x.a',
    'to: {v}',
    'decode: base64',
    '{',
    '{}',
    '{v',
    'text',
    '',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.jsonValue({ maxDepth: 3 }), (lines, body) => {
      expect(typeof render(lines, body).output).toBe('string');
    }),
    { numRuns: runs(10_000) },
  );
});

test('no more is filled in than anybody can wait for, also where it is not shown', () => {
  const body = { items: Array.from({ length: 20_000 }, () => 0), big: 'x'.repeat(1024 * 1024) };
  const hidden = render(
    ['for: a in Response.body.items', '{v} = {Response.body}', '{@s} = ({Response.body.big}, b)', 'end:'],
    body,
  );
  expect(hidden.output).toContain(`more than ${MAX_FILLED_CHARS} characters`);
  const inOneLine = render([`{v} = {Response.body.big}`, '{Response.body.big}'.repeat(100_000)], body);
  expect(inOneLine.output).toContain('is left out');
  const missing = render(
    Array.from({ length: 1000 }, (_, at) => `{Response.none${at}}`),
    body,
  );
  expect(missing.output.match(/Unresolved template reference/gu)).toHaveLength(20);
});
