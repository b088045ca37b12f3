// `rex` as people call it, through a real sshd: a host is added, tested, given rexd, and worked on.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive, killAll, running } from '../helpers/proc.js';
import { bin, run, type RunResult } from '../helpers/program.js';
import { needsSshd } from '../helpers/needs-sshd.js';
import { type Sshd, startSshd } from '../helpers/sshd.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

needsSshd();

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rex-e2e-'))));
afterEach(async () => {
  const masters = running().filter(({ command }) => command.startsWith('ssh: ') && command.includes(folder));
  killAll(masters, 'SIGTERM');
  await until(() => masters.every(({ pid }) => !isAlive(pid)), 'shared connections to end');
  removeFolder(folder);
});

async function rex(args: readonly string[], input = ''): Promise<RunResult> {
  const env = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_RUNTIME_DIR: folder,
    NO_COLOR: '1',
  };
  return await run([process.execPath, bin('rex'), '--no-keep', ...args], { env, input, cwd: folder });
}

function writeTarget(sshd: Sshd): void {
  mkdirSync(join(folder, 'config', 'rexd'), { recursive: true });
  const { command: _, ...target } = sshd.target();
  const file = join(folder, 'config', 'rexd', 'targets.json');
  writeFileSync(
    file,
    JSON.stringify({ version: 1, targets: { box: { ...target, workspaceRoots: [sshd.home] } } }),
  );
}

test('a host without rexd is told of, given it, tested, and worked on', async () => {
  await using sshd = await startSshd();
  writeTarget(sshd);
  const before = await rex(['target', 'test', 'box']);
  expect(before.code).toBe(1);
  expect(before.stdout + before.stderr).toMatch(/✗ rexd/);

  const installed = await rex(['target', 'install', 'box']);
  expect(installed).toMatchObject({ code: 0 });
  const after = await rex(['target', 'test', 'box']);
  expect(after.stdout + after.stderr).not.toContain('✗');
  expect(after.code).toBe(0);

  const ran = await rex(['exec', 'box', '--', 'sh', '-c', 'cat; exit 4'], 'through ssh\n');
  expect(ran).toMatchObject({ code: 4, stdout: 'through ssh\n' });

  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 7)) % 256));
  writeFileSync(join(folder, 'up'), bytes);
  const remote = join(sshd.home, 'copied');
  expect(await rex(['cp', join(folder, 'up'), `box:${remote}`])).toMatchObject({ code: 0 });
  expect(readFileSync(remote).equals(bytes)).toBe(true);
  expect(await rex(['cp', `box:${remote}`, join(folder, 'down')])).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'down')).equals(bytes)).toBe(true);
});

test('a login that prints too much is named by rex target test', async () => {
  await using sshd = await startSshd({ bashrc: 'head -c 70000 /dev/zero | tr "\\0" x; echo' });
  writeTarget(sshd);
  const tested = await rex(['target', 'test', 'box']);
  expect(tested.code).toBe(1);
  expect(tested.stdout + tested.stderr).toMatch(/✗ /);
});
