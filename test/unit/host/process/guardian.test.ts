import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newId } from '../../../../src/base/ids.js';
import { GUARDIAN_GRACE_MS, GUARDIAN_SCRIPT } from '../../../../src/host/process/guardian-script.js';
import { reapOrphans } from '../../../../src/host/process/reaper.js';
import { type Grove, plantGrove, TREE } from '../../../fixtures/process/grove.js';
import { descendants, isAlive, type Running, running } from '../../../helpers/proc.js';
import { removeFolder } from '../../../helpers/remove-folder.js';
import { until } from '../../../helpers/wait.js';

const HOST = fileURLToPath(new URL('../../../fixtures/process/host.ts', import.meta.url));
const KINDS = [
  'family',
  'session',
  'daemon',
  'cleared',
  'cleared-leader',
  'cleared-orphan',
  'cleared-member',
  'spawner',
];

/** Of these hosts alone: every other that starts on the machine clears away what the dead have left in the usual places. */
const place = await vi.hoisted(async () => {
  const [fs, os, path] = await Promise.all([import('node:fs'), import('node:os'), import('node:path')]);
  return (process.env['XDG_RUNTIME_DIR'] = fs.mkdtempSync(path.join(os.tmpdir(), 'guardian-')));
});
afterAll(() => removeFolder(place));

let grove: Grove;
beforeEach(() => {
  grove = plantGrove();
});
afterEach(() => {
  for (const { pid } of grove.alive()) endNow(pid);
  grove[Symbol.dispose]();
});

function startHost(...kinds: string[]) {
  return startHostWith({}, ...kinds);
}

async function startHostWith(env: Record<string, string>, ...kinds: string[]) {
  const args = ['--import', 'tsx', HOST, TREE, grove.nap, ...kinds];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, ...env },
  });
  await once(createInterface(child.stdout), 'line');
  return { child, guardian: await until(() => guardianOf(child), 'the guardian to be there') };
}

/** The script forks once, and until it has ended there are two of that name. */
function guardianOf({ pid }: ChildProcess): Running | undefined {
  const [found, ...more] = running().filter(
    ({ command }) => command.includes('hawser-guardian') && command.includes(` ${pid} `),
  );
  return more.length === 0 && found?.ppid !== pid ? found : undefined;
}

/** By what the kernel says: a script that was just started has not got there yet. */
function ignores({ pid }: Running, signal: number): boolean {
  const [, mask = '0'] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

function dirOf(guardian: Running): string {
  return guardian.command.split(' ').at(-1) ?? '';
}

async function endHost(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit');
  process.kill(-(child.pid ?? 0), signal); // the whole group: the guardian must not be in it
  await exited;
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was about to end anyway.
  }
}

/** The processes of the host itself; some tools it runs on end a moment later than it does. */
function leftOf(child: ChildProcess): Running[] {
  return [...grove.alive(), ...descendants(child.pid ?? 0)];
}

test('kill -9 of a host and its group leaves none of its trees, no guardian and no directory', async () => {
  const { child, guardian } = await startHost(...KINDS);
  const dir = dirOf(guardian);
  expect(existsSync(dir)).toBe(true);
  await until(() => grove.alive().length >= 15 && grove.hasDeaf(), 'the trees to stand');
  const killedAtMs = performance.now();
  await endHost(child, 'SIGKILL');
  await until(() => leftOf(child).length === 0, 'everyone to be gone');
  // Those who ignore TERM have had their grace.
  expect(performance.now() - killedAtMs).toBeGreaterThanOrEqual(GUARDIAN_GRACE_MS);
  await until(() => !isAlive(guardian.pid), 'the guardian to be gone');
  expect(existsSync(dir)).toBe(false);
});

test('a host that ends without cleaning up is cleaned up after, and what it detached lives on', async () => {
  const { child, guardian } = await startHost('family', 'detached');
  await until(() => grove.alive().length >= 6, 'the trees to stand');
  await endHost(child, 'SIGTERM');
  await until(() => !isAlive(guardian.pid), 'the guardian to be gone');
  expect(grove.alive().map(({ command }) => command)).toEqual([`${grove.nap} 300`]);
  expect(await reapOrphans()).toMatchObject({ survivors: [] });
  expect(grove.alive()).toHaveLength(1);
});

