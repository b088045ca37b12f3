// Edits of any text: what was written is there, and nothing else has changed.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findBlock, textOfBlock } from '../../../../src/string/document/blocks.js';
import { appendText, editBlock, replaceLines, replaceText } from '../../../../src/string/edit/edit-text.js';
import { reverse, spliceBetween } from '../../../../src/string/edit/splice.js';
import { runs } from '../../../helpers/runs.js';

const LINES = [
  '',
  ' ',
  'text',
  '  indented',
  '- item',
  '# One',
  '## Two {#anchor}',
  'Title',
  '===',
  '```',
  '~~~~ js',
  '<!-- #b -->',
  '<!-- /b -->',
  '<!-- #c -->',
  '<!-- /c -->',
  '<!-- note -->',
  '---',
  '😀 ü',
] as const;
const documentOf = (lineEnd: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(fc.constantFrom(...LINES), { maxLength: 14 }), fc.boolean())
    .map(([lines, ends]) => lines.join(lineEnd) + (ends && lines.length > 0 ? lineEnd : ''));
const anyDocument = fc.oneof(documentOf('\n'), documentOf('\r\n'));
const body = fc.array(fc.constantFrom('', 'new', '  more', '## Sub', '- x', '`a`', 'é'), { maxLength: 4 });

describe('a block that is edited', () => {
  test('has exactly the new text, and all around it is as it was', () => {
    let edits = 0;
    fc.assert(
      fc.property(
        anyDocument,
        fc.constantFrom('b', 'c', 'one', 'anchor', 'title'),
        body,
        (text, id, lines) => {
          const problem = judgeBlockEdit(text, id, lines.join('\n'));
          if (problem === '') edits += 1;
          expect(['', 'no block', 'refused'], `${JSON.stringify(text)} ${id}`).toContain(problem);
        },
      ),
      { numRuns: runs(10_000) },
    );
    expect(edits).toBeGreaterThan(0);
  });

  test('and edited back is what it was', () => {
    const text = '# A\n\n<!-- #b -->\n\n  one\n  two  \n\n\n<!-- /b -->\n';
    const there = editBlock(text, { id: 'b', body: 'x', file: '' });
    expect(there).toMatchObject({ ok: true, text: '# A\n\n<!-- #b -->\n\nx\n\n\n<!-- /b -->\n' });
    expect(
      editBlock(there.ok ? there.text : '', { id: 'b', body: '  one\n  two  ', file: '' }),
    ).toMatchObject({
      ok: true,
      text,
    });
  });

  test('may be empty before and afterwards', () => {
    expect(editBlock('<!-- #b -->\n<!-- /b -->', { id: 'b', body: 'x', file: '' })).toMatchObject({
      text: '<!-- #b -->\nx\n<!-- /b -->',
    });
    expect(editBlock('<!-- #b -->\nx\n<!-- /b -->', { id: 'b', body: '\n', file: '' })).toMatchObject({
      text: '<!-- #b -->\n<!-- /b -->',
    });
    expect(editBlock('# A', { id: 'a', body: 'x', file: '' })).toMatchObject({ text: '# A\nx' });
    expect(editBlock('# A\n# B\n', { id: 'a', body: 'x', file: '' })).toMatchObject({
      text: '# A\nx\n# B\n',
    });
  });

  test('keeps its heading once, also when it is sent back', () => {
    expect(editBlock('## A\nold\n', { id: 'a', body: '## A\n\nnew', file: '' })).toMatchObject({
      text: '## A\nnew\n',
    });
  });
});

describe('lines that are replaced', () => {
  test('leave all other lines as they are', () => {
    fc.assert(
      fc.property(anyDocument, fc.nat(14), fc.nat(3), body, (text, first, more, lines) => {
        const range = { first: first + 1, last: first + 1 + more };
        expect(judgeLineEdit(text, range, lines.join('\n')), JSON.stringify(text)).toBe('');
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('text that is replaced', () => {
  test('is the only thing that changes', () => {
    expect(replaceText('a.b.c', '.b.\n---\n$&', { all: false, file: '' })).toMatchObject({ text: 'a$&c' });
    expect(replaceText('x\r\ny\r\n', 'x\ny\n---\n1\n2\n3', { all: false, file: '' })).toMatchObject({
      text: '1\r\n2\r\n3\r\n',
    });
    expect(replaceText('a\n---\nb', 'a\r\n---\r\nc\r\n', { all: false, file: '' })).toMatchObject({
      text: 'c\n---\nb',
    });
  });

  test('is appended on a line of its own', () => {
    expect(appendText('', 'x')).toBe('x');
    expect(appendText('a', 'x')).toBe('a\nx');
    expect(appendText('a\r\nb', 'x\ny')).toBe('a\r\nb\r\nx\r\ny');
  });
});

test('what differs between two files gives each of them back', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40, max: 3 }),
    fc.tuple(fc.uint8Array({ maxLength: 5 }), fc.nat(3)).map(([end, times]) => {
      return Buffer.concat([Buffer.alloc(times * 65_536, 'a'), end, Buffer.alloc(times * 65_000, 'b')]);
    }),
  );
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const [before, after] = [Buffer.from(one), Buffer.from(other)];
      const splice = spliceBetween(before, after);
      expect(reverse(after, splice).equals(before)).toBe(true);
    }),
    { numRuns: runs(2000) },
  );
});

/** What is wrong, in words; '' for an edit that did what it should. */
function judgeBlockEdit(text: string, id: string, said: string): string {
  const before = findBlock(text, id);
  const edited = editBlock(text, { id, body: said, file: 'a.md' });
  if (before === undefined) return !edited.ok && edited.code === 'NOT_FOUND' ? 'no block' : 'found nowhere';
  if (!edited.ok) return edited.code === 'INTERNAL_ERROR' ? 'refused' : edited.code;
  const after = findBlock(edited.text, id);
  if (after === undefined) return 'lost';
  if (!edited.text.startsWith(text.slice(0, before.inner.start))) return 'changed before';
  if (!edited.text.endsWith(text.slice(before.inner.end))) return 'changed behind';
  const read = textOfBlock(edited.text, after).replaceAll('\r\n', '\n');
  return before.kind !== 'marker' || read === said.trim() ? '' : `read ${read}`;
}

function judgeLineEdit(text: string, range: { first: number; last: number }, said: string): string {
  const edited = replaceLines(text, range, said, 'a.md');
  const all = text.split('\n');
  const total = text === '' ? 0 : all.length - (text.endsWith('\n') ? 1 : 0);
  if (range.last > total) return edited.ok ? 'out of bounds' : '';
  if (!edited.ok) return edited.message;
  const head = all.slice(0, range.first - 1).map((line) => `${line}\n`);
  if (!edited.text.startsWith(head.join(''))) return 'changed before';
  return edited.text.endsWith(all.slice(range.last).join('\n')) ? '' : 'changed behind';
}
