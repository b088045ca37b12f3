// What authors get wrong is found, with its line; what is right is left alone.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lintDocument, MAX_FINDINGS } from '../../../../src/string/lint/lint-document.js';
import { isPackageName, MAX_PACKAGE_NAME_CHARS, scaffoldOf } from '../../../../src/string/lint/scaffold.js';
import { runs } from '../../../helpers/runs.js';

const found = (source: string): string[] => lintDocument(source).map(({ line, code }) => `${line} ${code}`);
const action = (...lines: string[]): string => ['```act.x', ...lines, '```', ''].join('\n');

describe('findings', () => {
  test('are about blocks and directives', () => {
    expect(found('x\n<!-- #a -->\n')).toEqual(['2 UNCLOSED_BLOCK']);
    expect(found('<!-- /a -->\n\n[!include](x.md)\n')).toEqual([
      '1 UNEXPECTED_BLOCK_CLOSE',
      '3 MISSING_IDENTIFIER',
    ]);
  });

  test('are about frontmatter that does not end', () => {
    expect(lintDocument('---\ntitle: A\n# B\n').map(({ line, message }) => `${line} ${message}`)).toEqual([
      expect.stringMatching(/^1 .*no line --- that ends it$/),
    ]);
    expect(found('---\n\n# B\n')).toEqual([]);
    expect(found('---\ntitle: A\n---\n# B\n')).toEqual([]);
  });

  test('are about fields that would be dropped', () => {
    expect(found(action('GET https://example.org', '  what is this'))).toEqual(['3 INVALID_FIELD']);
    expect(found(action('FETCH https://example.org'))).toEqual(['2 INVALID_ACTION_BLOCK']);
    expect(found(action('CLI ls', '  a: string'))).toEqual(['2 UNUSED_FIELD']);
    expect(found(action('CLI ls $ARGS', '  a: string'))).toEqual([]);
    expect(found(`${action('CLI ls', '  a: string')}\`\`\`act.x.response\n## {a}\n\`\`\`\n`)).toEqual([]);
    expect(found(`${action('CLI ls', '  a: string')}\`\`\`act.x.response\n## {b}\n\`\`\`\n`)).toEqual([
      '2 UNUSED_FIELD',
    ]);
    expect(found(action('CLI ls {...args}', '  a: string'))).toEqual([]);
    expect(found(`${action('CLI ls', '  a: string')}\`\`\`act.x.response\n## {a}\n\`\`\`\n`)).toEqual([]);
  });

  test('are about quotes, and about values that would be code', () => {
    expect(found(action('CLI echo "{a}"', '  a: string'))).toEqual(['2 UNSAFE_QUOTES']);
    expect(found(action('CLI echo \'{a}\' "$ARGS"', '  a: string'))).toEqual([
      '2 UNSAFE_QUOTES',
      '2 UNSAFE_QUOTES',
    ]);
    expect(found(action('CLI eval {a}', '  a: string'))).toEqual(['2 UNSAFE_SLOT']);
    expect(found(action('CLI echo {a}', '  a: string'))).toEqual([]);
  });

  test('are about what is named and not there', () => {
    expect(found('---\ntitle: A\ndefault: go\n---\n')).toEqual(['3 ACTION_NOT_FOUND']);
    expect(found('---\ntype: app\n---\n')).toEqual(['2 MISSING_NAME']);
    expect(found('```act.x.response\nx\n```\n')).toEqual(['1 ORPHAN_RESPONSE']);
    expect(found(`${action('CLI ls')}${action('CLI ls')}`)).toEqual(['4 DUPLICATE_ACTION']);
    expect(found(`${action('CLI ls')}\`\`\`act.x.response\nfor: a in b\n\`\`\`\n`)).toEqual([
      '4 INVALID_TEMPLATE',
    ]);
    expect(found(action('GET $URL/x -H "A: $TOKEN"'))).toEqual([
      '2 UNDECLARED_VARIABLE',
      '2 UNDECLARED_VARIABLE',
    ]);
    expect(found(`---\nrequires: [URL]\n---\n${action('GET $URL/x')}`)).toEqual([]);
    expect(found(action('CLI F=1; echo $F $HOME $x'))).toEqual([]);
  });

  test('are about shortcuts that nobody has defined', () => {
    expect(found('text\n\n[Go][@nowhere]\n')).toEqual(['3 UNKNOWN_SHORTCUT']);
    expect(found('[!nav:main](m.md)\n\n[@a A](a.md) [Go][@a] [Go][@page.a] [Go][@main.x]\n')).toEqual([]);
    expect(
      found(`${action('CLI ls')}\`\`\`act.x.response\n{@note} = {x}\n\`\`\`\n\n[Go][@note-1]\n`),
    ).toEqual([]);
    expect(found('`[Go][@nowhere]`\n\n```\n[Go][@nowhere]\n```\n')).toEqual([]);
    expect(found('[Docs](https://example.org/) [Go][@docs]\n')).toEqual([]);
  });

  test('are not without end', () => {
    expect(lintDocument('[a][@b]\n\n'.repeat(MAX_FINDINGS + 10))).toHaveLength(MAX_FINDINGS);
  });

  test('of any text are only findings', () => {
    const piece = fc.constantFrom(
      '```act.a\n',
      '```\n',
      'CLI x "{a}',
      '\n  a: b\n',
      '<!-- #a -->\n',
      '[a][@b]',
      '[!nav:x](y)\n',
      '---\n',
      'default: q\n',
      '$X ',
      '{',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const source = pieces.join('');
        const lines = source.split('\n').length;
        expect(lintDocument(source).every(({ line }) => line >= 1 && line <= lines)).toBe(true);
      }),
      { numRuns: runs(5000) },
    );
  });
});

test('the sample apps have none', () => {
  for (const name of ['gitpeek', 'shelf', 'taskd'])
    expect(lintDocument(readFileSync(`examples/apps/${name}/string.md`, 'utf8')), name).toEqual([]);
});

describe('a new package', () => {
  test('has no findings', () => {
    for (const kind of ['app', 'tool'] as const)
      for (const { path, text } of scaffoldOf(kind, 'my-thing')) expect(lintDocument(text), path).toEqual([]);
  });

  test('has a name that is one', () => {
    expect(['a', 'A_b-1', 'x'.repeat(MAX_PACKAGE_NAME_CHARS)].every(isPackageName)).toBe(true);
    expect(['', '../a', 'a.b', 'ä', 'x'.repeat(MAX_PACKAGE_NAME_CHARS + 1)].some(isPackageName)).toBe(false);
  });
});
