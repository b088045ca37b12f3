// rex on files, as its users call it: on this machine, and on a target behind a stand-in for ssh.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_EDIT_BYTES } from '../../src/cli/rex/edit.js';
import { MAX_JSON_CONTENT_BYTES } from '../../src/cli/rex/read.js';
import { BYTES, clear, rexFarFiles } from '../helpers/rex-far-files.js';

const home = rexFarFiles();
const { far, here, rex } = home;
beforeEach(() => clear(home));
afterAll(() => home[Symbol.dispose]());

describe('read', () => {
  test('gives the bytes as they are, of several files, of lines and of ranges', async () => {
    writeFileSync(join(far, 'a.bin'), BYTES);
    writeFileSync(join(here, 'l.txt'), 'one\ntwo\nthree\n');
    expect((await rex(['read', 'web:a.bin'])).stdout.equals(BYTES)).toBe(true);
    expect((await rex(['read', 'web:a.bin', '--offset', '1k', '--length', '3'])).stdout).toEqual(
      BYTES.subarray(1024, 1027),
    );
    expect((await rex(['read', 'l.txt', '--lines', '2-3', 'local:l.txt'])).out).toBe(
      'two\nthree\ntwo\nthree\n',
    );
    expect((await rex(['read', '-t', 'web', 'a.bin', '--length', '0'])).out).toBe('');
  });

  test('as JSON is text or base64, up to MAX_JSON_CONTENT_BYTES', async () => {
    writeFileSync(join(far, 't'), 'tü');
    writeFileSync(join(far, 'b'), Buffer.from([255, 0]));
    expect(JSON.parse((await rex(['read', '--json', 'web:t'])).out)).toMatchObject({
      target: 'web',
      encoding: 'utf8',
      content: 'tü',
      size: 3,
    });
    expect(JSON.parse((await rex(['read', '--json', 'web:b'])).out)).toMatchObject({
      encoding: 'base64',
      content: '/wA=',
    });
    truncateSync(join(far, 'b'), MAX_JSON_CONTENT_BYTES + 1);
    expect(await rex(['read', '--json', 'web:b'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('too large for JSON') as string,
    });
  });

  test('says what is wrong with a path, a root, a target, a folder', async () => {
    const cases = [
      [['read', 'web:none'], 1, 'web:none: no such file or directory'],
      [['read', 'web:/etc/passwd'], 1, `Allowed there: ${far}`],
      [['read', 'wbe:x'], 1, 'no target "wbe"'],
      [['read', 'web:other'], 1, 'is a directory'],
      [['read', 'a b:c'], 2, 'write "./a b:c"'],
      [['read', 'a:b'], 1, 'write: ./a:b'],
      [['search', '', 'web:'], 2, 'an empty text'],
      [['search'], 2, 'Try: rex search --help'],
      [['write', 'web:a/', '--content', 'x'], 2, 'is a folder'],
      [['read', ''], 2, 'an empty path'],
      [['read', 'x', '--lines', 'z'], 2, 'are no lines'],
    ] as const;
    writeFileSync(join(here, 'a:b'), '');
    for (const [args, code, said] of cases) {
      const ran = await rex(args);
      expect([ran.code, ran.err], args.join(' ')).toEqual([code, expect.stringContaining(said)]);
    }
  });

  test('of several goes on after one that cannot be read', async () => {
    writeFileSync(join(far, 'a'), 'A');
    const ran = await rex(['read', 'web:none', 'web:a']);
    expect([ran.code, ran.out]).toEqual([1, 'A']);
  });
});

describe('write', () => {
  test('takes standard input, a file or a text; makes folders, sets a mode, appends, creates only', async () => {
    expect(await rex(['write', 'web:a'], { input: BYTES })).toMatchObject({ code: 0 });
    expect(readFileSync(join(far, 'a')).equals(BYTES)).toBe(true);
    writeFileSync(join(here, 'f'), 'from file');
    expect(await rex(['write', 'web:deep/er/b', '--from', 'f', '-p', '--mode', '750'])).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(far, 'deep/er/b'), 'utf8')).toBe('from file');
    expect(statSync(join(far, 'deep/er/b')).mode & 0o777).toBe(0o750);
    await rex(['write', 'web:deep/er/b', '--append', '--content', '!']);
    expect(readFileSync(join(far, 'deep/er/b'), 'utf8')).toBe('from file!');
    expect(await rex(['write', 'web:a', '--create', '--content', 'x'])).toMatchObject({ code: 1 });
    expect(await rex(['write', 'web:no/where', '--content', 'x'])).toMatchObject({ code: 1 });
    expect(await rex(['write', 'web:empty', '--content', ''])).toMatchObject({ code: 0 });
    expect(readFileSync(join(far, 'empty'), 'utf8')).toBe('');
  });

  test('of more than one request takes its name only when it is whole', async () => {
    const big = Buffer.alloc(9 * 1024 * 1024, 'chunk of text ');
    chmodSync(join(far, 'other'), 0o755);
    writeFileSync(join(far, 'big'), 'old', { mode: 0o600 });
    expect(JSON.parse((await rex(['write', '--json', 'web:big'], { input: big })).out)).toMatchObject({
      bytes_written: big.length,
      created: false,
      sha256: createHash('sha256').update(big).digest('hex'),
    });
    expect(readFileSync(join(far, 'big')).equals(big)).toBe(true);
    expect(statSync(join(far, 'big')).mode & 0o777).toBe(0o600);
    expect(readdirSync(far).sort()).toEqual(['big', 'other']);
    expect(await rex(['write', 'web:big', '--create'], { input: big })).toMatchObject({ code: 1 });
    expect(readdirSync(far).sort()).toEqual(['big', 'other']);
  });

  test('with an expectation that does not hold tells of the conflict and writes nothing', async () => {
    writeFileSync(join(far, 'a'), 'theirs');
    const right = createHash('sha256').update('theirs').digest('hex');
    const wrong = await rex(['write', 'web:a', '--content', 'x', '--expect-sha256', '0'.repeat(64)]);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining(`sha256 now ${right}`)]);
    expect(await rex(['write', 'web:a', '--content', 'x', '--expect-sha256', right])).toMatchObject({
      code: 0,
    });
  });
});

