// A document taken apart: directives, shortcuts, links, actions, blocks, and what its author got wrong.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_FRONTMATTER_CHARS } from '../../../../src/string/document/frontmatter.js';
import { MAX_MENU_ENTRIES, parseMenu } from '../../../../src/string/document/directives.js';
import { MAX_HREF_CHARS, MAX_LABEL_CHARS, MAX_NESTED } from '../../../../src/string/document/inline.js';
import { MAX_LINKS, MAX_WARNINGS, parsePage } from '../../../../src/string/document/page.js';
import { runs } from '../../../helpers/runs.js';

const linksOf = (text: string): unknown[] =>
  parsePage(text).links.map(({ start: _start, end: _end, ...link }) => link);

describe('a page', () => {
  test('tells its title, directives, shortcuts, actions and blocks', () => {
    const page = parsePage(
      [
        '---',
        'title: "Shelf"',
        'default: list',
        'requires: [A, B]',
        '---',
        '[!nav:main](nav/main.md)',
        '[!include:tips](tips.md)',
        '[!include:x](y.md#z)',
        '[!include:own]()',
        '[!requirements](setup.md)',
        '[!other:x](y)',
        '# Hi',
        '[@home Home](index.md) and [Docs][@docs]',
        '',
        '[@docs]: <my docs.md> "title"',
        '<!-- #howto -->',
        'text',
        '<!-- /howto -->',
        '```act.list',
        'GET /x',
        '  a: string',
        '```',
        '~~~act.list.response',
        '{x}',
        '~~~',
      ].join('\n'),
    );
    expect(page).toMatchObject({
      title: 'Shelf',
      frontmatter: { default: 'list', requires: ['A', 'B'] },
      directives: [
        { kind: 'nav', name: 'main', path: 'nav/main.md', line: 6 },
        { kind: 'include', name: 'tips', path: 'tips.md', block: 'tips', line: 7 },
        { kind: 'include', name: 'x', path: 'y.md', block: 'z' },
        { kind: 'include', name: 'own', path: '', block: 'own' },
        { kind: 'requirements', path: 'setup.md' },
      ],
      fences: [
        { id: 'list', part: 'action', text: 'GET /x\n  a: string', line: 19 },
        { id: 'list', part: 'response', text: '{x}', line: 23 },
      ],
      blocks: ['howto', 'tips', 'x', 'own'],
      warnings: [],
    });
    expect([...page.shortcuts]).toEqual([
      ['docs', 'my docs.md'],
      ['home', 'index.md'],
    ]);
  });

  test('says with line numbers what its author got wrong', () => {
    const { warnings } = parsePage(
      '---\na: &x 1\n---\n[!nav](x)\n[!include](y)\n```act.\n```\n<!-- #a -->\n',
    );
    expect(warnings.map(({ line }) => line)).toEqual([2, 4, 5, 6, 8]);
    expect(warnings.map(({ message }) => message).join('\n')).toMatch(
      /MISSING_IDENTIFIER[^]*INVALID_ACTION_BLOCK[^]*UNCLOSED_BLOCK/,
    );
  });

  test.each([
    ['[a](b)', [{ kind: 'link', label: 'a', href: 'b' }]],
    [
      '[a](<b c> "t") [d](e \'t\')',
      [
        { kind: 'link', label: 'a', href: 'b c' },
        { kind: 'link', label: 'd', href: 'e' },
      ],
    ],
    ['[a](b(c)d) [x](a b)', [{ kind: 'link', label: 'a', href: 'b(c)d' }]],
    ['`[a](b)` ``x ` [a](b)`` [c](d) `', [{ kind: 'link', label: 'c', href: 'd' }]],
    ['\\[a](b) [a\\](b)', []],
    ['![a](b) [![i](s)](t)', [{ kind: 'link', label: '![i](s)', href: 't' }]],
    [
      '[a][r] [r][] [n][no]\n\n[R]: u',
      [
        { kind: 'link', label: 'a', href: 'u' },
        { kind: 'link', label: 'r', href: 'u' },
      ],
    ],
    [
      '[@x A](1) [@x B](2) [@x C](3) [D][@main.y]',
      [
        { kind: 'shortcut', id: 'x', label: 'A', href: '1' },
        { kind: 'shortcut', id: 'x2', label: 'B', href: '2' },
        { kind: 'shortcut', id: 'x3', label: 'C', href: '3' },
        { kind: 'invoked', id: 'main.y', label: 'D' },
      ],
    ],
    ['<a href="[x](y)">[a](b)</a> <https://x/[a](b)>', [{ kind: 'link', label: 'a', href: 'b' }]],
    ['```\n[a](b)\n```\n', []],
  ])('links of %j', (text, expected) => {
    expect(linksOf(text)).toEqual(expected);
  });

  test('a link has bounds: MAX_LABEL_CHARS, MAX_HREF_CHARS, MAX_NESTED; a page MAX_LINKS and MAX_WARNINGS', () => {
    expect(linksOf(`[${'x'.repeat(MAX_LABEL_CHARS)}](y)`)).toEqual([]);
    expect(linksOf(`[${'x'.repeat(MAX_LABEL_CHARS - 2)}](y)`)).toHaveLength(1);
    expect(linksOf(`[x](${'y'.repeat(MAX_HREF_CHARS)})`)).toEqual([]);
    expect(linksOf(`[x](${'y'.repeat(MAX_HREF_CHARS - 2)})`)).toHaveLength(1);
    expect(linksOf(`[x](${'('.repeat(MAX_NESTED)}${')'.repeat(MAX_NESTED)})`)).toHaveLength(1);
    expect(linksOf(`[x](${'('.repeat(MAX_NESTED + 1)}${')'.repeat(MAX_NESTED + 1)})`)).toEqual([]);
    expect(linksOf('[a](b)\n\n'.repeat(MAX_LINKS + 5))).toHaveLength(MAX_LINKS);
    expect(parsePage('<!-- /a -->\n'.repeat(MAX_WARNINGS + 5)).warnings).toHaveLength(MAX_WARNINGS);
  });

  test('frontmatter of more than MAX_FRONTMATTER_CHARS is ignored, and said so', () => {
    const page = parsePage(`---\ntitle: x\n${'#'.repeat(MAX_FRONTMATTER_CHARS)}\n---\n`);
    expect(page).toMatchObject({ title: null, warnings: [{ line: 2 }] });
  });

  test('is read from any text at all', () => {
    const part = fc.constantFrom(
      '[',
      ']',
      '(',
      ')',
      '@a ',
      '`',
      '```',
      '~~~',
      '\n',
      '\r\n',
      '\\',
      '!',
      '<',
      '>',
      '---\n',
      'a: ',
      '- ',
      '#',
      '<!-- #a -->',
      '<!-- /a -->',
      '[!nav:x](y)',
      'act.x',
      ' ',
      '\t',
      '"',
      "'",
      '|',
      '{',
      '}',
      ':',
      'é',
      '\u{1F600}',
      '\0',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const text = parts.join('');
        const { links } = parsePage(text);
        for (const { start, end } of links) expect(text.slice(start, end)).toMatch(/^\[[^]*[)\]]$/u);
      }),
      { numRuns: runs(10_000) },
    );
  });

  test('a menu has its entries, at most MAX_MENU_ENTRIES, and nothing else', () => {
    expect(parseMenu('# Menu\n- [@home Home page](../string.md)\ntext [x](y)\n[@home Again](z)\n')).toEqual([
      { id: 'home', label: 'Home page', href: '../string.md' },
    ]);
    const many = Array.from({ length: MAX_MENU_ENTRIES + 1 }, (_, i) => `[@a${i} A](x)`).join('\n');
    expect(parseMenu(many)).toHaveLength(MAX_MENU_ENTRIES);
  });
});
