// kill -9 of each program between a person and a command on another host: what was not detached is gone,
// what was is found again.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectTarget } from '../../src/client/rex/connect-target.js';
import type { RexClient } from '../../src/client/rex/rex-client.js';
import { descendants, isAlive, killAll, running, type Running } from '../helpers/proc.js';
import { bin, Program, run } from '../helpers/program.js';
import { needsSshd } from '../helpers/needs-sshd.js';
import { type Sshd, startSshd } from '../helpers/sshd.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

const possible = needsSshd();

let sshd: Sshd;
let folder: string;
beforeAll(async () => {
  if (possible) sshd = await startSshd();
});
afterAll(async () => {
  if (possible) await sshd[Symbol.asyncDispose]();
});
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rex-kill-'))));
afterEach(() => removeFolder(folder));

async function connect(): Promise<RexClient> {
  const choice = { alias: 'box', target: sshd.target(), why: '' };
  return await connectTarget(choice, { clientName: 'test', localCommand: [], shareConnection: false });
}

/** A command with a child of its own: both are looked for. */
const TREE = 'sleep 1000 & echo $$ $!; wait';

async function pidsOf(file: string): Promise<number[]> {
  const read = (): number[] | undefined => {
    try {
      const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number);
      return pids.length === 2 ? pids : undefined;
    } catch {
      return undefined;
    }
  };
  return await until(read, 'the command to run');
}

async function gone(pids: readonly number[]): Promise<boolean> {
  await until(() => pids.every((pid) => !isAlive(pid)), 'the command and its child to end');
  return true;
}

test('kill -9 of rexd: its commands are gone; a detached one goes on, and a later rexd has it and its output', async () => {
  await using client = await connect();
  const file = join(sshd.home, 'pids');
  rmSync(file, { force: true });
  await client.start({ shell: true, command: `(${TREE}) > ${file}`, stdin: '' });
  const script = 'echo begun; while [ ! -e stop ]; do sleep 0.05; done; echo done';
  const detached = await client.start({
    shell: true,
    command: script,
    stdin: '',
    detach: true,
    cwd: sshd.home,
  });
  const pids = await pidsOf(file);
  const rexd = await until(
    () => sshd.started().find(({ command }) => command.includes('rexd.js --stdio')),
    'rexd',
  );
  process.kill(rexd.pid, 'SIGKILL');
  expect(await gone(pids)).toBe(true);
  await using later = await connect();
  const { processes } = await later.request('exec.list', {});
  expect(processes).toMatchObject([{ process_id: detached.id, detached: true, status: 'running' }]);
  writeFileSync(join(sshd.home, 'stop'), '');
  const ended = await later.request('exec.wait', { process_id: detached.id, timeout_ms: 60_000 });
  expect(ended).toMatchObject({ status: 'exited', exit_code: 0 });
  const { data } = await later.request('exec.read', { process_id: detached.id, stream: 'stdout', offset: 0 });
  expect(data).toBe('begun\ndone\n');
});

/** What `rex` needs to know of the host, and nothing of whoever runs the test. */
function rexEnvironment(): Record<string, string> {
  const config = join(folder, 'config', 'rexd');
  mkdirSync(config, { recursive: true });
  writeFileSync(
    join(config, 'targets.json'),
    JSON.stringify({ version: 1, targets: { box: sshd.target() } }),
  );
  return {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_RUNTIME_DIR: folder,
  };
}

async function endOfMasters(): Promise<void> {
  const masters = running().filter(({ command }) => command.includes(folder) && command.startsWith('ssh: '));
  killAll(masters, 'SIGTERM');
  await until(() => masters.every(({ pid }) => !isAlive(pid)), 'shared connections to end');
}

test('kill -9 of the client, of its ssh: the command on the other side is gone', async () => {
  const env = rexEnvironment();
  for (const victim of ['rex', 'ssh']) {
    const file = join(sshd.home, `pids-${victim}`);
    await using rex = new Program(
      [process.execPath, bin('rex'), '--no-keep', 'exec', 'box', '--', 'sh', '-c', `(${TREE}) > ${file}`],
      { env },
    );
    const pids = await pidsOf(file);
    const below = (): Running[] => descendants(rex.child.pid ?? 0);
    const ssh = await until(() => below().find(({ command }) => command.startsWith('ssh ')), 'ssh');
    if (victim === 'rex') rex.child.kill('SIGKILL');
    else process.kill(ssh.pid, 'SIGKILL');
    expect(await gone(pids)).toBe(true);
    await rex.ended;
  }
  await endOfMasters();
});

test('rex exec passes output, errors, input and the exit code through ssh', async () => {
  const env = rexEnvironment();
  const script = 'cat; echo err >&2; exit 5';
  const ended = await run(
    [process.execPath, bin('rex'), '--no-keep', 'exec', 'box', '--', 'sh', '-c', script],
    {
      env,
      input: 'typed here\n',
    },
  );
  expect(ended).toMatchObject({ code: 5, stdout: 'typed here\n', stderr: expect.stringContaining('err\n') });
  await endOfMasters();
});