describe('edit', () => {
  test('shows the change, makes it, and with --dry-run only shows it', async () => {
    writeFileSync(join(far, 'c'), 'a\nport = 80\nb\n');
    const dry = await rex(['edit', 'web:c', '--old', '80', '--new', '8080', '--dry-run']);
    expect(dry.out).toContain('-port = 80\n+port = 8080\n');
    expect(readFileSync(join(far, 'c'), 'utf8')).toBe('a\nport = 80\nb\n');
    expect(
      await rex(['edit', 'web:c', '--old-from', '-', '--new', 'z\n'], { input: 'a\nport = 80\n' }),
    ).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(far, 'c'), 'utf8')).toBe('z\nb\n');
  });

  test('refuses what is not there, what is there twice, and files over MAX_EDIT_BYTES', async () => {
    writeFileSync(join(far, 'c'), 'x x');
    expect(await rex(['edit', 'web:c', '--old', 'q', '--new', 'w'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not there') as string,
    });
    expect(await rex(['edit', 'web:c', '--old', 'x', '--new', 'w'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('--all') as string,
    });
    expect(await rex(['edit', 'web:c', '--old', 'x', '--new', 'w', '--all'])).toMatchObject({ code: 0 });
    expect(readFileSync(join(far, 'c'), 'utf8')).toBe('w w');
    truncateSync(join(far, 'c'), MAX_EDIT_BYTES + 1);
    expect(await rex(['edit', 'web:c', '--old', 'x', '--new', 'w'])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`up to ${MAX_EDIT_BYTES}`) as string,
    });
    expect(await rex(['edit', 'web:c', '--old', 'x'])).toMatchObject({ code: 2 });
  });
});

