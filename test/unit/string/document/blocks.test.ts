// Blocks: by markers, by the anchor of a heading, by its slug; nested, and never inside of code.

import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, test } from 'vitest';
import { findBlock, listBlocks, textOfBlock } from '../../../../src/string/document/blocks.js';
import { findHeadings, slugOf } from '../../../../src/string/document/headings.js';
import { scanLines } from '../../../../src/string/document/lines.js';
import { runs } from '../../../helpers/runs.js';

function read(text: string, id: string): string | undefined {
  const block = findBlock(text, id);
  return block && textOfBlock(text, block);
}

describe('a block', () => {
  test('with markers is what lies between them', () => {
    const text = 'a\n<!-- #one -->\n\n  x\n\n<!-- /one -->\nb\n';
    const block = findBlock(text, 'one');
    expect(block?.kind).toBe('marker');
    expect(text.slice(block?.inner.start, block?.inner.end)).toBe('\n  x\n\n');
    expect(text.slice(block?.outer.start, block?.outer.end)).toBe('<!-- #one -->\n\n  x\n\n<!-- /one -->\n');
    expect(read(text, 'one')).toBe('x');
  });

  test('may have others inside of it', () => {
    const text = '<!-- #a -->\n1\n<!-- #b -->\n2\n<!-- /b -->\n3\n<!-- /a -->\n';
    expect(read(text, 'b')).toBe('2');
    expect(read(text, 'a')).toBe('1\n<!-- #b -->\n2\n<!-- /b -->\n3');
    expect(listBlocks(text)).toEqual({ ids: ['a', 'b'], problems: [] });
  });

  test('is not found inside of code, comments and frontmatter', () => {
    const fenced = '```\n<!-- #a -->\n# Title\nx\n<!-- /a -->\n```\n';
    expect(findBlock(fenced, 'a')).toBeUndefined();
    expect(findBlock(fenced, 'title')).toBeUndefined();
    expect(findBlock('<!--\n# a\n-->\n', 'a')).toBeUndefined();
    expect(findBlock('---\n# a\n---\n', 'a')).toBeUndefined();
    expect(listBlocks(fenced)).toEqual({ ids: [], problems: [] });
  });

  test('that contains code with markers ends at its own', () => {
    const text = '<!-- #a -->\n```\n<!-- /a -->\n```\nx\n<!-- /a -->\n';
    expect(read(text, 'a')).toBe('```\n<!-- /a -->\n```\nx');
  });

  test('of a heading runs to the next of its level or above', () => {
    const text = '# A\n1\n## B\n2\n### C\n3\n## D\n4\n# E\n';
    expect(read(text, 'b')).toBe('## B\n2\n### C\n3');
    expect(read(text, 'a')).toBe('# A\n1\n## B\n2\n### C\n3\n## D\n4');
    expect(read(text, 'e')).toBe('# E');
  });

  test('of a heading is found by its anchor before any slug', () => {
    const text = '# two\nslug\n# One {#two}\nanchor\n# Three []{#3}\nx\n';
    expect(findBlock(text, 'two')?.kind).toBe('anchor');
    expect(read(text, 'two')).toBe('# One {#two}\nanchor');
    expect(read(text, '3')).toBe('# Three []{#3}\nx');
    expect(findBlock(text, 'one')?.kind).toBe('heading');
  });

  test('with markers comes before a heading', () => {
    expect(read('# a\nheading\n<!-- #a -->\nmarker\n<!-- /a -->\n', 'a')).toBe('marker');
  });

  test('of a heading never tears a pair of markers', () => {
    const inside = '<!-- #m -->\n# A\nx\n<!-- /m -->\nafter\n';
    expect(read(inside, 'a')).toBe('# A\nx');
    const across = '# A\nx\n<!-- #m -->\n# B\n<!-- /m -->\n';
    expect(read(across, 'a')).toBe('# A\nx');
  });

  test('may have any name: it is compared, never a pattern', () => {
    expect(findBlock('# a\n', '(')).toBeUndefined();
    expect(findBlock('# !!!\n', '')).toBeUndefined();
    expect(read('# 회의 기록\nx\n', '회의-기록')).toBe('# 회의 기록\nx');
  });
});

describe('what is wrong with blocks', () => {
  const codes = (text: string): string[] =>
    listBlocks(text).problems.map(({ line, code }) => `${line} ${code}`);

  test('is said with its line', () => {
    expect(codes('x\n<!-- #a -->\n')).toEqual(['2 UNCLOSED_BLOCK']);
    expect(codes('<!-- /a -->\n')).toEqual(['1 UNEXPECTED_BLOCK_CLOSE']);
    expect(codes('<!-- #a -->\n<!-- #b -->\n<!-- /a -->\n')).toEqual(['3 MISMATCHED_BLOCK']);
    expect(codes('<!-- #a -->\n<!-- /a -->\n<!-- #a -->\n<!-- /a -->\n')).toEqual(['3 DUPLICATE_BLOCK_ID']);
  });

  test('does not hide the first of two, or what is around', () => {
    expect(read('<!-- #a -->\n1\n<!-- /a -->\n<!-- #a -->\n2\n<!-- /a -->\n', 'a')).toBe('1');
    expect(listBlocks('<!-- #a -->\n<!-- #b -->\n<!-- /a -->\n').ids).toEqual(['a']);
  });
});

test('headings are found where a full parser finds them', () => {
  const line = fc.constantFrom(
    '# a',
    '## b c ##',
    '#no',
    '#',
    'text',
    '',
    '===',
    '---',
    '```',
    '    # code',
    '<!-- x -->',
    '> # q',
    '####### 7',
    '   ### c',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 10 }), (rows) => {
      const text = `\n${rows.map((row) => `${row}\n`).join('')}`;
      const ours = findHeadings(text, scanLines(text)).map(
        ({ start, level }) => `${lineOf(text, start)} ${level}`,
      );
      const theirs = fromMarkdown(text).children.flatMap((node) =>
        node.type === 'heading' ? [`${node.position?.start.line} ${node.depth}`] : [],
      );
      expect(ours, JSON.stringify(text)).toEqual(theirs);
    }),
    { numRuns: runs(10_000) },
  );
});

test('a slug has letters, digits and hyphens', () => {
  expect(slugOf('Hello, World! (v2.0)')).toBe('hello-world-v20');
  expect(slugOf('  a_b  c-d ')).toBe('a_b-c-d');
});

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
