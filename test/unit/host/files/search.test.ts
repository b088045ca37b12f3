import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { setImmediate as nextRound } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  ForbiddenPathError,
  InvalidPatternError,
  NotAFileError,
  NotFoundError,
} from '../../../../src/host/files/errors.js';
import {
  MAX_SEARCH_BYTES,
  MAX_SEARCH_FILE_BYTES,
  MAX_SEARCH_FILES,
  MAX_SEARCH_MATCHES,
  MAX_SEARCH_MS,
} from '../../../../src/host/files/search.js';
import { MAX_NAME_PATTERNS } from '../../../../src/host/files/search-names.js';
import { MAX_QUERY_CHARS } from '../../../../src/host/files/search-query.js';
import { MAX_CONTEXT_LINES, MAX_MATCH_TEXT_BYTES } from '../../../../src/host/files/search-text.js';
import { runs } from '../../../helpers/runs.js';
import { makeSandbox, run, type Sandbox } from './sandbox.js';
import { type Asked, found, search } from './search-box.js';

describe('what is found', () => {
  test('every line with the text, once, by file and line', async () => {
    using box = makeSandbox();
    box.file('b.txt', 'one\ntwo two\r\nthree\n');
    box.file('a/c.txt', 'two');
    box.file('a.txt', 'no\n');
    expect(await found(box, 'two')).toEqual(['a/c.txt:1:1', 'b.txt:2:1']);
    const { matches, end, filesSearched } = await search(box, 'two two');
    expect(matches).toEqual([{ path: box.at('b.txt'), line: 2, column: 1, text: 'two two' }]);
    expect([end, filesSearched]).toEqual([undefined, 3]);
  });

  test('literal text is literal, an expression is one, and letters may be of either case', async () => {
    using box = makeSandbox();
    box.file('a', 'a.b*\naxbb\nA.B*\n\u00C9t\u00E9\n');
    expect(await found(box, 'a.b*')).toEqual(['a:1:1']);
    expect(await found(box, 'a.b*', { caseSensitive: false })).toEqual(['a:1:1', 'a:3:1']);
    expect(await found(box, 'a.b*', { regex: true })).toEqual(['a:1:1', 'a:2:1']);
    expect(await found(box, '^a.B\\*$', { regex: true, caseSensitive: false })).toEqual(['a:1:1', 'a:3:1']);
    expect(await found(box, '\u00E9T\u00C9', { caseSensitive: false })).toEqual(['a:4:1']);
    expect(await found(box, String.raw`\p{Lu}t`, { regex: true })).toEqual(['a:4:1']);
    expect(await found(box, String.raw`a\.b\*\-?`, { regex: true })).toEqual(['a:1:1']); // needless escapes are forgiven
  });

  test('columns count characters, also behind bytes that are none', async () => {
    using box = makeSandbox();
    box.file('a', '\u20AC\u{1F600}x\n');
    box.file('b', Buffer.from([0xff, 0xfe, 0x78, 0x0a]));
    for (const regex of [false, true]) {
      expect((await found(box, 'x', { regex }))[0]).toBe('a:1:3');
      expect((await found(box, 'x', { regex }))[1]).toMatch(/^b:1:/);
    }
    expect(await found(box, '\udcff\udcfex')).toEqual(['b:1:1']); // bytes that are no text, spelled as in names
  });

  test.each([
    ['as text', false, 60],
    ['as an expression', true, 6], // a thread each time
  ])('the same lines as grep finds, %s', async (_, regex, numRuns) => {
    using box = makeSandbox();
    const line = fc.array(fc.constantFrom('a', 'b', 'ab', '.', '\u00E9', ' '), { maxLength: 6 });
    const text = fc.array(
      line.map((parts) => parts.join('')),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom('a', 'ab', 'b ', '\u00E9', ' a'),
        fc.boolean(),
        async (lines, query, isLast) => {
          box.file('f', lines.join('\n') + (isLast ? '\n' : ''));
          const expected = grep(box, query);
          const { matches } = await search(box, query, { regex });
          expect(matches.map((match) => match.line)).toEqual(expected);
        },
      ),
      { numRuns },
    );
  });

  test('lines around a match, as many as there are', async () => {
    using box = makeSandbox();
    box.file('a', '1\r\n2\r\nx\r\n4\r\n5\r\n');
    const around = async (context: number): Promise<unknown> => {
      const [match] = (await search(box, 'x', { context })).matches;
      return [match?.before, match?.text, match?.after];
    };
    expect(await around(1)).toEqual([['2'], 'x', ['4']]);
    expect(await around(9)).toEqual([['1', '2'], 'x', ['4', '5']]);
  });
});

