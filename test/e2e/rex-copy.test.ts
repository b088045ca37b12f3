// rex cp, as its users call it: between this machine and targets behind a stand-in for ssh.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { markedWith } from '../helpers/proc.js';
import { bin } from '../helpers/program.js';
import { BYTES, clear, rexFarFiles } from '../helpers/rex-far-files.js';
import { until } from '../helpers/wait.js';

const home = rexFarFiles();
const { far, folder, here, rex } = home;
beforeEach(() => clear(home));
afterAll(() => home[Symbol.dispose]());

describe('cp', () => {
  /** More than the stand-in for ssh lets pass while it holds, however it is compressed. */
  const big = randomBytes(20 * 1024 * 1024);
  /** All that rex and the far side have started has ended, and nobody writes any more. */
  const isQuiet = (): boolean => markedWith('HOME', folder).length === 0;

  test('goes both ways and from target to target, with mode and time', async () => {
    writeFileSync(join(here, 'f'), BYTES, { mode: 0o751 });
    expect(await rex(['cp', 'f', 'web:'])).toMatchObject({ code: 0, err: '', stdout: Buffer.alloc(0) });
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
    expect(JSON.parse(there.out)).toMatchObject({ files: 7, folders: 2, links: 1, failed: 0 });
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
      const { code, err } = await rex(['cp', '-r', from, to]);
      expect(code).toBe(1);
      expect(err).toContain(String.raw`/n\xfe: its name is not UTF-8, not copied`);
      expect(err).toContain(String.raw`/n\xff: its name is not UTF-8, not copied`);
      expect(err).toContain('/fifo: neither file nor folder, not copied');
    }
    expect(readdirSync(join(far, 'odd'))).toEqual(['good']);
    expect(readdirSync(join(here, 'strange'))).toEqual(['good']);
  });

  test('that is interrupted leaves no goal, and the same command goes on where it stopped', async () => {
    writeFileSync(join(here, 'big'), big);
    const gate = join(folder, 'gate-up');
    const child = home.start(['cp', 'big', 'web:'], { HELD: 'up', GATE: gate });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const parts = (): string[] => readdirSync(far).filter((name) => name.endsWith('.rex-part'));
    await until(() => parts().length > 0 || child.exitCode !== null, 'a part');
    child.kill('SIGINT');
    writeFileSync(gate, '');
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, existsSync(join(far, 'big'))], said).toEqual([130, false]);
    expect(said).toContain('the same command goes on where it stopped');
    await until(isQuiet, 'the far side to end');
    const [part = ''] = parts();
    const kept = statSync(join(far, part)).size;
    const again = await rex(['cp', '--json', 'big', 'web:']);
    expect(JSON.parse(again.out)).toMatchObject({ files: 1, bytes: big.length, resumed_bytes: kept });
    expect(readFileSync(join(far, 'big')).equals(big)).toBe(true);
    expect(parts()).toEqual([]);
  });

  test('whose connection is cut, by either end, goes on where it stopped', async () => {
    writeFileSync(join(far, 'big'), big);
    const gate = join(folder, 'gate-down');
    const child = home.start(['cp', 'web:big', '.'], { HELD: 'down', GATE: gate });
    const isPart = (name: string): boolean =>
      name.endsWith('.rex-part') && statSync(join(here, name)).size > 0;
    const parts = (): string[] => readdirSync(here).filter(isPart);
    await until(() => parts().length > 0 || child.exitCode !== null, 'a part');
    child.kill('SIGKILL');
    await once(child, 'close');
    writeFileSync(gate, '');
    await until(isQuiet, 'the far side to end');
    expect(existsSync(join(here, 'big'))).toBe(false);
    const again = await rex(['cp', '--json', 'web:big', '.']);
    const summary = JSON.parse(again.out) as { resumed_bytes: number };
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
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('mode and time could not be set')]);
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
      expect([ran.code, ran.err], args.join(' ')).toEqual([code, expect.stringContaining(said)]);
    }
  });
});
