// Detached processes: known before they run, known after, and never more of them than there is room for.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  truncateSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../../src/base/ids.js';
import {
  BadEntryError,
  type DetachedEntry,
  MAX_ENTRY_ARGV_CHARS,
  MAX_ENTRY_BYTES,
  readEntry,
  writeEntry,
} from '../../../../src/host/process/detached-entry.js';
import { DetachedRun } from '../../../../src/host/process/detached-run.js';
import { DETACHED_DRAIN_MS } from '../../../../src/host/process/detached-script.js';
import {
  DetachedFullError,
  DetachedStore,
  MAX_DETACHED_AGE_MS,
  MAX_DETACHED_BYTES,
  MAX_DETACHED_ENDED,
  MAX_DETACHED_NAMES,
  MAX_DETACHED_RUNNING,
  StateFolderError,
} from '../../../../src/host/process/detached-store.js';
import { DetachedWatch } from '../../../../src/host/process/detached-watch.js';
import { type DetachOptions, startDetached } from '../../../../src/host/process/start-detached.js';
import { readBootId, readPidNamespace, readStat } from '../../../../src/host/process/proc-table.js';
import { isAlive, running } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let base: string;
let dir: string;
let store: DetachedStore;
let garbage: string[];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hawser-detached-'));
  dir = join(base, 'state', 'rexd');
  garbage = [];
  store = new DetachedStore({ dir, onGarbage: (path, why) => garbage.push(`${path} ${why}`) });
});
afterEach(() => removeFolder(base));

function facts(more: Partial<DetachedEntry> = {}): Omit<DetachedEntry, 'id'> {
  return {
    mark: `${newId('d')}/${newId('p')}`,
    argv: ['true'],
    cwd: base,
    realCwd: base,
    startedAtMs: Date.now(),
    maxBytes: 1000,
    host: hostname(),
    bootId: readBootId(),
    namespace: readPidNamespace(),
    ...more,
  };
}

function madeEnded(endedAtMs: number, bytes = 0): DetachedRun {
  const run = store.create(facts(bytes > 0 ? { maxBytes: bytes } : {}));
  writeFileSync(join(run.folder, 'exit'), '0 0\n');
  utimesSync(join(run.folder, 'exit'), endedAtMs / 1000, endedAtMs / 1000);
  if (bytes > 0) truncateSync(join(run.folder, 'stdout'), bytes); // a hole takes no room
  return run;
}

async function start(command: string, more: Partial<DetachOptions> = {}) {
  const started = await startDetached(store, {
    argv: ['sh', '-c', command],
    cwd: base,
    shownCwd: base,
    env: { PATH: process.env['PATH'] ?? '' },
    stdin: 'none',
    maxBytes: 100_000,
    timeoutMs: undefined,
    ...more,
  });
  return { ...started, [Symbol.asyncDispose]: () => started.supervisor.close() };
}

async function endOf(run: DetachedRun) {
  await using watch = new DetachedWatch(run);
  return await watch.ended();
}

test('the folders are our own and closed to others, the files too', async () => {
  await using started = await start('echo x; exit 4');
  expect(await endOf(started.run)).toMatchObject({ code: 4, signal: null, timedOut: false });
  for (const path of [dir, join(dir, 'detached'), started.run.folder])
    expect(statSync(path).mode & 0o777, path).toBe(0o700);
  // Its own working files go last, after the exit is told.
  await until(() => !readdirSync(started.run.folder).includes('how'), 'the working files to go');
  for (const name of readdirSync(started.run.folder))
    expect(statSync(join(started.run.folder, name)).mode & 0o777, name).toBe(0o600);
  expect((await started.run.read('stdout', 0, 10)).toString()).toBe('x\n');
});

test.each([137, 139, 143, 147, 200])(
  'a program that exits with %i itself was ended by no signal',
  async (code) => {
    await using started = await start(`exit ${code}`);
    expect(await endOf(started.run)).toMatchObject({ code, signal: null });
  },
);