describe('where is looked', () => {
  test('by names, paths and folders to take and to leave', async () => {
    using box = makeSandbox();
    for (const file of ['a.ts', 'a.js', 'src/b.ts', 'src/deep/c.ts', 'node_modules/d.ts', 'docs/e.md'])
      box.file(file, 'x');
    expect(await found(box, 'x', { include: ['*.ts'], exclude: ['node_modules'] })).toEqual([
      'a.ts:1:1',
      'src/b.ts:1:1',
      'src/deep/c.ts:1:1',
    ]);
    expect(await found(box, 'x', { include: ['src/*.ts', 'docs/'] })).toEqual([
      'docs/e.md:1:1',
      'src/b.ts:1:1',
    ]);
    expect(await found(box, 'x', { include: ['*.{js,md}'] })).toEqual(['a.js:1:1', 'docs/e.md:1:1']);
    expect(await found(box, 'x', { include: ['*'], exclude: ['src/**', '*.js', 'docs/'] })).toEqual([
      'a.ts:1:1',
      'node_modules/d.ts:1:1',
    ]);
    expect(await found(box, 'x', { in: 'src', include: ['/deep/*'.slice(1)] })).toEqual([
      'src/deep/c.ts:1:1',
    ]);
    await expect(search(box, 'x', { include: ['../*'] })).rejects.toBeInstanceOf(InvalidPatternError);
    await expect(search(box, 'x', { exclude: ['/etc/*'] })).rejects.toBeInstanceOf(InvalidPatternError);
  });

  test('hidden files unless told not to; what .gitignore leaves out only when told so', async () => {
    using box = makeSandbox();
    box.file('.gitignore', 'out\n');
    for (const file of ['.env', 'out/a', '.git/x', 'in']) box.file(file, 'x');
    expect(await found(box, 'x')).toEqual(['.env:1:1', '.git/x:1:1', 'in:1:1', 'out/a:1:1']);
    expect(await found(box, 'x', { gitignore: true })).toEqual(['.env:1:1', 'in:1:1']);
    expect(await found(box, 'x', { gitignore: true, hidden: false })).toEqual(['in:1:1']);
  });

  test('one file by its name, whatever the rules say', async () => {
    using box = makeSandbox();
    box.file('.gitignore', 'a\n');
    box.file('a', 'x');
    expect(await found(box, 'x', { in: 'a', gitignore: true, include: ['*.ts'] })).toEqual(['a:1:1']);
    expect((await search(box, 'x', { in: 'a' })).path).toBe(box.at('a'));
    await expect(search(box, 'x', { in: 'none' })).rejects.toBeInstanceOf(NotFoundError);
  });

  test('never through links on the way, nor outside by one that was named', async () => {
    using box = makeSandbox();
    box.file('dir/a', 'stay');
    symlinkSync(box.outside, box.at('out'));
    symlinkSync(`${box.outside}/secret.txt`, box.at('file'));
    symlinkSync('dir', box.at('in'));
    expect(await found(box, 'stay')).toEqual(['dir/a:1:1']);
    expect(await found(box, 'stay', { in: 'in' })).toEqual(['in/a:1:1']);
    for (const path of ['out', 'file']) {
      await expect(search(box, 'stay', { in: path })).rejects.toBeInstanceOf(ForbiddenPathError);
    }
  });

  test('never into pipes, sockets and devices; binary, large and forbidden files are counted', async () => {
    using box = makeSandbox({ hardLinks: 'refuse' });
    run('mkfifo', box.at('pipe'));
    run('mknod', box.at('zero'), 'c', '1', '5');
    box.file('binary', 'x\0x');
    box.file('large', 'x');
    truncateSync(box.at('large'), MAX_SEARCH_FILE_BYTES + 1);
    box.file('twice', 'x');
    linkSync(box.at('twice'), box.at('twice too'));
    box.file('ok', 'x');
    const result = await search(box, 'x');
    expect(result.matches.map(({ path }) => path)).toEqual([box.at('ok')]);
    expect(result).toMatchObject({ binaryFiles: 1, largeFiles: 1, unreadable: 2, filesSearched: 1 });
    await expect(search(box, 'x', { in: 'pipe' })).rejects.toBeInstanceOf(NotAFileError);
  });
});

