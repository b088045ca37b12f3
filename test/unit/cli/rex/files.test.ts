// What the file commands are made of: ranges, lines, changes shown, progress, colours.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/cli/flags.js';
import { coloursFor, printable } from '../../../../src/cli/colours.js';
import { parseBytes, parseCount, parseLines, parseMode } from '../../../../src/cli/rex/files/parse-range.js';
import { Progress, sayBytes, saySeconds } from '../../../../src/cli/rex/files/progress.js';
import { MAX_SHOWN_HUNKS, replaceText, sayDiff } from '../../../../src/cli/rex/files/show-diff.js';
import { takeLines } from '../../../../src/cli/rex/files/take-lines.js';
import { runs } from '../../../helpers/runs.js';

const plain = coloursFor({ isTTY: false } as NodeJS.WriteStream, {});

describe('ranges', () => {
  test.each([
    ['3', 3, 3],
    ['3-7', 3, 7],
    ['3:7', 3, 7],
    ['3-', 3, Number.MAX_SAFE_INTEGER],
    ['-7', 1, 7],
  ])('%s', (text, first, last) => {
    expect(parseLines(text)).toEqual({ first, last });
  });

  test.each(['', '-', '0', '7-3', 'a', '1-2-3', '1.5'])('%j are no lines', (text) => {
    expect(() => parseLines(text)).toThrow(UsageError);
  });

  test('of bytes, counts and modes', () => {
    expect([parseBytes('0'), parseBytes('64k'), parseBytes('1M'), parseBytes('2GiB')]).toEqual([
      0,
      65_536,
      2 ** 20,
      2 ** 31,
    ]);
    expect([parseCount('12'), parseMode('0755'), parseMode('644')]).toEqual([12, 0o755, 0o644]);
    for (const bad of ['', '-1', '1.5', 'x', '9'.repeat(30)])
      expect(() => parseBytes(bad)).toThrow(UsageError);
    for (const bad of ['', '9', '888', '12345']) expect(() => parseMode(bad)).toThrow(UsageError);
    expect(() => parseCount('1e3')).toThrow(UsageError);
  });

  test('take the same lines as splitting would, however the bytes are cut', async () => {
    const texts = fc.array(fc.constantFrom('a', 'bc', '\n', '\n\n', 'ü'), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 8 }), fc.nat(8), async (parts, first, more) => {
        const chunks = (async function* () {
          for (const part of parts) yield Buffer.from(part);
        })();
        const got: Buffer[] = [];
        for await (const bytes of takeLines(chunks, { first, last: first + more })) got.push(bytes);
        const lines = parts.join('').match(/[^\n]*\n|[^\n]+$/g) ?? [];
        expect(Buffer.concat(got).toString()).toBe(lines.slice(first - 1, first + more).join(''));
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('a change', () => {
  test('is the same as the language makes it, and its hunks are the lines that differ', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ab', '\n', ' '), { maxLength: 40 })
      .map((parts) => parts.join(''));
    const word = fc
      .array(fc.constantFrom('a', 'b', '\n'), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, word, word, (text, old, fresh) => {
        const all = replaceText(text, old, fresh, true);
        expect(all.text).toBe(text.split(old).join(fresh));
        expect(all.count).toBe(text.split(old).length - 1);
        const one = replaceText(text, old, fresh, false);
        expect(one.text).toBe(text.replace(old, () => fresh));
        const [hunk] = one.diff;
        const lines = text.split('\n');
        const at = (hunk?.line ?? 1) - 1;
        const patched = lines.toSpliced(at, hunk?.removed.length ?? 0, ...(hunk?.added ?? []));
        expect(patched.join('\n')).toBe(one.text);
        expect(lines.slice(at, at + (hunk?.removed.length ?? 0))).toEqual(hunk?.removed ?? []);
      }),
      { numRuns: runs(5000) },
    );
  });

  test('is shown with what is around it, and at most MAX_SHOWN_HUNKS of it', () => {
    const change = replaceText('1\n2\n3\n4\nold\n6\n7\n8\n9\n', 'old', 'new', false);
    expect(sayDiff('web:f', change, plain)).toBe(
      ['--- web:f', '+++ web:f', '@@ line 5 @@', ' 2', ' 3', ' 4', '-old', '+new', ' 6', ' 7', ' 8'].join(
        '\n',
      ),
    );
    const many = replaceText('x\n'.repeat(MAX_SHOWN_HUNKS + 5), 'x', 'y', true);
    expect(many.diff).toHaveLength(MAX_SHOWN_HUNKS);
    expect(sayDiff('f', many, plain)).toMatch(/… and 5 more$/);
  });

  test('cannot play tricks on a terminal', () => {
    expect(printable('a\u001b]0;title\u0007\tb\n')).toBe('a\\x1b]0;title\\x07\tb\\x0a');
  });
});

describe('people', () => {
  test('get colours on a terminal, unless they say no', () => {
    const terminal = { isTTY: true } as NodeJS.WriteStream;
    expect(coloursFor(terminal, {}).red('x')).toBe('\u001b[31mx\u001b[0m');
    expect(coloursFor(terminal, { NO_COLOR: '1' }).red('x')).toBe('x');
    expect(coloursFor(terminal, { TERM: 'dumb' }).on).toBe(false);
    expect(plain.red('x')).toBe('x');
    expect(coloursFor({ isTTY: false } as NodeJS.WriteStream, { FORCE_COLOR: '1' }).on).toBe(true);
  });

  test('read sizes and times', () => {
    expect([0, 1023, 1024, 1.5 * 1024 ** 2, 200 * 1024 ** 3].map(sayBytes)).toEqual([
      '0 B',
      '1023 B',
      '1.0 KiB',
      '1.5 MiB',
      '200 GiB',
    ]);
    expect([0.2, 59, 61, 7200].map(saySeconds)).toEqual(['1s', '59s', '1m01s', '2h00m']);
  });

  test('see how far it is, how fast, and how long it takes, in one line', () => {
    let now = 0;
    const written: string[] = [];
    const stream = {
      columns: 200,
      write: (text: string) => written.push(text),
    } as unknown as NodeJS.WriteStream;
    const MIB = 1024 ** 2;
    {
      using progress = new Progress({
        totalBytes: 10 * MIB,
        totalFiles: 2,
        stream,
        colours: plain,
        now: () => now,
      });
      progress.begin('web:a\nb');
      progress.add(4 * MIB, true);
      progress.add(MIB, false);
      progress.finishFile();
      now = 1000;
      expect(progress.line(200)).toBe(
        ` 50% ${'█'.repeat(12)}${'░'.repeat(12)}  5.0 MiB/10 MiB  1.0 MiB/s  eta 5s  1/2 files  web:a\\x0ab`,
      );
      expect(progress.line(40)).toHaveLength(39);
    }
    expect(written).toEqual(['\r\u001b[K']);
  });
});