test.each(['SIGTERM', 'SIGKILL', 'SIGSEGV', 'SIGUSR1'])(
  'one that %s ended was ended by it',
  async (signal) => {
    await using started = await start(`kill -${signal.slice(3)} $$`);
    expect(await endOf(started.run)).toMatchObject({ code: null, signal });
  },
);

test('its end is written into room that was taken at the start', async () => {
  await using started = await start('read -r line; exit 0', { stdin: 'pipe' });
  const note = join(started.run.folder, 'exit.new');
  await until(() => existsSync(note) && statSync(note).size > 0, 'room for the note');
  const { ino, size } = statSync(note);
  started.run.send(15);
  expect(await endOf(started.run)).toMatchObject({ signal: 'SIGTERM' });
  const after = statSync(join(started.run.folder, 'exit'));
  expect([after.ino, after.size]).toEqual([ino, size]);
});

test('nothing of the environment is written down or shown to ps', async () => {
  await using started = await start('sleep 1000', { env: { PATH: '/usr/bin:/bin', TOKEN: 'swordfish' } });
  for (const name of readdirSync(started.run.folder).filter((file) => !['out', 'err'].includes(file)))
    expect(readFileSync(join(started.run.folder, name), 'latin1'), name).not.toContain('swordfish');
  expect(running().filter(({ command }) => command.includes('swordfish'))).toEqual([]);
  await started.run.stop();
  expect(await endOf(started.run)).toMatchObject({ signal: 'SIGTERM' });
});

test('TERM and KILL for the tree leave the one that writes down how it ended', async () => {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    await using started = await start('echo up; while :; do sleep 0.02; done');
    await until(() => started.run.size('stdout') > 0, 'it to be up');
    if (signal === 'SIGINT') started.run.send(2);
    else await started.run.stop({ graceMs: 0 });
    expect(await endOf(started.run)).toMatchObject({ code: null, signal });
  }
});

test('a process that takes its group down does not take the word about its end with it', async () => {
  await using started = await start('kill -9 0');
  expect(await endOf(started.run)).toMatchObject({ code: null, signal: 'SIGKILL' });
});

test('a process whose supervisor was killed too counts as killed', async () => {
  await using started = await start('exec sleep 1000');
  started.supervisor.sendSignal(9);
  await until(() => started.run.send(0) === 1, 'only the process to be left');
  expect(started.run.end()).toBeUndefined();
  await started.run.stop({ graceMs: 0 });
  expect(await endOf(new DetachedRun(started.run.folder, started.run.entry))).toMatchObject({
    code: null,
    signal: 'SIGKILL',
  });
});

test('what one left behind holds open delays the word about its end by DETACHED_DRAIN_MS and not for ever', async () => {
  await using started = await start('sleep 1000 & echo $!');
  expect(await endOf(started.run)).toMatchObject({ code: 0 });
  expect(DETACHED_DRAIN_MS).toBeLessThan(1_000_000); // as long as it is left for
  const left = Number((await started.run.read('stdout', 0, 100)).toString());
  expect(isAlive(left)).toBe(true);
  await started.run.stop();
  expect(isAlive(left)).toBe(false);
});

test('no name of a program or a file makes the supervisor end a process that is none of its own', async () => {
  const bystander = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const over = once(bystander, 'exit');
  const cwd = join(base, 'cwd');
  mkdirSync(cwd);
  for (let n = 10; n < 40; n++) if (n !== 11) writeFileSync(join(cwd, `f${n}`), '');
  const program = join(base, 'x) *\ny');
  writeFileSync(program, '#!/bin/sh\n: >"f11 $1:77:$$:0 z"\nwhile :; do echo more than is kept; done\n', {
    mode: 0o700,
  });
  try {
    await using started = await start('', { argv: [program, String(bystander.pid)], cwd, maxBytes: 512 });
    expect(await endOf(started.run)).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(isAlive(bystander.pid ?? 0)).toBe(true);
  } finally {
    bystander.kill('SIGKILL');
    await over;
  }
});