describe('bounds', () => {
  test('of matches, in all and for each file', async () => {
    using box = makeSandbox();
    for (const name of ['a', 'b']) box.file(name, 'x\n'.repeat(5));
    for (const regex of [false, true]) {
      expect(await search(box, 'x', { regex, maxMatches: 7 })).toMatchObject({ end: 'matches' });
      expect(await found(box, 'x', { regex, maxMatches: 7 })).toHaveLength(7);
      expect(await search(box, 'x', { regex, maxMatches: 10 })).toMatchObject({ end: undefined });
      expect(await found(box, 'x', { regex, maxPerFile: 2 })).toEqual(['a:1:1', 'a:2:1', 'b:1:1', 'b:2:1']);
    }
    box.file('many', 'y\n'.repeat(MAX_SEARCH_MATCHES + 1));
    const most = await search(box, 'y', { maxMatches: 10 * MAX_SEARCH_MATCHES });
    expect([most.matches.length, most.end]).toEqual([MAX_SEARCH_MATCHES, 'matches']);
  });

  test('of the room its caller has', async () => {
    using box = makeSandbox();
    box.file('a', 'x\n'.repeat(5));
    let room = 3;
    const result = await search(box, 'x', { hasRoom: () => room-- > 0 });
    expect([result.matches.length, result.end]).toEqual([3, 'room']);
  });

  test('of files and of bytes', async () => {
    using box = makeSandbox();
    for (const name of ['a', 'b', 'c']) box.file(name, 'x\n');
    expect(await search(box, 'x', { maxFiles: 2 })).toMatchObject({ end: 'files', filesSearched: 2 });
    expect(await search(box, 'x', { maxFiles: 3 })).toMatchObject({ end: undefined, filesSearched: 3 });
    expect(await search(box, 'x', { maxBytes: 5 })).toMatchObject({ end: 'bytes', filesSearched: 2 });
    expect(await search(box, 'x', { maxBytes: 6 })).toMatchObject({ end: undefined });
  });

  test('of time, and what was found until then is given', async () => {
    using box = makeSandbox();
    for (let i = 0; i < 300; i++) box.file(`f${i}`, 'x\n');
    expect(await search(box, 'x', { maxMs: 0 })).toMatchObject({ end: 'time' });
    expect(await search(box, 'x', { regex: true, maxMs: 0 })).toMatchObject({ end: 'time' });
  });

  // 100,000 files take a minute on a busy machine.
  test.runIf(runs(2, 1) === 2)(
    'of files, whatever its caller allows',
    async () => {
      using box = makeSandbox();
      for (const folder of ['a', 'b', 'c']) {
        const first = box.file(`${folder}/0`, 'x\n');
        for (let i = 1; i <= MAX_SEARCH_FILES / 3; i++) linkSync(first, box.at(folder, String(i)));
      }
      const result = await search(box, 'y', { maxFiles: 2 * MAX_SEARCH_FILES });
      expect([result.filesSearched, result.end]).toEqual([MAX_SEARCH_FILES, 'files']);
    },
    300_000,
  );

  test('of bytes, however many names they have', async () => {
    using box = makeSandbox();
    const first = box.file('0', Buffer.alloc(MAX_SEARCH_FILE_BYTES, 'a'));
    const files = MAX_SEARCH_BYTES / MAX_SEARCH_FILE_BYTES;
    for (let i = 1; i <= files; i++) linkSync(first, box.at(String(i)));
    const result = await search(box, 'needle', { maxBytes: 2 * MAX_SEARCH_BYTES });
    expect([result.filesSearched, result.end]).toEqual([files, 'bytes']);
  });

  test.each([
    [MAX_SEARCH_MS, 'time'],
    [MAX_SEARCH_MS / 2, undefined],
  ])('of time, whatever its caller allows: %i ms later', async (passedMs, end) => {
    using box = makeSandbox();
    for (let i = 0; i < 300; i++) box.file(`f${i}`, 'x\n');
    const now = performance.now(); // no other time passes, however busy the machine is
    let looks = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + (++looks > 100 ? passedMs : 0));
    const result = await search(box, 'x', { maxMs: 2 * MAX_SEARCH_MS });
    clock.mockRestore();
    expect(result.end).toBe(end);
  });

  test('of a line, cut between characters with the match in sight', async () => {
    using box = makeSandbox();
    box.file('a', `${'\u20AC'.repeat(5000)}needle${'\u{1F600}'.repeat(5000)}\nshort needle\n`);
    for (const regex of [false, true]) {
      const [long, short] = (await search(box, 'needle', { regex, context: 1 })).matches;
      expect(long).toMatchObject({ line: 1, column: 5001, cut: true, after: ['short needle'] });
      expect(Buffer.byteLength(long?.text ?? '')).toBeLessThanOrEqual(MAX_MATCH_TEXT_BYTES);
      expect(long?.text).toMatch(/^\u20AC+needle\u{1F600}+$/u);
      expect(short).toMatchObject({ text: 'short needle', column: 7 });
      expect(short?.cut).toBeUndefined();
      expect(Buffer.byteLength(short?.before?.[0] ?? '')).toBeLessThanOrEqual(MAX_MATCH_TEXT_BYTES);
    }
  });

  test('of a file that is one line', async () => {
    using box = makeSandbox();
    box.file('a', Buffer.concat([Buffer.alloc(MAX_SEARCH_FILE_BYTES - 6, 'a'), Buffer.from('needle')]));
    for (const regex of [false, true]) {
      const { matches, largeFiles } = await search(box, 'needle', { regex });
      expect([matches[0]?.column, largeFiles]).toEqual([MAX_SEARCH_FILE_BYTES - 5, 0]);
    }
  });

  test('of the lines around a match', async () => {
    using box = makeSandbox();
    box.file('a', `${'b\n'.repeat(100)}x\n${'a\n'.repeat(100)}`);
    const [match] = (await search(box, 'x', { context: 1000 })).matches;
    expect([match?.before?.length, match?.after?.length]).toEqual([MAX_CONTEXT_LINES, MAX_CONTEXT_LINES]);
  });

  test('of the query and of the patterns for names', async () => {
    using box = makeSandbox();
    const refused = async (query: string, asked: Asked = {}): Promise<void> =>
      await expect(search(box, query, asked)).rejects.toBeInstanceOf(InvalidPatternError);
    await refused('');
    await refused('a\nb');
    await refused('(', { regex: true });
    await refused('x'.repeat(MAX_QUERY_CHARS + 1));
    await refused('x', { include: Array.from({ length: MAX_NAME_PATTERNS + 1 }, () => 'a') });
    expect(await found(box, 'x'.repeat(MAX_QUERY_CHARS))).toEqual([]);
  });
});

test('files that come and go meanwhile are passed by', async () => {
  using box = makeSandbox();
  for (let i = 0; i < 1500; i++) box.file(`f${i}`, 'x\n');
  const result = search(box, 'x', { maxMatches: 5000 });
  await nextRound();
  for (let i = 700; i < 1500; i++) rmSync(box.at(`f${i}`));
  mkdirSync(box.at('f1499'));
  writeFileSync(box.at('z'), 'x');
  const { matches, unreadable } = await result;
  expect(matches.length + unreadable).toBeLessThanOrEqual(1501);
});

function grep(box: Sandbox, query: string): number[] {
  try {
    const output = execFileSync('grep', ['-nF', '-e', query, box.at('f')], {
      env: { ...process.env, LC_ALL: 'C' },
    });
    return output
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((text) => Number(text.split(':')[0]));
  } catch {
    return []; // none
  }
}
