// Texts that somebody has made to take long: each is read in a time that grows with its length only. Where it does not, these
// take minutes.

import { describe, expect, test } from 'vitest';
import { actionsOf } from '../../../../src/string/actions/action-page.js';
import { MAX_QUOTES_TRIED } from '../../../../src/string/actions/parse-action.js';
import { parseTemplate } from '../../../../src/string/actions/parse-template.js';
import { findBlock } from '../../../../src/string/document/blocks.js';
import { parseMenu } from '../../../../src/string/document/directives.js';
import { parsePage } from '../../../../src/string/document/page.js';
import { MAX_FRONTMATTER_CHARS } from '../../../../src/string/document/frontmatter.js';
import { textPart } from '../../../../src/string/web/html-pieces.js';

const CHARS = 600_000;
const many = (text: string): string => text.repeat(CHARS / text.length);

describe('a page', () => {
  test('of many short paragraphs', () => {
    expect(parsePage(`${many('a\n\n')}[@x X](y)`).shortcuts).toEqual(new Map([['x', 'y']]));
  });

  test('of paragraphs with code in them', () => {
    expect(parsePage(`${many('a ` b\n\n')}[@x X](y)`).shortcuts).toEqual(new Map([['x', 'y']]));
  });

  test('of blocks that are opened, and others that are closed', () => {
    const numbers = Array.from({ length: 20_000 }, (_, at) => at);
    const text = `${numbers.map((at) => `<!-- #a${at} -->\n`).join('')}${numbers.map((at) => `<!-- /b${at} -->\n`).join('')}`;
    expect(parsePage(`${text}<!-- #x -->\n<!-- /x -->\n`).blocks).toEqual(['x']);
  });

  test('whose headings are far from their ends', () => {
    const blanks = many(' ');
    const text = `# a${blanks}b\n# c${blanks}{#d\n## Real ${blanks}[]{#id}${blanks}##\ntext\n`;
    expect(findBlock(text, 'none')).toBeUndefined();
    expect(findBlock('## Real  []{#id} ##\ntext\n', 'id')?.kind).toBe('anchor');
    expect(findBlock('## Real ##\ntext\n', 'real')?.kind).toBe('heading');
    expect(findBlock('## C#\ntext\n', 'c')?.kind).toBe('heading');
  });

  test.each([
    `a${' '.repeat(MAX_FRONTMATTER_CHARS - 100)}b`,
    `a: [x${' '.repeat(MAX_FRONTMATTER_CHARS - 100)}y]`,
    `x:\n  - a${' '.repeat(MAX_FRONTMATTER_CHARS - 100)}b`,
  ])('whose frontmatter is mostly blank', (yaml) => {
    expect(parsePage(`---\n${yaml}\ntitle: T\n---\n`).title).toBe('T');
  });

  test('whose menu has nothing but beginnings', () => {
    expect(parseMenu(many('[@a '))).toEqual([]);
    expect(parseMenu(`[@a${many(' ')}`)).toEqual([]);
    expect(parseMenu('- [@a The A](a.md)')).toEqual([{ id: 'a', label: 'The A', href: 'a.md' }]);
  });

  test.each(['<main ', '<nav ', '<body\n', '<!--'])('of HTML with nothing but %j', (tag) => {
    expect(textPart(many(tag))).not.toBe('-');
  });
});

describe('an action', () => {
  const page = (...lines: string[]) => parsePage(['```act.x', ...lines, '```', ''].join('\n'));

  test('whose first line goes on and on', () => {
    const lines = Array.from({ length: 100_000 }, () => '\\');
    expect(actionsOf(page('GET a\\', ...lines, 'b')).all).toMatchObject([{ method: 'GET' }]);
    expect(actionsOf(page('CLI echo a \\', '  b \\', '  c')).all).toMatchObject([{ target: 'echo a  b  c' }]);
  });

  test('whose quotes are closed and opened again', () => {
    const lines = Array.from({ length: 190 }, () => `"' -d '`);
    expect(actionsOf(page(`POST a -d '${many("x'y")}`, ...lines)).all).toHaveLength(1);
    const headers = Array.from({ length: MAX_QUOTES_TRIED }, (_, at) => `${at}' -H 'X: `);
    const [action] = actionsOf(page(`POST a -H 'X: `, ...headers.slice(1), `last' -d 'body'`)).all;
    expect(action).toMatchObject({ target: 'a' });
    const [body] = actionsOf(page(`POST a -d '{`, `  "a": "it's",`, `  "b": "c"`, `}'`)).all;
    expect(body).toMatchObject({ body: `{\n  "a": "it's",\n  "b": "c"\n}` });
  });

  test('whose answer has lines with long gaps', () => {
    expect(parseTemplate(`{@a} = x${many(' ')}y\nto: x${many(' ')}y`).lines).toMatchObject([
      { kind: 'shortcut' },
      { kind: 'to' },
    ]);
    expect(parseTemplate('  {@a} = (1, 2)  \n  {v} = "x"  \n  to: ~/f  ').lines).toEqual([
      { kind: 'shortcut', name: 'a', parts: ['1', '2'] },
      { kind: 'assign', name: 'v', value: 'x' },
      { kind: 'to', path: '~/f' },
    ]);
  });
});
