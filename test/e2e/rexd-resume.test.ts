// A session that outlives its connections, with the built rexd over real pipes.

import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SessionLostError } from '../../src/client/rex/reconnect.js';
import { RexClient, type RexClientOptions } from '../../src/client/rex/rex-client.js';
import { Cuttable, type Cut } from '../helpers/cuttable.js';
import { isAlive } from '../helpers/proc.js';
import { bin } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { runs } from '../helpers/runs.js';
import { removeFolder } from '../helpers/remove-folder.js';

const CUTS = runs(66, 20);
const HOW: readonly Cut[] = ['pipes', 'program', 'silence'];

let folder: string;
let wires: Cuttable;
let resumed: number;
let client: RexClient | undefined;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-resume-')));
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, HOME: folder };
  wires = new Cuttable([process.execPath, bin('rexd'), '--stdio', '--root', folder], env);
  resumed = 0;
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await wires[Symbol.asyncDispose]();
  removeFolder(folder);
});

async function open(
  more: Partial<RexClientOptions> = {},
  reconnect: Partial<RexClientOptions['reconnect']> = {},
): Promise<RexClient> {
  client = await RexClient.open(wires.connect(), {
    clientName: 'test',
    reconnect: {
      connect: () => Promise.resolve(wires.connect()),
      onResumed: () => (resumed += 1),
      ...reconnect,
    },
    ...more,
  });
  return client;
}

const lines = (path: string): string[] => readFileSync(join(folder, path), 'utf8').trimEnd().split('\n');

test(`cut ${CUTS} times at any moment, every command has run once, and its output is complete and in order`, async () => {
  const rex = await open();
  expect(rex.resumable).toBe(true);
  const over = new AbortController();
  let ran = 0;
  const work = async (worker: number): Promise<void> => {
    for (let n = 0; n < 2 || !over.signal.aborted; n += 1) {
      const tag = `${worker}.${n}`;
      const command = `echo ran >> ran.${tag}; i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "${tag} $i"; echo "${tag} $i" >&2; [ $((i % 50)) -ne 0 ] || sleep 0.01; done; exit 7`;
      const { stdout, stderr, exitCode } = await rex.run({ shell: true, command });
      const expected = Array.from({ length: 400 }, (_, i) => `${tag} ${i + 1}\n`).join('');
      expect(stdout.toString()).toBe(expected);
      expect(stderr.toString()).toBe(expected);
      expect(exitCode).toBe(7);
      await rex.request('fs.write', { path: 'written', content: `${tag}\n`, mode: 'append' });
      ran += 1;
    }
  };
  const workers = [0, 1, 2].map(work);
  for (let cut = 0; cut < CUTS; cut += 1) {
    await delay(Math.random() * 60); // not to wait for anything, but to be anywhere
    wires.cut(HOW[Math.floor(Math.random() * HOW.length)] ?? 'pipes');
    await until(() => resumed > cut, `connection ${cut + 1}`);
  }
  over.abort();
  await Promise.all(workers);
  expect(ran).toBeGreaterThan(3);
  const marks = readdirSync(folder).filter((name) => name.startsWith('ran.'));
  expect(marks).toHaveLength(ran);
  for (const mark of marks) expect(lines(mark)).toEqual(['ran']);
  const written = lines('written');
  expect([...new Set(written)]).toHaveLength(ran);
  expect(written).toHaveLength(ran);
}, 240_000);

test('a lot of output is complete when it is cut in the middle and nobody reads for a while', async () => {
  const rex = await open({ limits: { max_output_bytes: 1_000_000 } });
  const process = await rex.start({ shell: true, command: 'seq 1 150000', stdin: '' });
  let text = '';
  let cuts = 0;
  for await (const { bytes } of process) {
    text += bytes.toString();
    if (text.length > (cuts + 1) * 200_000) {
      wires.cut(HOW[cuts % HOW.length] ?? 'pipes');
      cuts += 1;
      await until(() => resumed >= cuts, 'another connection');
    }
  }
  expect(cuts).toBeGreaterThan(2);
  const numbers = text.trimEnd().split('\n');
  expect(numbers.every((line, i) => line === String(i + 1))).toBe(true);
  expect(numbers).toHaveLength(150_000);
});

