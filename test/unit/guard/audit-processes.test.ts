// The audit log among real processes: sharing a file, exiting in the middle, being killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AuditLog } from '../../../src/guard/audit.js';
import { until } from '../../helpers/wait.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const FIXTURE = fileURLToPath(new URL('../../fixtures/audit-child.ts', import.meta.url));

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-processes-'));
  path = join(dir, 'audit.log');
});
const started: ChildProcess[] = [];
afterEach(async () => {
  // A test that failed half way leaves nobody writing for ever.
  for (const child of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
      await once(child, 'exit');
  }
  removeFolder(dir);
});

interface Entry {
  readonly method: string;
  readonly session_id: string;
  readonly result: { readonly i: number };
}

function start(scenario: string, options: object = {}, ...args: string[]): ChildProcess {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', FIXTURE, scenario, JSON.stringify({ path, ...options }), ...args],
    { stdio: ['ignore', 'pipe', scenario === 'uncaught' ? 'ignore' : 'inherit'] },
  );
  started.push(child);
  return child;
}

/** Generous: on a busy machine a process takes seconds to start. */
const START_MS = 120_000;
const untilSize = (bytes: number): Promise<boolean> =>
  until(
    () => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > bytes,
    `${bytes} bytes of log`,
    START_MS,
  );

async function output(child: ChildProcess): Promise<{ code: number | null; said: string[] }> {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said: text.trimEnd().split('\n') };
}

const lines = (file = path): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
const parse = (line: string): Entry => JSON.parse(line) as Entry;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Whoever writes until it is ended may write a lot before we see that it has begun. */
const ONE_FILE = { maxBytes: 2 ** 40 };

const PROCESSES = 4;
const LINES = 2000;

test('four processes that append to one file never mix their lines, and none is missing', async () => {
  const children = upTo(PROCESSES).map((id) => start('append', {}, String(id), String(LINES)));
  const ends = await Promise.all(children.map(output));
  expect(ends.map((end) => end.code)).toEqual([0, 0, 0, 0]);
  const entries = lines().map(parse);
  for (const id of upTo(PROCESSES)) {
    const own = entries.filter((entry) => entry.session_id === String(id)).map((entry) => entry.result.i);
    expect(own).toEqual(upTo(LINES));
  }
  expect(entries).toHaveLength(PROCESSES * LINES);
});

test('four processes that rotate one file lose no line either', async () => {
  const options = { maxBytes: 64 * 1024, keep: 200 };
  const children = upTo(PROCESSES).map((id) => start('append', options, String(id), String(LINES)));
  const ends = await Promise.all(children.map(output));
  expect(ends.map((end) => end.code)).toEqual([0, 0, 0, 0]);
  const files = readdirSync(dir);
  expect(files.length).toBeGreaterThan(10);
  const entries = files.flatMap((file) => lines(join(dir, file))).map(parse);
  const seen = new Set(entries.map((entry) => `${entry.session_id}:${entry.result.i}`));
  expect(seen.size).toBe(PROCESSES * LINES);
  expect(entries).toHaveLength(PROCESSES * LINES);
});

test.each(['exit', 'uncaught'])(
  'a process that ends by %s in the middle of writing loses nothing',
  async (scenario) => {
    const child = start(scenario);
    const { said } = await output(child);
    const recorded = Number(said.at(-1));
    expect(recorded).toBeGreaterThan(0);
    expect(lines().map((line) => parse(line).result.i)).toEqual(upTo(recorded));
  },
);

test('a process that is told to end while it is busy loses nothing', async () => {
  const child = start('endless', ONE_FILE);
  const ended = output(child);
  await untilSize(100_000);
  child.kill('SIGTERM');
  const { code, said } = await ended;
  expect(code).toBe(0);
  expect(lines().map((line) => parse(line).result.i)).toEqual(upTo(Number(said.at(-1))));
});

test('kill -9 at any moment leaves whole lines, at most the last one cut, and the next process goes on after it', async () => {
  for (let round = 0; round < 5; round++) {
    const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const child = start('endless', ONE_FILE, String(round));
    const ended = output(child);
    await untilSize(before + 20_000 * (round + 1));
    child.kill('SIGKILL');
    await ended;
  }
  {
    await using audit = new AuditLog({ path });
    audit.record({ method: 'last' });
  }
  const all = lines();
  const broken = all.filter((line) => !isWhole(line));
  expect(broken.length).toBeLessThanOrEqual(5); // one for each that was killed
  expect(parse(all.at(-1) ?? '').method).toBe('last');
  for (const round of upTo(5)) {
    const own = all
      .filter(isWhole)
      .map(parse)
      .filter((entry) => entry.session_id === String(round));
    expect(own.map((entry) => entry.result.i)).toEqual(upTo(own.length)); // no holes
    expect(own.length).toBeGreaterThan(50);
  }
});

function isWhole(line: string): boolean {
  try {
    parse(line);
    return true;
  } catch {
    return false;
  }
}