test.each([
  ['that is itself detached', { HAWSER_MARK: newId('d') }],
  ['with a variable whose name ends like that of the mark', { X_HAWSER_MARK: newId('d') }],
])('the children of a killed host %s are ended, and what it detached lives on', async (_kind, env) => {
  const { child, guardian } = await startHostWith(env, 'family', 'daemon', 'detached');
  await until(() => grove.alive().length >= 9, 'the trees to stand');
  await endHost(child, 'SIGKILL');
  await until(() => !isAlive(guardian.pid), 'the guardian to be gone');
  expect(grove.alive().map(({ command }) => command)).toEqual([`${grove.nap} 300`]);
});

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a command that calls itself detached does not outlive its host (%s)',
  async (signal) => {
    const { child, guardian } = await startHost('forged', 'forged deeper', 'forged and cleared', 'detached');
    const naps = (): Running[] => grove.alive().filter(({ command }) => command === `${grove.nap} 300`);
    await until(() => naps().length === 4, 'all to stand');
    const kept = naps().filter(({ ppid }) => ppid === child.pid);
    await endHost(child, signal);
    await until(() => !isAlive(guardian.pid), 'the guardian to be gone');
    expect(kept).toHaveLength(1);
    expect(grove.alive().map(({ pid }) => pid)).toEqual(kept.map(({ pid }) => pid));
  },
);

test('no name of a program or a file makes the guardian end a process that is none of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guardian-names-'));
  const program = join(folder, 'x) *\ny');
  writeFileSync(program, '#!/bin/sh\necho up\nread -r line\n', { mode: 0o700 });
  const mark = newId('c');
  const bystander = spawn(grove.nap, ['300'], { detached: true, stdio: 'ignore' });
  const left = spawn(program, {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, HAWSER_MARK: `${mark}/p` },
  });
  try {
    const ended = once(left, 'exit');
    await once(left.stdout, 'data');
    const cwd = join(folder, 'cwd');
    mkdirSync(cwd);
    for (let n = 10; n < 40; n++)
      writeFileSync(
        join(cwd, n === 11 ? `11 ${bystander.pid}:${left.pid}:${bystander.pid}:5 z` : `${n}`),
        '',
      );
    // A host that was never there: the search begins at once.
    const args = ['-c', GUARDIAN_SCRIPT, 'guardian', mark, '4194304', '1', join(folder, 'none')];
    const guardian = spawn('sh', args, { cwd, stdio: ['ignore', 'pipe', 'ignore', 'ignore'] });
    await once(guardian.stdout?.resume() ?? guardian, 'close');
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(isAlive(bystander.pid ?? 0)).toBe(true);
  } finally {
    bystander.kill('SIGKILL');
    left.kill('SIGKILL');
    removeFolder(folder);
  }
});

test('the guardian waits in a session of its own, as a child of nobody, and ignores signals', async () => {
  const { child, guardian } = await startHost('family');
  expect(guardian.ppid).not.toBe(child.pid);
  await until(() => ignores(guardian, constants.signals.SIGTERM), 'the guardian to ignore signals');
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(guardian.pid, signal);
  await endHost(child, 'SIGKILL');
  await until(() => grove.alive().length === 0 && !isAlive(guardian.pid), 'everyone to be gone');
});

test('what host and guardian left, both killed, is reaped by the next daemon', async () => {
  const { child, guardian } = await startHost('family', 'daemon', 'detached');
  await until(() => grove.alive().length >= 9 && grove.hasDeaf(), 'the trees to stand');
  process.kill(guardian.pid, 'SIGKILL');
  await endHost(child, 'SIGKILL');
  expect(grove.alive().length).toBeGreaterThanOrEqual(9);
  expect(existsSync(dirOf(guardian))).toBe(true);
  const report = await reapOrphans({ graceMs: 200 });
  expect(report.marks.some((mark) => mark.includes(`/h${child.pid}.`))).toBe(true);
  expect(report.killed).toBeGreaterThan(0);
  expect(grove.alive().map(({ command }) => command)).toEqual([`${grove.nap} 300`]);
  expect(existsSync(dirOf(guardian))).toBe(false);
});
