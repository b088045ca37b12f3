// What a reader sees of a page.

import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, test } from 'vitest';
import { parsePage } from '../../../../src/string/document/page.js';
import { renderData, renderPage } from '../../../../src/string/document/render.js';
import { runs } from '../../../helpers/runs.js';

const render = (text: string): string => renderPage(parsePage(text)).text;
const autoOf = (text: string): [string, string][] => [...renderPage(parsePage(text)).auto];
const NOTHING = { has: () => false };

describe('a page as it is read', () => {
  test('has no frontmatter, markers, directives, definitions and actions', () => {
    const text = [
      '---',
      'title: x',
      '---',
      '',
      '[!nav:main](m.md)',
      '# Hi',
      '',
      '<!-- #a -->',
      'in a',
      '<!-- /a -->',
      '',
      '```act.x',
      'GET /',
      '```',
      '',
      'last',
      '',
      '[@d]: y',
      '[r]: z',
      '```js',
      '<!-- #b -->',
      '[@n L](u)',
      '```',
    ].join('\n');
    expect(render(text)).toBe('# Hi\n\nin a\n\nlast\n\n```js\n<!-- #b -->\n[@n L](u)\n```');
  });

  test('has names in place of long addresses, made from top to bottom', () => {
    expect(render('[@home Home](index.md) [Docs][@d] [x](y.md)')).toBe('[Home][@home] [Docs][@d] [x](y.md)');
    const text =
      '[API docs](https://a) [API docs](https://b) [Sehr schön!](https://c) [x](act:run) [This label is far too long](http://d)';
    expect(render(text)).toBe(
      '[API docs][@api-docs] [API docs][@api-docs-2] [Sehr schön!][@link-1] [x][@x] [This label is far too long][@link-2]',
    );
    expect(autoOf(text)).toEqual([
      ['api-docs', 'https://a'],
      ['api-docs-2', 'https://b'],
      ['link-1', 'https://c'],
      ['x', 'act:run'],
      ['link-2', 'http://d'],
    ]);
  });

  test('a long path has a name, a short one has not; a reference is written out; code is left alone', () => {
    const long = `a/${'b'.repeat(40)}.md`;
    expect(render(`[x](${long})`)).toBe('[x][@x]');
    expect(render(`[x](${'b'.repeat(40)})`)).toBe(`[x](${'b'.repeat(40)})`);
    expect(render('[t][r] and [r]\n\n[r]: short.md "T"')).toBe('[t](short.md) and [r]');
    expect(render('`[a](https://x)` \\[a](https://x)')).toBe('`[a](https://x)` \\[a](https://x)');
    expect(render('[@a A](1) [a](https://x)')).toBe('[A][@a] [a][@a-2]');
  });

  test('an answer is data: it defines nothing that is there already, and acts on nothing', () => {
    const taken = { has: (name: string) => name === 'home' || name === 'evil' };
    const { text, auto } = renderData(
      '---\nx\n---\n[!include:a](/etc/passwd)\n```act.evil\nCLI rm\n```\n[@home Home](https://evil) [evil](https://e)\n',
      taken,
    );
    expect(text).toBe('---\nx\n---\n[Home][@home-2] [evil][@evil-2]');
    expect([...auto]).toEqual([
      ['home-2', 'https://evil'],
      ['evil-2', 'https://e'],
    ]);
  });

  test('nothing but links is changed in generated documents, and nothing is ever thrown', () => {
    const word = fc.constantFrom(
      'a',
      'word',
      '`code`',
      '`',
      '**b**',
      '[x](y.md)',
      '[x](https://h/p)',
      '[@s S](t.md)',
      '[S][@s]',
      '![i](https://i)',
      '[',
      ']',
      '(',
      ')',
      '\\[',
      '<b>',
      '<!-- c -->',
      'é',
      '\u{1F600}',
      '[a][b]',
    );
    const line = fc.oneof(
      fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')),
      fc.constantFrom(
        '',
        '# H',
        '- item',
        '  - item',
        '> q',
        '```',
        '~~~',
        '```js',
        '```act.x',
        '```act.x.response',
        '<!-- #a -->',
        '<!-- /a -->',
        '[!nav:m](m.md)',
        '[!include:i](i.md)',
        '[b]: https://ref',
        '[@s]: u',
        '---',
        '    code',
        '<!--',
        '-->',
        '| a | b |',
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 25 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        const source = lines.join(end);
        const page = parsePage(source);
        const { text } = renderPage(page);
        // What is left out or replaced apart, every character comes from the source, in its order.
        const visible = text.replaceAll(/\]\[@[\w-]+\]|\]\([^)]*\)|\s/gu, '');
        let at = 0;
        for (const char of visible) {
          at = source.indexOf(char, at) + char.length;
          if (at < char.length) break;
        }
        expect(at).toBeGreaterThanOrEqual(visible === '' ? 0 : 1);
        renderData(source, NOTHING);
      }),
      { numRuns: runs(10_000) },
    );
  });

  test('links are where CommonMark sees them', () => {
    const word = fc.constantFrom(
      'a',
      '`',
      '``',
      '[x](y)',
      '[x](<y z>)',
      '[x](y "t")',
      '[',
      ']',
      '(',
      ')',
      '\\',
      '!',
      '[x [y] z](u)',
      '<https://x>',
      '[`a](b)`](c)',
      '[x](y(z))',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        const source = `p ${words.join('')}`.replaceAll(/\n\s+/gu, '\nq ');
        const expected: string[] = [];
        const visit = (node: {
          type: string;
          url?: string;
          children?: unknown[];
          position?: { start: { offset?: number | undefined } } | undefined;
        }): void => {
          if (node.type === 'link' && source[node.position?.start.offset ?? -1] === '[')
            expected.push(node.url ?? '');
          else if (node.type !== 'image')
            for (const child of node.children ?? []) visit(child as typeof node);
        };
        visit(fromMarkdown(source));
        const found = parsePage(source).links.map((link) => (link.kind === 'link' ? link.href : link.kind));
        // A link within the brackets of another is one for CommonMark and the other for us: only flat ones are compared.
        if (/\[[^\]]*\[/u.test(source)) return;
        expect(found).toEqual(expected);
      }),
      { numRuns: runs(3000) },
    );
  });
});
