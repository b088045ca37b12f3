import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_PLACES_TOLD, patchContent } from '../../../../src/rexd/fs/patch-file.js';
import { parsePatch } from '../../../../src/rexd/fs/patch-text.js';
import { MAX_PATCHED_LINES } from '../../../../src/rexd/fs/text-lines.js';
import { runs } from '../../../helpers/runs.js';

async function apply(content: string | Buffer, ...hunkLines: string[]): Promise<string> {
  const text = ['*** Begin Patch', '*** Update File: f', ...hunkLines, '*** End Patch'].join('\n');
  const [change] = parsePatch(text);
  const hunks = change?.kind === 'update' ? change.hunks : [];
  return (await patchContent('/f', Buffer.from(content), hunks)).toString('latin1');
}

describe('where a hunk goes', () => {
  test.each([
    ['lines as they are', 'a\nb\nc\n', ['@@', ' a', '-b', '+B'], 'a\nB\nc\n'],
    ['without @@', 'a\nb\nc\n', ['-b', '+B'], 'a\nB\nc\n'],
    ['space at the end does not matter', 'a  \nb\n', [' a', '-b', '+B'], 'a  \nB\n'],
    ['nor at the beginning', '\ta\n\tb\n', [' a', '-  b', '+\tB'], '\ta\n\tB\n'],
    ['the strictest likeness decides', ' x\nx\n', ['-x', '+y'], ' x\ny\n'],
    ['below its context', 'f\nx\ng\nx\n', ['@@ g', '-x', '+y'], 'f\nx\ng\ny\n'],
    ['below several contexts', 'A\nf\nx\nB\nf\nx\n', ['@@ B', '@@ f', '-x', '+y'], 'A\nf\nx\nB\nf\ny\n'],
    ['the first below its context', 'g\nx\nh\nx\n', ['@@ g', '-x', '+y'], 'g\ny\nh\nx\n'],
    ['a context that the hunk repeats', 'f\nx\ng\nz\n', ['@@ g', ' g', '-z', '+y'], 'f\nx\ng\ny\n'],
    ['at the end of the file', 'x\na\nx\n', ['-x', '+y', '*** End of File'], 'x\na\ny\n'],
    ['added behind a context', 'a\nb\nc\n', ['@@ a', '+new'], 'a\nnew\nb\nc\n'],
    ['added at the end', 'a\nb\n', ['@@', '+new', '*** End of File'], 'a\nb\nnew\n'],
    ['into an empty file', '', ['+new'], 'new\n'],
    ['a blank line as nothing', 'a\n\nb\nc\n', [' a', '', '-b', '+B'], 'a\n\nB\nc\n'],
    ['space before what follows', 'a\nb\nc\n', ['-b', '+B', '', ''], 'a\nB\nc\n'],
    ['one after the other', 'x\na\nx\nb\n', ['@@', ' x', '-a', '@@', ' x', '-b', '+B'], 'x\nx\nB\n'],
  ])('%s', async (_, before, hunk, after) => {
    expect(await apply(before, ...hunk)).toBe(after);
  });
});

describe('what a hunk keeps', () => {
  test.each([
    ['CRLF', 'a\r\nb\r\n', ['-b', '+B', '+C'], 'a\r\nB\r\nC\r\n'],
    ['CRLF, from a patch that has it too in part', 'a\r\nb\r\n', [' a', '-b', '+B\r'], 'a\r\nB\r\n'],
    ['no newline at the end', 'a\nb', ['-b', '+B'], 'a\nB'],
    ['no newline at the end of what is added', 'a\nb', [' b', '+c', '*** End of File'], 'a\nb\nc'],
    ['no newline when the last line goes', 'a\nb', [' a', '-b'], 'a'],
    ['mixed ends', 'a\r\nb\nc\r\n', ['-b', '+B'], 'a\r\nB\nc\r\n'],
    ['its own space in lines that stay', 'a \t\nb\n', [' a', '-b', '+B'], 'a \t\nB\n'],
    ['nothing, if all goes', 'a\n', ['-a'], ''],
  ])('%s', async (_, before, hunk, after) => {
    expect(await apply(before, ...hunk)).toBe(after);
  });

  test('bytes that are no text', async () => {
    const before = Buffer.from([0xff, 0x0a, 0x62, 0x0a, 0xc3, 0x0a]);
    expect(Buffer.from(await apply(before, '-b', '+é'), 'latin1')).toEqual(
      Buffer.from([0xff, 0x0a, 0xc3, 0xa9, 0x0a, 0xc3, 0x0a]),
    );
  });
});

describe('refused', () => {
  test.each([
    ['hunk_not_found', 'a\n', ['-b', '+c']],
    ['hunk_not_found', 'a\nx\n', ['-a', '*** End of File']],
    ['hunk_not_found', 'b\na\n', ['@@', '-a', '@@', '-b']],
    ['hunk_context_not_found', 'a\n', ['@@ none', '-a']],
    ['hunk_ambiguous', 'x\nx\n', ['-x', '+y']],
    ['hunk_ambiguous', 'f\nx\nf\nx\n', ['@@ f', '-x', '+y']],
    ['hunk_ambiguous', 'f\nx\nf\n', ['@@ f', '+y']],
    ['hunk_no_place', 'a\n', ['@@', '+y']],
  ])('%s', async (reason, before, hunk) => {
    await expect(apply(before, ...hunk)).rejects.toMatchObject({
      code: -32602,
      data: { reason, path: '/f' },
    });
  });

  test('the places of an ambiguous hunk are told', async () => {
    await expect(apply('x\na\nx\n', '-x')).rejects.toMatchObject({ data: { lines: [1, 3], hunk: 1 } });
  });
});

