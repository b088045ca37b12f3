// rex on files, as its users call it: on this machine, and on a target behind a stand-in for ssh.

import { createHash } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_EDIT_BYTES } from '../../src/cli/rex/edit.js';
import { MAX_JSON_CONTENT_BYTES } from '../../src/cli/rex/read.js';
import { bin } from '../helpers/program.js';
import { until } from '../helpers/wait.js';

let folder = '';
let far = '';
let here = '';
let env: NodeJS.ProcessEnv = {};

/** Runs its last word here: all that ssh is to rex. */
const SSH = '#!/bin/sh\nfor last; do :; done\nexec /bin/sh -c "$last"\n';

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rex-files-')));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/ssh'), SSH, { mode: 0o755 });
  env = {
    ...process.env,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    NO_COLOR: '1',
  };
  far = join(folder, 'far');
  here = join(folder, 'here');
  mkdirSync(join(folder, 'config/rexd'), { recursive: true });
  const command = `${process.execPath} ${bin('rexd')} --stdio --root ${far}`;
  const web = { transport: 'ssh', host: 'web', command, workspaceRoots: [far], defaultCwd: far };
  const other = {
    ...web,
    host: 'other',
    workspaceRoots: [join(far, 'other')],
    defaultCwd: join(far, 'other'),
  };
  writeFileSync(
    join(folder, 'config/rexd/targets.json'),
    JSON.stringify({ version: 1, targets: { web, other } }),
  );
});

beforeEach(() => {
  rmSync(far, { recursive: true, force: true });
  rmSync(here, { recursive: true, force: true });
  mkdirSync(join(far, 'other'), { recursive: true });
  mkdirSync(here);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

async function rex(args: readonly string[], input: string | Buffer = ''): Promise<Ran> {
  const child = spawn(process.execPath, [bin('rex'), '--no-keep', ...args], { cwd: here, env });
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString('utf8')));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(stdout), stderr };
}

const text = ({ stdout }: Ran): string => stdout.toString('utf8');
const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7 + (i >> 8)) % 256));

describe('read', () => {
  test('gives the bytes as they are, of several files, of lines and of ranges', async () => {
    writeFileSync(join(far, 'a.bin'), BYTES);
    writeFileSync(join(here, 'l.txt'), 'one\ntwo\nthree\n');
    expect((await rex(['read', 'web:a.bin'])).stdout.equals(BYTES)).toBe(true);
    expect((await rex(['read', 'web:a.bin', '--offset', '1k', '--length', '3'])).stdout).toEqual(
      BYTES.subarray(1024, 1027),
    );
    expect(text(await rex(['read', 'l.txt', '--lines', '2-3', 'local:l.txt']))).toBe(
      'two\nthree\ntwo\nthree\n',
    );
    expect(text(await rex(['read', '-t', 'web', 'a.bin', '--length', '0']))).toBe('');
  });

  test('as JSON is text or base64, up to MAX_JSON_CONTENT_BYTES', async () => {
    writeFileSync(join(far, 't'), 'tü');
    writeFileSync(join(far, 'b'), Buffer.from([255, 0]));
    expect(JSON.parse(text(await rex(['read', '--json', 'web:t'])))).toMatchObject({
      target: 'web',
      encoding: 'utf8',
      content: 'tü',
      size: 3,
    });
    expect(JSON.parse(text(await rex(['read', '--json', 'web:b'])))).toMatchObject({
      encoding: 'base64',
      content: '/wA=',
    });
    truncateSync(join(far, 'b'), MAX_JSON_CONTENT_BYTES + 1);
    expect(await rex(['read', '--json', 'web:b'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('too large for JSON') as string,
    });
  });

  test('says what is wrong with a path, a root, a target, a folder', async () => {
    const cases = [
      [['read', 'web:none'], 1, 'web:none: no such file or directory'],
      [['read', 'web:/etc/passwd'], 1, `Allowed there: ${far}`],
      [['read', 'wbe:x'], 1, 'no target "wbe"'],
      [['read', 'web:other'], 1, 'is a directory'],
      [['read', 'a b:c'], 2, 'write "./a b:c"'],
      [['read', ''], 2, 'an empty path'],
      [['read', 'x', '--lines', 'z'], 2, 'are no lines'],
    ] as const;
    for (const [args, code, said] of cases) {
      const ran = await rex(args);
      expect([ran.code, ran.stderr], args.join(' ')).toEqual([code, expect.stringContaining(said)]);
    }
  });

  test('of several goes on after one that cannot be read', async () => {
    writeFileSync(join(far, 'a'), 'A');
    const ran = await rex(['read', 'web:none', 'web:a']);
    expect([ran.code, text(ran)]).toEqual([1, 'A']);
  });
});

describe('write', () => {
  test('takes standard input, a file or a text; makes folders, sets a mode, appends, creates only', async () => {
    expect(await rex(['write', 'web:a'], BYTES)).toMatchObject({ code: 0 });
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
    expect(JSON.parse(text(await rex(['write', '--json', 'web:big'], big)))).toMatchObject({
      bytes_written: big.length,
      created: false,
      sha256: createHash('sha256').update(big).digest('hex'),
    });
    expect(readFileSync(join(far, 'big')).equals(big)).toBe(true);
    expect(statSync(join(far, 'big')).mode & 0o777).toBe(0o600);
    expect(readdirSync(far).sort()).toEqual(['big', 'other']);
    expect(await rex(['write', 'web:big', '--create'], big)).toMatchObject({ code: 1 });
    expect(readdirSync(far).sort()).toEqual(['big', 'other']);
  });

  test('with an expectation that does not hold tells of the conflict and writes nothing', async () => {
    writeFileSync(join(far, 'a'), 'theirs');
    const right = createHash('sha256').update('theirs').digest('hex');
    const wrong = await rex(['write', 'web:a', '--content', 'x', '--expect-sha256', '0'.repeat(64)]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(`sha256 now ${right}`)]);
    expect(await rex(['write', 'web:a', '--content', 'x', '--expect-sha256', right])).toMatchObject({
      code: 0,
    });
  });
});