test('another start of the machine means that it is gone', () => {
  const { startTicks = 0 } = readStat(process.pid) ?? {};
  const run = store.create(facts({ bootId: 'another' }));
  writeFileSync(join(run.folder, 'pid'), `${process.pid} ${startTicks} ${process.pid} ${startTicks}\n`);
  expect(run.end()).toMatchObject({ code: null, signal: 'SIGKILL' });
  expect(run.send(0)).toBe(0);
});

test('of another machine or container we know only what has ended there', () => {
  for (const more of [{ host: 'another' }, { namespace: '1' }, { host: 'another', bootId: 'another' }]) {
    const run = store.create(facts({ startedAtMs: 0, ...more }));
    expect(store.find(run.entry.id)).toBeUndefined();
    store.sweep({ ageMs: 0 });
    expect(existsSync(run.folder)).toBe(true);
    writeFileSync(join(run.folder, 'exit'), '7 0\n');
    expect(store.find(run.entry.id)?.end()).toMatchObject({ code: 7 });
  }
});

test('a pid that has passed to someone else is not taken for the process', () => {
  const run = store.create(facts());
  writeFileSync(join(run.folder, 'pid'), `${process.pid} 1 ${process.pid} 1\n`);
  expect(run.end()).toMatchObject({ code: null, signal: 'SIGKILL' });
  expect(run.send(0)).toBe(0);
});

test('one that has just been written down and says nothing yet is taken to run', () => {
  expect(store.create(facts()).end()).toBeUndefined();
  expect(store.create(facts({ startedAtMs: Date.now() - 60_000 })).end()).toMatchObject({ code: null });
});

test('no more than MAX_DETACHED_RUNNING run at the same time', () => {
  const young = facts({ startedAtMs: Date.now() + 3_600_000 }); // also where it takes long to make them all
  for (let n = 0; n < MAX_DETACHED_RUNNING; n++) store.create(young);
  expect(() => store.create(young)).toThrow(DetachedFullError);
  const [first] = store.list();
  if (first !== undefined) writeFileSync(join(first.folder, 'exit'), '0 0\n');
  store.create(young);
});

test('of those that ended MAX_DETACHED_ENDED are kept, none longer than MAX_DETACHED_AGE_MS', () => {
  const now = Date.now();
  for (let n = 0; n < MAX_DETACHED_ENDED + 5; n++) madeEnded(now - n * 1000);
  expect(store.sweep()).toBe(5);
  expect(store.list()).toHaveLength(MAX_DETACHED_ENDED);
  expect(Math.min(...store.list().map((run) => run.end()?.endedAtMs ?? 0))).toBeGreaterThan(
    now - MAX_DETACHED_ENDED * 1000,
  );
  const old = madeEnded(now - MAX_DETACHED_AGE_MS - 60_000);
  const runs = store.create(facts({ startedAtMs: Date.now() + 3_600_000 })); // runs: never swept
  store.sweep();
  expect(store.find(old.entry.id)).toBeUndefined();
  expect(store.find(runs.entry.id)).toBeDefined();
});

test('the output that is kept of ended ones has a cap, and the latest stay', () => {
  const bytes = Math.floor(MAX_DETACHED_BYTES * 0.4);
  const runs = Array.from({ length: 5 }, (_, n) => madeEnded(Date.now() - n * 1000, bytes));
  expect(store.sweep()).toBe(3);
  expect(runs.map((run) => existsSync(run.folder))).toEqual([true, true, false, false, false]);
});

