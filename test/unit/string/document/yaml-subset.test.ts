// The YAML of frontmatter, beside a whole implementation of YAML.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseFrontmatter } from '../../../../src/string/document/frontmatter.js';
import { MAX_YAML_DEPTH, parseYaml } from '../../../../src/string/document/yaml-subset.js';
import { runs } from '../../../helpers/runs.js';

describe('the YAML of frontmatter', () => {
  test.each(
    [
      'title: Hello\nversion: 0.1.0\nn: 5\nf: 1.5\nt: true\nnothing:\nnil: null\ntilde: ~',
      'a: "x # y" # comment\nb: \'it\'\'s\'\nc: plain # comment\nd: a#b\ne: "a\\nb\\u00e9\\x41\\\\"',
      'tags: [a, "b, c", \'d\', 5, true]\nempty: []\nmap: {a: 1, "b": [x, {y: z}]}\nnone: {}',
      'list:\n- a\n- b: 1\n  c: 2\n-\n  - x\n  - y\nafter: 1',
      'list:\n  - a\n  - "b"\nmap:\n  x: 1\n  y:\n    z: 2',
      'text: |\n  one\n   two\n\n  three\nnext: 1',
      'text: >\n  one\n  two\n\n  three\n   kept\n  four\nnext: >-\n  a\n  b\nkeep: |+\n  a\n\nlast: |-\n  x\n  # no comment',
      'long: one\n  two\n  three\nbelow:\n  value goes\n  on\nx: 1',
      'flow: [a,\n  b,\n  c]\n# comment\n\nurl: http://x/y?z=1\ntime: 12:30\n"quoted key": 1',
      'env:\n  - NAME\n  - OTHER: "what it is"\n    default: v\n  - name: THIRD\n    description: d',
      '- a: 1\nb: 2',
    ].filter((text) => !text.startsWith('-')),
  )('%j', (text) => {
    const { value, problems } = parseYaml(text);
    expect(problems).toEqual([]);
    expect(JSON.parse(JSON.stringify(value))).toEqual(parse(text));
  });

  test.each([
    'a: &x 1',
    '%YAML',
    'a: "open',
    '  b: 1\na: 2',
    'a: [1, 2',
    'a: {x',
    '? complex',
    'just text',
    'a: 1\na: 2',
    '- x',
  ])('%j is a problem with a line, and not thrown', (text) => {
    const { problems } = parseYaml(text);
    expect(problems.length).toBeGreaterThan(0);
    for (const { line } of problems) expect(line).toBeGreaterThan(0);
  });

  test('what it reads without a problem is what YAML says', () => {
    const scalar = fc.oneof(
      fc.constantFrom(
        'a',
        'x y',
        '"q"',
        "'s'",
        '5',
        'true',
        'null',
        '[a, b]',
        '{k: v}',
        'a#b',
        'http://x',
        '',
        '"a: b"',
        '# c',
        'v # c',
      ),
    );
    const line = fc.oneof(
      fc
        .tuple(fc.constantFrom('', '  ', '    '), fc.constantFrom('a', 'b', 'c'), scalar)
        .map(([indent, key, value]) => `${indent}${key}: ${value}`),
      fc.tuple(fc.constantFrom('', '  ', '    '), scalar).map(([indent, value]) => `${indent}- ${value}`),
      fc.constantFrom('', '# comment', 'd: |', '  text', 'e: >-', '- f: 1'),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const text = lines.join('\n');
        const { value, problems } = parseYaml(text);
        if (problems.length > 0) return;
        let expected: unknown;
        try {
          expected = parse(text, { logLevel: 'silent' });
        } catch {
          return; // more tolerant than YAML is fine
        }
        expect(JSON.parse(JSON.stringify(value))).toEqual(expected ?? {});
      }),
      { numRuns: runs(3000) },
    );
  });

  test('deeper than MAX_YAML_DEPTH is a problem', () => {
    const deep = Array.from({ length: MAX_YAML_DEPTH + 3 }, (_, i) => `${' '.repeat(i)}a:`).join('\n');
    expect(parseYaml(deep).problems[0]?.message).toContain(`${MAX_YAML_DEPTH}`);
  });

  test('a key is never more than a key', () => {
    const { value } = parseYaml('__proto__: {polluted: true}\nconstructor: x');
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('what a document needs', () => {
    const { frontmatter } = parseFrontmatter(
      'requires: [$A, B]\nenv:\n  - NAME\n  - OTHER: "what it is"\n    default: v\n  - name: THIRD\n    description: d\ncategory: tool\nversion: 1.0',
    );
    expect(frontmatter).toMatchObject({
      requires: ['A', 'B'],
      env: [
        { name: 'NAME' },
        { name: 'OTHER', description: 'what it is', default: 'v' },
        { name: 'THIRD', description: 'd' },
      ],
      type: 'tool',
    });
  });
});