describe('edit', () => {
  test('shows the change, makes it, and with --dry-run only shows it', async () => {
    writeFileSync(join(far, 'c'), 'a\nport = 80\nb\n');
    const dry = await rex(['edit', 'web:c', '--old', '80', '--new', '8080', '--dry-run']);
    expect(text(dry)).toContain('-port = 80\n+port = 8080\n');
    expect(readFileSync(join(far, 'c'), 'utf8')).toBe('a\nport = 80\nb\n');
    expect(await rex(['edit', 'web:c', '--old-from', '-', '--new', 'z\n'], 'a\nport = 80\n')).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(far, 'c'), 'utf8')).toBe('z\nb\n');
  });

  test('refuses what is not there, what is there twice, and files over MAX_EDIT_BYTES', async () => {
    writeFileSync(join(far, 'c'), 'x x');
    expect(await rex(['edit', 'web:c', '--old', 'q', '--new', 'w'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not there') as string,
    });
    expect(await rex(['edit', 'web:c', '--old', 'x', '--new', 'w'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--all') as string,
    });
    expect(await rex(['edit', 'web:c', '--old', 'x', '--new', 'w', '--all'])).toMatchObject({ code: 0 });
    expect(readFileSync(join(far, 'c'), 'utf8')).toBe('w w');
    truncateSync(join(far, 'c'), MAX_EDIT_BYTES + 1);
    expect(await rex(['edit', 'web:c', '--old', 'x', '--new', 'w'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`up to ${MAX_EDIT_BYTES}`) as string,
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
    expect(text(await rex(['ls', 'web:src']))).toBe('a.ts\ndeep\nlink\n');
    expect(text(await rex(['ls', '-a', 'web:src']))).toBe('.hidden\na.ts\ndeep\nlink\n');
    expect(text(await rex(['ls', '-R', 'web:src']))).toBe('a.ts\ndeep\ndeep/b.ts\nlink\n');
    expect(text(await rex(['ls', '-l', 'web:src/a.ts']))).toMatch(
      /^- 23 \d{4}-\d\d-\d\d \d\d:\d\d:\d\d a\.ts\n$/,
    );
    expect(JSON.parse(text(await rex(['ls', '--json', '-t', 'web'])))).toMatchObject({
      target: 'web',
      path: far,
      truncated: false,
    });
    expect(await rex(['ls', 'web:none'])).toMatchObject({ code: 1 });
  });

  test('stat tells of each, and fails when one is missing', async () => {
    const ran = await rex(['stat', '--json', 'web:src/link', 'web:none', join(far, 'src')]);
    const rows = text(ran)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows).toMatchObject([
      { type: 'symlink', symlink_target: 'a.ts' },
      { exists: false },
      { target: 'local', type: 'dir' },
    ]);
    expect(ran.code).toBe(1);
    expect(text(await rex(['stat', 'web:src/a.ts']))).toContain('size      23');
  });

  test('glob gives paths as the pattern is written', async () => {
    expect(text(await rex(['glob', 'web:src/**/*.ts']))).toBe('src/a.ts\nsrc/deep/b.ts\n');
    expect(text(await rex(['glob', `web:${far}/src/{a,b}.ts`]))).toBe(`${far}/src/a.ts\n`);
    expect((await rex(['glob', 'web:src/*.ts', '-0'])).stdout).toEqual(Buffer.from('src/a.ts\0'));
    expect(text(await rex(['glob', 'web:nothing*']))).toBe('');
  });

  test('search shows lines like grep, says 1 when there are none, and tells of bounds', async () => {
    expect(text(await rex(['search', 'needle', 'web:src']))).toBe(
      'src/a.ts:1:const needle = 1;\nsrc/deep/b.ts:2:needle\n',
    );
    expect(text(await rex(['search', '-e', '^need.e$', '-C', '1', '-t', 'web']))).toBe(
      'src/deep/b.ts-1-before\nsrc/deep/b.ts:2:needle\nsrc/deep/b.ts-3-after\n',
    );
    expect(text(await rex(['search', '-l', 'needle', 'web:src', '-g', '!b.ts']))).toBe('src/a.ts\n');
    expect(await rex(['search', 'absent', 'web:'])).toMatchObject({ code: 1, stderr: '' });
    expect(await rex(['search', 'e', 'web:src', '--max', '1'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('there are more matches') as string,
    });
    expect(await rex(['search', '-e', '(', 'web:src'])).toMatchObject({ code: 1 });
  });
});

describe('cp', () => {
  const big = Buffer.alloc(20 * 1024 * 1024, BYTES);

  test('goes both ways and from target to target, with mode and time', async () => {
    writeFileSync(join(here, 'f'), BYTES, { mode: 0o751 });
    expect(await rex(['cp', 'f', 'web:'])).toMatchObject({ code: 0, stderr: '', stdout: Buffer.alloc(0) });
    expect(await rex(['cp', 'web:f', 'other:g'])).toMatchObject({ code: 0 });
    expect(await rex(['cp', 'other:g', 'back'])).toMatchObject({ code: 0 });
    expect(readFileSync(join(here, 'back')).equals(BYTES)).toBe(true);
    const [first, last] = [statSync(join(here, 'f')), statSync(join(here, 'back'))];
    expect(last.mode & 0o777).toBe(0o751);
    expect(Math.floor(last.mtimeMs)).toBe(Math.floor(first.mtimeMs));
    expect(readdirSync(far).sort()).toEqual(['f', 'other']);
  });

  test('copies trees with odd names, and keeps links as links', async () => {
    mkdirSync(join(here, 'tree/sub'), { recursive: true });
    for (const name of ['new\nline', ' spaces ', 'ünï', '-rf', 'a:b', "it's"])
      writeFileSync(join(here, 'tree', name), name);
    writeFileSync(join(here, 'tree/sub/empty'), '');
    symlinkSync('sub', join(here, 'tree/link'));
    const there = await rex(['cp', '-r', '--json', 'tree', 'web:']);
    expect(JSON.parse(text(there))).toMatchObject({ files: 7, folders: 2, links: 1, failed: 0 });
    expect(lstatSync(join(far, 'tree/link')).isSymbolicLink()).toBe(true);
    expect(await rex(['cp', '-r', 'web:tree/.', 'again'])).toMatchObject({ code: 0 });
    expect(readdirSync(join(here, 'again')).sort()).toEqual(readdirSync(join(here, 'tree')).sort());
    expect(readFileSync(join(here, 'again/new\nline'), 'utf8')).toBe('new\nline');
  });

  test('names what it does not copy, names that are not UTF-8 among them, and says 1', async () => {
    for (const [root, from, to] of [
      [here, 'odd', 'web:'],
      [far, 'web:strange', '.'],
    ] as const) {
      const tree = join(root, from.replace('web:', ''));
      mkdirSync(tree);
      writeFileSync(join(tree, 'good'), 'k');
      for (const byte of [0xfe, 0xff])
        writeFileSync(Buffer.concat([Buffer.from(join(tree, 'n')), Buffer.of(byte)]), String(byte));
      spawnSync('mkfifo', [join(tree, 'fifo')]);
      const { code, stderr } = await rex(['cp', '-r', from, to]);
      expect(code).toBe(1);
      expect(stderr).toContain(String.raw`/n\xfe: its name is not UTF-8, not copied`);
      expect(stderr).toContain(String.raw`/n\xff: its name is not UTF-8, not copied`);
      expect(stderr).toContain('/fifo: neither file nor folder, not copied');
    }
    expect(readdirSync(join(far, 'odd'))).toEqual(['good']);
    expect(readdirSync(join(here, 'strange'))).toEqual(['good']);
  });

  test('that is interrupted leaves no goal, and the same command goes on where it stopped', async () => {
    writeFileSync(join(here, 'big'), big);
    const child = spawn(process.execPath, [bin('rex'), '--no-keep', 'cp', 'big', 'web:'], { cwd: here, env });
    let said = '';
    child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')));
    const parts = (): string[] => readdirSync(far).filter((name) => name.endsWith('.rex-part'));
    await until(() => parts().length > 0 || child.exitCode !== null, 'a part', 20_000);
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, existsSync(join(far, 'big'))], said).toEqual([130, false]);
    expect(said).toContain('the same command goes on where it stopped');
    const [part = ''] = parts();
    const kept = statSync(join(far, part)).size;
    const again = await rex(['cp', '--json', 'big', 'web:']);
    expect(JSON.parse(text(again))).toMatchObject({ files: 1, bytes: big.length, resumed_bytes: kept });
    expect(readFileSync(join(far, 'big')).equals(big)).toBe(true);
    expect(parts()).toEqual([]);
  });

  test('whose connection is cut, by either end, goes on where it stopped', async () => {
    writeFileSync(join(far, 'big'), big);
    const child = spawn(process.execPath, [bin('rex'), '--no-keep', 'cp', 'web:big', '.'], {
      cwd: here,
      env,
    });
    const isPart = (name: string): boolean =>
      name.endsWith('.rex-part') && statSync(join(here, name)).size > 0;
    const parts = (): string[] => readdirSync(here).filter(isPart);
    await until(() => parts().length > 0 || child.exitCode !== null, 'a part', 20_000);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(existsSync(join(here, 'big'))).toBe(false);
    const again = await rex(['cp', '--json', 'web:big', '.']);
    const summary = JSON.parse(text(again)) as { resumed_bytes: number };
    expect(summary.resumed_bytes).toBeGreaterThan(0);
    expect(readFileSync(join(here, 'big')).equals(big)).toBe(true);
  });

  test('to a host that runs nothing for us is verified all the same, and says what it could not set', async () => {
    const config = join(folder, 'strict.toml');
    const rules = 'deny_commands = ["sh", "chmod", "touch", "sha256sum", "shasum"]';
    writeFileSync(
      config,
      `[security]\n${rules}\n[[security.allowed_roots]]\npath = ${JSON.stringify(far)}\n`,
    );
    const command = `${process.execPath} ${bin('rexd')} --stdio --config ${config}`;
    await rex(['target', 'add', 'strict', 'strict', '--force', '--root', far, '--command', command]);
    writeFileSync(join(here, 'f'), BYTES);
    const ran = await rex(['cp', 'f', 'strict:']);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('mode and time could not be set')]);
    expect(readFileSync(join(far, 'f')).equals(BYTES)).toBe(true);
  });

  test('refuses what cannot be, in plain words', async () => {
    mkdirSync(join(here, 'd'));
    writeFileSync(join(here, 'f'), 'x');
    const cases = [
      [['cp', 'f'], 2, 'rex cp SOURCE GOAL'],
      [['cp', 'd', 'web:'], 1, 'copy it with -r'],
      [['cp', 'none', 'web:'], 1, 'no such file or directory'],
      [['cp', 'f', 'web:/etc/x'], 1, 'outside allowed roots'],
      [['cp', 'f', 'f'], 2, 'the same'],
      [['cp', '-r', '.', 'd/e'], 2, 'into itself'],
      [['cp', 'f', 'd', 'web:nowhere'], 1, 'need a folder'],
      [['cp', 'f', 'web:nowhere/'], 1, 'make it first'],
    ] as const;
    for (const [args, code, said] of cases) {
      const ran = await rex(args);
      expect([ran.code, ran.stderr], args.join(' ')).toEqual([code, expect.stringContaining(said)]);
    }
  });
});

test('every command has help with examples', async () => {
  for (const name of ['read', 'write', 'edit', 'ls', 'glob', 'stat', 'search', 'cp', 'target']) {
    const ran = await rex([name, '--help']);
    expect([ran.code, text(ran)], name).toEqual([0, expect.stringContaining(`Examples:\n`)]);
  }
});