describe('looking around', () => {
  beforeEach(() => {
    mkdirSync(join(far, 'src/deep'), { recursive: true });
    writeFileSync(join(far, 'src/a.ts'), 'const needle = 1;\nnext\n');
    writeFileSync(join(far, 'src/deep/b.ts'), 'before\nneedle\nafter\n');
    writeFileSync(join(far, 'src/.hidden'), '');
    symlinkSync('a.ts', join(far, 'src/link'));
  });

  test('ls lists names, trees, facts, and hides dots unless asked', async () => {
    expect((await rex(['ls', 'web:src'])).out).toBe('a.ts\ndeep\nlink\n');
    expect((await rex(['ls', '-a', 'web:src'])).out).toBe('.hidden\na.ts\ndeep\nlink\n');
    expect((await rex(['ls', '-R', 'web:src'])).out).toBe('a.ts\ndeep\ndeep/b.ts\nlink\n');
    expect((await rex(['ls', '-l', 'web:src/a.ts'])).out).toMatch(
      /^- 23 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d a\.ts\n$/,
    );
    expect(JSON.parse((await rex(['ls', '--json', '-t', 'web'])).out)).toMatchObject({
      target: 'web',
      path: far,
      truncated: false,
    });
    expect(await rex(['ls', 'web:none'])).toMatchObject({ code: 1 });
  });

  test('stat tells of each, and fails when one is missing', async () => {
    const ran = await rex(['stat', '--json', 'web:src/link', 'web:none', join(far, 'src')]);
    const rows = ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows).toMatchObject([
      { type: 'symlink', symlink_target: 'a.ts' },
      { exists: false },
      { target: 'local', type: 'dir' },
    ]);
    expect(ran.code).toBe(1);
    expect((await rex(['stat', 'web:src/a.ts'])).out).toContain('size      23');
  });

  test('glob gives paths as the pattern is written', async () => {
    expect((await rex(['glob', 'web:src/**/*.ts'])).out).toBe('src/a.ts\nsrc/deep/b.ts\n');
    expect((await rex(['glob', `web:${far}/src/{a,b}.ts`])).out).toBe(`${far}/src/a.ts\n`);
    expect((await rex(['glob', 'web:src/*.ts', '-0'])).stdout).toEqual(Buffer.from('src/a.ts\0'));
    expect((await rex(['glob', 'web:nothing*'])).out).toBe('');
  });

  test('search shows lines like grep, says 1 when there are none, and tells of bounds', async () => {
    expect((await rex(['search', 'needle', 'web:src'])).out).toBe(
      'src/a.ts:1:const needle = 1;\nsrc/deep/b.ts:2:needle\n',
    );
    expect((await rex(['search', '-e', '^need.e$', '-C', '1', '-t', 'web'])).out).toBe(
      'src/deep/b.ts-1-before\nsrc/deep/b.ts:2:needle\nsrc/deep/b.ts-3-after\n',
    );
    expect((await rex(['search', '-l', 'needle', 'web:src', '-g', '!b.ts'])).out).toBe('src/a.ts\n');
    expect(await rex(['search', 'absent', 'web:'])).toMatchObject({ code: 1, err: '' });
    expect(await rex(['search', 'e', 'web:src', '--max', '1'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('there are more matches') as string,
    });
    expect(await rex(['search', '-e', '(', 'web:src'])).toMatchObject({ code: 1 });
  });
});

test('every command has help with examples', async () => {
  for (const name of ['read', 'write', 'edit', 'ls', 'glob', 'stat', 'search', 'cp', 'target']) {
    const ran = await rex([name, '--help']);
    expect([ran.code, ran.out], name).toEqual([0, expect.stringContaining(`Examples:\n`)]);
  }
});