test('an entry is whole or not there, and longer than MAX_ENTRY_BYTES it is not ours', () => {
  const run = store.create(facts({ argv: ['echo', 'x'.repeat(10 * MAX_ENTRY_ARGV_CHARS), 'y'] }));
  const kept = store.find(run.entry.id)?.entry.argv ?? [];
  expect(kept.join('').length).toBeLessThan(MAX_ENTRY_ARGV_CHARS + 10);
  expect(kept[0]).toBe('echo');
  const file = join(run.folder, 'entry.json');
  const good = readFileSync(file, 'utf8');
  for (const bad of [
    '',
    '{',
    'null',
    '[]',
    good.replace('"version":1', '"version":2'),
    good + ' '.repeat(MAX_ENTRY_BYTES),
  ]) {
    writeFileSync(file, bad);
    expect(() => readEntry(run.folder, run.entry.id), bad.slice(0, 20)).toThrow(BadEntryError);
  }
  rmSync(file);
  writeFileSync(join(base, 'elsewhere'), good);
  symlinkSync(join(base, 'elsewhere'), file);
  expect(() => readEntry(run.folder, run.entry.id)).toThrow(BadEntryError);
  expect(() => writeEntry(join(base, 'nowhere'), run.entry)).toThrow('ENOENT');
});

test('a folder that is a link, or that others may write, is refused, and none is changed', () => {
  mkdirSync(join(base, 'trap'), { mode: 0o700 });
  mkdirSync(join(base, 'state'));
  symlinkSync(join(base, 'trap'), dir);
  expect(() => store.create(facts())).toThrow(StateFolderError);
  expect(store.list()).toEqual([]);
  expect(readdirSync(join(base, 'trap'))).toEqual([]);
  rmSync(dir);
  mkdirSync(dir, { mode: 0o755 });
  const run = store.create(facts());
  expect(statSync(dir).mode & 0o777).toBe(0o755); // whoever made it had a reason
  expect(statSync(join(dir, 'detached')).mode & 0o777).toBe(0o700);
  for (const mode of [0o775, 0o1777]) {
    chmodSync(dir, mode);
    expect(() => store.create(facts())).toThrow(StateFolderError);
    expect(store.list()).toEqual([]);
    expect(statSync(dir).mode & 0o7777).toBe(mode);
  }
  chmodSync(dir, 0o700);
  chmodSync(join(dir, 'detached'), 0o750);
  expect(() => store.create(facts())).toThrow(StateFolderError);
  expect(store.find(run.entry.id)).toBeUndefined();
  expect(garbage.length).toBeGreaterThan(0);
});

test('what was begun and never written down is swept when it is old', () => {
  const run = store.create(facts());
  const folder = join(dir, 'detached', newId('p'));
  mkdirSync(folder, { mode: 0o700 });
  store.sweep();
  expect(existsSync(folder)).toBe(true);
  utimesSync(folder, 1, 1);
  utimesSync(run.folder, 1, 1);
  store.sweep();
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(run.folder)).toBe(true);
});

test('what is not ours is told of once, and no more than MAX_DETACHED_NAMES are looked at', () => {
  const run = store.create({ ...facts(), id: `p_${'0'.repeat(26)}` }); // before any other, also of the same millisecond
  const folder = join(dir, 'detached');
  writeFileSync(join(folder, 'notes'), '');
  expect(store.list().map(({ entry }) => entry.id)).toEqual([run.entry.id]);
  store.list();
  expect(garbage).toHaveLength(1);
  for (let n = 0; n < MAX_DETACHED_NAMES; n++) mkdirSync(join(folder, newId('p')), { mode: 0o700 });
  expect(store.list()).toEqual([]); // the oldest is the first to be passed over
});

test('a watch tells of output at once, and ends when it is closed', async () => {
  await using started = await start('read line; echo "$line"; read line', { stdin: 'pipe' });
  const watch = new DetachedWatch(started.run);
  const changed = watch.next();
  await started.supervisor.stdin?.write(Buffer.from('word\n'));
  await changed;
  await until(() => started.run.size('stdout') === 5, 'the word to be there');
  const next = watch.next();
  await watch.close();
  await next;
  await started.supervisor.stdin?.end();
  expect(await endOf(started.run)).toMatchObject({ code: 1 });
});
