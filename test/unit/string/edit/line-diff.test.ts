// Differences: every line of both texts is accounted for, and what is shown can be read back.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffRow, diffLines, MAX_COMPARED_LINES } from '../../../../src/string/edit/line-diff.js';
import {
  DIFF_CONTEXT_LINES,
  diffViewOf,
  MAX_DIFF_LINES,
  MAX_VIEW_LINES,
  rowsFor,
  showDiff,
  showGutter,
  summarise,
} from '../../../../src/string/edit/show-diff.js';
import { runs } from '../../../helpers/runs.js';

const VIEW = { context: 3, maxLines: MAX_DIFF_LINES };

test('what is kept and added is the new text, what is kept and removed the old one', async () => {
  const text = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', 'd\r'), { maxLength: 12 }), fc.boolean())
    .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''));
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const diff = await diffLines(before, after, 100);
      const of = (kind: string): DiffRow[] => diff.rows.filter((row) => row.kind === kind);
      expect([of('add').length, of('remove').length]).toEqual([diff.added, diff.removed]);
      const [old, fresh] = before === after ? [[], []] : [bareLines(before), bareLines(after)];
      const news = diff.rows.filter(({ kind }) => kind !== 'remove');
      const olds = diff.rows.filter(({ kind }) => kind !== 'add');
      expect(news.map((row) => [row.new, row.text])).toEqual(fresh.map((line, at) => [at + 1, line]));
      expect(olds.map((row) => [row.old, row.text])).toEqual(old.map((line, at) => [at + 1, line]));
    }),
    { numRuns: runs(2000) },
  );
});

test('who asks for as many rows as are shown is shown the same', async () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
    .map((lines) => lines.join('\n'));
  await fc.assert(
    fc.asyncProperty(text, text, fc.nat(3), fc.nat(12), async (before, after, context, maxLines) => {
      const view = { context, maxLines };
      const [all, some] = [
        await diffLines(before, after, context),
        await diffLines(before, after, context, rowsFor(view)),
      ];
      expect([some.added, some.removed]).toEqual([all.added, all.removed]);
      expect(showDiff(some, view, false)).toBe(showDiff(all, view, false));
      expect(showGutter(some, view)).toBe(showGutter(all, view));
    }),
    { numRuns: runs(2000) },
  );
});

test('of a large text that is another the lines are counted, and few are made', async () => {
  const lines = MAX_COMPARED_LINES + 10;
  const view = { context: 1, maxLines: 2 };
  const diff = await diffLines('old\n'.repeat(lines), `new\n`.repeat(2 * lines), 1, rowsFor(view));
  expect(diff).toMatchObject({ added: 2 * lines, removed: lines, rows: { length: rowsFor(view) } });
  expect(showDiff(diff, view, false)).toBe(
    `    1       - old\n    2       - old\n... (${3 * lines - 2} more lines changed, truncated at 2 lines)`,
  );
});

test('two columns of numbers, gaps, and the lines around a change', async () => {
  const before = Array.from({ length: 20 }, (_, at) => `l${at + 1}\n`).join('');
  const after = before.replace('l5\n', 'five\n').replace('l18\n', '');
  const diff = await diffLines(before, after, 1);
  expect(showDiff(diff, { ...VIEW, context: 1 }, false)).toBe(
    [
      ' 4  4 | l4',
      ' 5    - l5',
      '    5 + five',
      ' 6  6 | l6',
      '...',
      '17 17 | l17',
      '18    - l18',
      '19 18 | l19',
    ].join('\n'),
  );
  expect(showGutter(diff, VIEW)).toBe(
    [
      '  4  │ l4',
      '  5 -│ l5',
      '  5 +│ five',
      '  6  │ l6',
      ' ...',
      ' 17  │ l17',
      ' 18 -│ l18',
      ' 18  │ l19',
    ].join('\n'),
  );
  expect(summarise(diff)).toBe('Added 1 line, removed 2 lines');
});

test('nothing, something new, and too much', async () => {
  expect(showDiff(await diffLines('a', 'a', 3), VIEW, false)).toBe('(no changes)');
  expect(summarise({ added: 0, removed: 0 })).toBe('No changes');
  expect(summarise({ added: 0, removed: 1 })).toBe('Removed 1 line');
  const long = 'x\n'.repeat(MAX_DIFF_LINES + 7);
  const shown = showDiff(await diffLines('', long, 3), VIEW, true);
  expect(shown.split('\n')).toHaveLength(MAX_DIFF_LINES + 1);
  expect(shown).toMatch(/^ 1 \+ x\n/u);
  expect(shown).toContain(`\n... (7 more lines changed, truncated at ${MAX_DIFF_LINES} lines)`);
});

test('texts without anything in common are not compared line by line', async () => {
  const lines = MAX_COMPARED_LINES + 1;
  const diff = await diffLines('a\nb\n'.repeat(lines), 'c\nb\n'.repeat(lines), 0);
  expect(diff).toMatchObject({ added: 2 * lines - 1, removed: 2 * lines - 1 });
});

test('a topic says how much it wants to see', () => {
  expect(diffViewOf(new Map())).toEqual({ context: DIFF_CONTEXT_LINES, maxLines: MAX_DIFF_LINES });
  const said = new Map([
    ['_diff_context', '0'],
    ['_diff_max_lines', '999999999'],
  ]);
  expect(diffViewOf(said)).toEqual({ context: 0, maxLines: MAX_VIEW_LINES });
  expect(diffViewOf(new Map([['_diff_context', 'many']])).context).toBe(DIFF_CONTEXT_LINES);
});

function bareLines(text: string): string[] {
  return text === '' ? [] : text.replaceAll('\r\n', '\n').replace(/\n$/u, '').split('\n');
}