test('a connection that nobody resumes in time takes its programs with it, and says so to whoever waits', async () => {
  const rex = await open({}, { connect: () => Promise.reject(new Error('no route')), windowMs: 600 });
  const process = await rex.start({ shell: true, command: 'sleep 1000 & echo $!; wait' });
  const reading = process[Symbol.asyncIterator]();
  const sleeper = Number((await reading.next()).value?.bytes.toString());
  const waiting = rex.request('exec.wait', { process_id: process.id });
  wires.cut('pipes');
  await expect(waiting).rejects.toThrow(SessionLostError);
  await expect(waiting).rejects.toThrow('the last attempt: no route');
  await expect(process.exit).rejects.toThrow(SessionLostError);
  await expect(rex.request('session.info', {})).rejects.toThrow(SessionLostError);
  await until(() => !isAlive(sleeper) && wires.first?.exitCode === 0, 'the end of all');
  expect(readdirSync(join(folder, 'rexd/resume'))).toEqual([]);
});

test('a session that another has ended is told of as lost, at once', async () => {
  const rex = await open();
  const process = await rex.start({ argv: ['sleep', '1000'] });
  wires.first?.kill('SIGKILL'); // with it goes the session; the guardian ends what it started
  await expect(process.exit).rejects.toThrow('no such session to resume');
  await until(() => !isAlive(process.pid ?? 0), 'the end of the program');
});

test('a server that waits is ended by SIGTERM at once, and a session that was closed is not waited for', async () => {
  const rex = await open();
  const process = await rex.start({ argv: ['sleep', '1000'] });
  wires.cut('silence');
  await until(() => resumed === 1, 'the second connection');
  const { pid } = process;
  const info = await rex.request('session.info', {});
  expect(info.running_processes).toBe(1);
  await rex.close();
  await until(() => wires.children.every((child) => child.exitCode === 0), 'both servers are gone');
  expect(isAlive(pid ?? 0)).toBe(false);
  const other = await open({}, { connect: () => new Promise(() => {}) });
  const { pid: second = 0 } = await other.start({ argv: ['sleep', '1000'] });
  const server = wires.children.at(-1);
  wires.cut('pipes');
  server?.kill('SIGTERM');
  await until(() => server?.exitCode === 0 && !isAlive(second), 'the server and its program are gone');
});

test('a lingering server keeps none of its standard streams', async () => {
  await open({}, { connect: () => new Promise(() => {}) });
  wires.cut('pipes');
  const { pid = 0 } = wires.first ?? {};
  const where = (fd: number): string | undefined => {
    try {
      return realpathSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return undefined; // between one and the next
    }
  };
  await until(() => [0, 1, 2].every((fd) => where(fd) === '/dev/null'), 'all three are let go of');
  expect(wires.first?.exitCode).toBeNull();
});

test('a server that must not wait says so, and its client has a session that ends with its connection', async () => {
  writeFileSync(join(folder, 'config.toml'), '[server]\nresume_window_ms = 0\n');
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder };
  await using plain = new Cuttable(
    [process.execPath, bin('rexd'), '--stdio', '--root', folder, '--config', join(folder, 'config.toml')],
    env,
  );
  const rex = await RexClient.open(plain.connect(), {
    clientName: 'test',
    reconnect: { connect: () => Promise.reject(new Error('never')) },
  });
  expect(rex.resumable).toBe(false);
  expect(rex.session.capabilities).not.toContain('resume');
  expect((await rex.run({ argv: ['echo', 'x'] })).stdout.toString()).toBe('x\n');
  await rex.close();
  expect(existsSync(join(folder, 'rexd/resume'))).toBe(false);
});

test('a running process is attached to: its output from any offset, to its end; input and signals reach it', async () => {
  const rex = await open();
  const { process_id: id } = await rex.request('exec.start', { argv: ['cat'] });
  const one = rex.attach(id);
  await one.write('hello\n');
  const reading = one[Symbol.asyncIterator]();
  expect((await reading.next()).value?.bytes.toString()).toBe('hello\n');
  const two = rex.attach(id, { stdout: 2 });
  await one.write('world\n');
  await one.endInput();
  let text = '';
  for await (const { bytes } of two) text += bytes.toString();
  expect(text).toBe('llo\nworld\n');
  expect((await reading.next()).value?.bytes.toString()).toBe('world\n');
  expect(await reading.next()).toMatchObject({ done: true });
  expect(await two.exit).toMatchObject({ exitCode: 0, signal: null });
  const sleeper = await rex.start({ argv: ['sleep', '1000'], detach: true });
  const later = rex.attach(sleeper.id);
  await later.kill('TERM');
  expect(await later.exit).toMatchObject({ signal: 'SIGTERM' });
});