test('a file of equal lines and a hunk of many take no time to speak of', async () => {
  const hunk = Array.from({ length: 20_000 }, () => '-x');
  const started = process.cpuUsage(); // of the processor, which others may be using
  await expect(apply('x\n'.repeat(200_000), ...hunk)).rejects.toMatchObject({
    data: { reason: 'hunk_ambiguous' },
  });
  expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
});

test('the difference of two files, applied to the first, is the second', async () => {
  const word = fc.constantFrom(
    '',
    'a',
    'b',
    ' a',
    'a ',
    '\tb',
    '}',
    'return 1',
    'é',
    '+x',
    '-x',
    '*** End Patch',
    '@@',
  );
  // Numbers make lines unique here and there, as in real files.
  const line = fc.oneof(
    { weight: 1, arbitrary: word },
    { weight: 3, arbitrary: fc.nat(200).map((n) => `line ${n}`) },
  );
  const edit = fc.record({ at: fc.nat(), drop: fc.nat(3), add: fc.array(line, { maxLength: 3 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 30 }),
      fc.array(edit, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      async (before, edits, end, final) => {
        const { after, hunks } = difference(before, edits);
        const join = (lines: string[]): string => lines.join(end) + (final && lines.length > 0 ? end : '');
        // One empty line without an end is an empty file, which has no lines at all.
        fc.pre(final || before.length > 1); // one line without an end does not tell how lines end
        fc.pre(join(before) !== '' && before.at(-1) !== '');
        fc.pre(after.length === 0 || after.at(-1) !== '' || final);
        const result = await apply(join(before), ...hunks);
        expect(result).toBe(Buffer.from(join(after)).toString('latin1'));
      },
    ),
    { numRuns: runs(2000) },
  );
});

test('small hunks find their places by the lines around them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 3, max: 40 }),
      fc.array(fc.record({ gap: fc.integer({ min: 1, max: 6 }), drop: fc.nat(2), add: fc.nat(2) }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.integer({ min: 1, max: 3 }),
      async (count, edits, around) => {
        const before = Array.from({ length: count }, (_, i) => `line ${i}`);
        const [after, hunks]: [string[], string[]] = [[], []];
        let done = 0;
        for (const { gap, drop, add } of edits) {
          const from = done + gap;
          if (from + drop + 1 > count) break;
          const context = before.slice(Math.max(done, from - around), from);
          const dropped = before.slice(from, from + drop);
          const added = Array.from({ length: add }, (_, i) => `new ${from}.${i}`);
          hunks.push(
            '@@',
            ...context.map((x) => ` ${x}`),
            ...dropped.map((x) => `-${x}`),
            ...added.map((x) => `+${x}`),
          );
          after.push(...before.slice(done, from), ...added);
          done = from + drop;
        }
        after.push(...before.slice(done));
        fc.pre(hunks.length > 0);
        expect(await apply(`${before.join('\n')}\n`, ...hunks)).toBe(`${after.join('\n')}\n`);
      },
    ),
    { numRuns: runs(2000) },
  );
});

interface Edit {
  readonly at: number;
  readonly drop: number;
  readonly add: readonly string[];
}

/** Edits in order, each hunk reaching from the one before to the next line after it: always clear, never overlapping. */
function difference(before: readonly string[], edits: readonly Edit[]): { after: string[]; hunks: string[] } {
  const after: string[] = [];
  const hunks = ['@@'];
  let done = 0;
  const keep = (to: number): void => {
    for (; done < to; done++) {
      after.push(before[done] ?? '');
      hunks.push(` ${before[done]}`);
    }
  };
  for (const { at, drop, add } of [...edits].sort(
    (a, b) => (a.at % before.length) - (b.at % before.length),
  )) {
    keep(Math.max(done, at % before.length));
    for (let i = 0; i < drop && done < before.length; i++, done++) hunks.push(`-${before[done]}`);
    for (const line of add) {
      after.push(line);
      hunks.push(`+${line}`);
    }
  }
  keep(before.length);
  return { after, hunks };
}

test(`no more than ${MAX_PLACES_TOLD} places are told`, async () => {
  const lines = Array.from({ length: MAX_PLACES_TOLD }, (_, i) => i + 1);
  await expect(apply('x\n'.repeat(50), '-x', '+y')).rejects.toMatchObject({ data: { lines } });
});

test(`a file of more than ${MAX_PATCHED_LINES} lines is not patched, one of as many is, in little memory`, async () => {
  const lines = Buffer.alloc(MAX_PATCHED_LINES, '\n');
  const hunk = ['-', '+x', '*** End of File'];
  const before = process.memoryUsage().heapUsed; // what others have left there
  expect((await apply(lines, ...hunk)).endsWith('\nx\n')).toBe(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
  await expect(apply(Buffer.concat([lines, Buffer.from('\n')]), ...hunk)).rejects.toMatchObject({
    code: 'too_large',
    limit: MAX_PATCHED_LINES,
  });
});
