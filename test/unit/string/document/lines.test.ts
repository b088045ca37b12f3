// Lines of documents: every character once, and the same idea of what code is as a full Markdown parser.

import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, test } from 'vitest';
import { scanLines } from '../../../../src/string/document/lines.js';
import { runs } from '../../../helpers/runs.js';

interface Node {
  readonly type: string;
  readonly position?:
    | { readonly start: { offset?: number | undefined; line: number }; readonly end: { line: number } }
    | undefined;
  readonly children?: readonly Node[];
}

describe('lines', () => {
  test('are cut at \\n and \\r\\n, and cover the text', () => {
    const text = 'a\r\n\nb\rc\n\r\nlast';
    const lines = scanLines(text);
    expect(lines.map(({ start, end }) => text.slice(start, end))).toEqual(['a', '', 'b\rc', '', 'last']);
    expect(scanLines('')).toEqual([]);
    expect(scanLines('a\n')).toHaveLength(1);
  });

  test('of any text lie end to end', () => {
    const piece = fc.constantFrom(
      '\n',
      '\r\n',
      '\r',
      '```',
      '~~~~',
      '- ',
      '  ',
      '\t',
      '<!--',
      '-->',
      '---',
      'x',
      '😀',
      '1. ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        let at = 0;
        for (const { start, end, next } of scanLines(text)) {
          expect(start).toBe(at);
          expect(['', '\n', '\r\n']).toContain(text.slice(end, next));
          at = next;
        }
        expect(at).toBe(text.length);
      }),
      { numRuns: runs(10_000) },
    );
  });
});

describe('fences', () => {
  const kinds = (text: string): string =>
    scanLines(text)
      .map(({ fence, comment, frontmatter }) =>
        frontmatter
          ? 'f'
          : comment
            ? '!'
            : fence === undefined
              ? '.'
              : { open: '[', inside: 'x', close: ']' }[fence],
      )
      .join('');

  test('close with the same character, at least as long, and with nothing behind it', () => {
    expect(kinds('```js\na\n~~~\n``\n``` no\n````\nb\n')).toBe('[xxxx].');
    expect(kinds('~~~~\n~~~\n```\n~~~~  \n')).toBe('[xx]');
    expect(scanLines('```act.list  \n')[0]?.info).toBe('act.list');
  });

  test('with a backtick in what an opener says are none', () => {
    expect(kinds('``` a`b\n# x\n')).toBe('..');
    expect(kinds('~~~ a`b\n# x\n')).toBe('[x');
  });

  test('may stand three columns to the right, and further in a list item', () => {
    expect(kinds('   ```\n    ```\n   ```\n')).toBe('[x]');
    expect(kinds('    ```\n')).toBe('.');
    expect(kinds('1.  a\n\n    ```\n    # b\n    ```\n')).toBe('..[x]');
    expect(kinds('- ```\n  # b\n  ```\n# c\n')).toBe('[x].');
  });

  test('end with the list item that they stand in', () => {
    expect(kinds('- ```\n  # b\nafter\n')).toBe('[x.');
  });

  test('are none in comments', () => {
    expect(kinds('<!--\n```\n-->\n# a\n')).toBe('!!!.');
    expect(kinds('<!-- #a -->\n```\n```\n')).toBe('.[]');
  });

  test('are none in frontmatter, which begins in the first line and is closed', () => {
    expect(kinds('---\na: |\n  ```\n---\n```\n')).toBe('ffff[');
    expect(kinds('---\na: 1\n')).toBe('..');
    expect(kinds('\uFEFF---\r\na: 1\r\n---\r\nb')).toBe('fff.');
    expect(kinds('\n---\na\n---\n')).toBe('....');
  });

  test('are found where a full parser finds them', () => {
    const line = fc.constantFrom(
      '```',
      '```js',
      '````',
      '~~~',
      '~~~ a',
      '    ```',
      '  ```',
      'text',
      '',
      '# h',
      '- a',
      '- ```',
      '  x',
      '1. b',
      '   ~~~',
      '> q',
      '<!-- c -->',
      '<!--',
      'end -->',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (rows) => {
        const text = rows.map((row) => `${row}\n`).join('');
        const lines = scanLines(text);
        const ours = lines.flatMap(({ fence }, index) => (fence === 'open' ? [index + 1] : []));
        expect(ours, JSON.stringify(text)).toEqual(fencesOf(text));
      }),
      { numRuns: runs(10_000) },
    );
  });
});

/** The lines on which fenced code begins outside of quotes. */
function fencesOf(text: string): number[] {
  const found: number[] = [];
  const visit = (node: Node): void => {
    if (node.type === 'blockquote') return;
    const start = node.position?.start;
    if (node.type === 'code' && start !== undefined && /^[`~]/u.test(text.slice(start.offset)))
      found.push(start.line);
    for (const child of node.children ?? []) visit(child);
  };
  visit(fromMarkdown(text));
  return found.filter((line) => /[`~]{3}/u.test(text.split('\n')[line - 1] ?? ''));
}
