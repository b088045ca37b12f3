// How rexd starts: whatever its standard input is, and whether or not V8's memory of the bundle lies beside it.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  constants as files,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { FIRST_READ_BYTES, MAX_EARLY_WRITE_BYTES } from '../../src/wire/transport/early-stdio.js';
import { bin, Program } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'hawser-start-'));
afterAll(() => removeFolder(folder));

const REXD = [bin('rexd'), '--stdio', '--root', folder];
const request = (id: number | string, method = 'session.open', params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const idsOf = (lines: readonly string[]): unknown[] =>
  lines.map((line) => (JSON.parse(line) as { id: unknown }).id);

/** Through real pipes, which `cat` at either end makes of whatever the test has. */
function piped(): Program {
  return new Program(['sh', '-c', 'cat | "$@" | cat', 'sh', process.execPath, ...REXD]);
}

const WAYS = [
  ['a socket', () => new Program([process.execPath, ...REXD])],
  ['a pipe', piped],
] as const;

for (const [way, start] of WAYS) {
  test(`over ${way} the first request is answered, and the next, and the end of input ends it`, async () => {
    await using program = start();
    program.write(`${request(1)}\n`);
    expect(await program.line()).toContain('"id":1');
    program.write(`${request(2)}\n`);
    expect(await program.line()).toContain('"id":2');
    program.endInput();
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  test(`over ${way} a first request that comes in two halves is one request`, async () => {
    await using program = start();
    const line = `${request('in halves')}\n`;
    program.write(line.slice(0, 20));
    program.write(line.slice(20));
    expect(await program.line()).toContain('"in halves"');
  });

  test(`over ${way} a first request longer than the first read is read on`, async () => {
    await using program = start();
    program.write(`${request('x'.repeat(FIRST_READ_BYTES * 2))}\n${request(2)}\n`);
    expect((await program.line())?.length).toBeGreaterThan(FIRST_READ_BYTES * 2);
    expect(await program.line()).toContain('"id":2');
  });

  test(`over ${way} more answers than may go out early all come, in order`, async () => {
    await using program = start();
    const ids = Array.from({ length: 200 }, (_, i) => i);
    program.write(ids.map((id) => `${request(id, 'session.info', { session_id: 'none' })}\n`).join(''));
    program.endInput();
    const lines = await program.rest();
    expect(lines.join('').length).toBeGreaterThan(MAX_EARLY_WRITE_BYTES * 2);
    expect(idsOf(lines)).toEqual(ids);
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  test(`over ${way} an input that ends at once ends it`, async () => {
    await using program = start();
    program.endInput();
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.stderr).toBe('');
  });
}

test('requests are served from a file', async () => {
  const file = join(folder, 'requests');
  writeFileSync(file, `${request(1)}\n${request(2)}`);
  const child = spawnSync(process.execPath, REXD, { stdio: [openSync(file, 'r'), 'pipe', 'pipe'] });
  expect(idsOf(child.stdout.toString().trim().split('\n'))).toEqual([1, 2]);
  expect(child.status).toBe(0);
});

test('SIGTERM ends it in good order while it waits at a pipe for its first request', async () => {
  const fifo = join(folder, 'fifo');
  spawnSync('mkfifo', [fifo]);
  const writer = openSync(fifo, files.O_RDWR);
  const reader = openSync(fifo, files.O_RDONLY);
  const child = spawn(process.execPath, REXD, { stdio: [reader, 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await until(() => catches(child.pid ?? 0, SIGHUP), 'the server to handle its signals'); // the last it sets
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  for (const fd of [writer, reader]) new Socket({ fd }).destroy();
});

test('SIGTERM ends it while it waits at a socket for its first request', async () => {
  await using program = new Program([process.execPath, ...REXD]);
  await until(() => isReadingInput(program.child.pid ?? 0), 'the server to wait for input');
  program.child.kill('SIGTERM');
  const { code, signal } = await program.ended;
  expect([code, signal]).toSatisfy(([c, s]) => c === 0 || s === 'SIGTERM');
});

const CACHES: readonly [string, (fresh: Buffer) => Buffer | undefined][] = [
  ['with what V8 remembers of it', (fresh) => fresh],
  ['where there is no memory', () => undefined],
  [
    'beside the memory of another build',
    (fresh) => Buffer.from(fresh.toString('latin1').replace(/"made":"./, '"made":"?'), 'latin1'),
  ],
  [
    'beside a memory of another Node',
    (fresh) => edit(fresh, (text) => text.replace(process.version, 'v0.0.0')),
  ],
  ['beside a memory with a block of zeros', (fresh) => Buffer.from(fresh).fill(0, 8192, 12_288)],
  ['beside a memory cut short', (fresh) => fresh.subarray(0, fresh.length / 2)],
  ['beside a memory that is none', () => Buffer.from('nothing of the kind')],
  ['beside an empty memory', () => Buffer.alloc(0)],
];
for (const [i, [how, change]] of CACHES.entries()) {
  test(`the bundle runs ${how}`, async () => {
    const copy = join(folder, `copy-${i}`, 'rexd.cjs');
    mkdirSync(dirname(copy));
    for (const part of ['', '.parts']) copyFileSync(bin('rexd') + part, copy + part);
    const memory = change(readFileSync(`${bin('rexd')}.v8`));
    if (memory !== undefined) writeFileSync(`${copy}.v8`, memory);
    expect(how.startsWith('with') === (memory?.equals(readFileSync(`${bin('rexd')}.v8`)) ?? false)).toBe(
      true,
    );
    await using program = new Program([process.execPath, copy, '--stdio', '--root', folder]);
    program.write(`${request(1)}\n`);
    expect(await program.line()).toContain('"rexd/1"');
    program.endInput();
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
}

const STRANGE_PARTS: readonly [string, ((parts: Buffer) => Buffer) | undefined][] = [
  ['gone', undefined],
  [
    'of another build',
    (parts) => edit(parts, (text) => text.replace(/^./, (first) => (first === '0' ? '1' : '0'))),
  ],
  ['empty', () => Buffer.alloc(0)],
];
for (const [what, change] of STRANGE_PARTS) {
  test(`when its parts are ${what} it says so and runs nothing`, () => {
    const copy = join(mkdtempSync(join(folder, 'parts-')), 'rexd.cjs');
    copyFileSync(bin('rexd'), copy);
    if (change !== undefined) writeFileSync(`${copy}.parts`, change(readFileSync(`${bin('rexd')}.parts`)));
    const { status, stdout, stderr } = spawnSync(process.execPath, [copy, '--version'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`${copy}.parts: the parts of this program are not there`);
  });
}

test('its files may be replaced while it runs: what loads late is what it was built with', async () => {
  const copy = join(mkdtempSync(join(folder, 'replaced-')), 'rexd.cjs');
  for (const part of ['', '.parts']) copyFileSync(bin('rexd') + part, copy + part);
  await using program = new Program([process.execPath, copy, '--stdio', '--root', folder]);
  program.write(`${request(1)}\n`);
  const { result } = JSON.parse((await program.line()) ?? '') as { result: { session_id: string } };
  program.write(`${request(2)}\n`); // once this is answered the first turn of the event loop is over
  await program.line();
  for (const part of ['', '.parts']) writeFileSync(copy + part, 'another program');
  program.write(`${request(3, 'fs.list', { session_id: result.session_id, path: folder })}\n`);
  expect(JSON.parse((await program.line()) ?? '')).toMatchObject({ id: 3, result: { path: folder } });
});

const SIGHUP = constants.signals.SIGHUP;

/** Whether it is in the system call `read`, of descriptor 0. */
function isReadingInput(pid: number): boolean {
  return /^\d+ 0x0 /.test(readFileSync(`/proc/${pid}/syscall`, 'utf8'));
}

function edit(bytes: Buffer, change: (text: string) => string): Buffer {
  return Buffer.from(change(bytes.toString('latin1')), 'latin1');
}

/** Whether the process has a handler for the signal, as the kernel sees it. */
function catches(pid: number, signal: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mask = BigInt(`0x${/SigCgt:\s*([0-9a-f]+)/.exec(status)?.[1] ?? '0'}`);
  return ((mask >> BigInt(signal - 1)) & 1n) === 1n;
}
