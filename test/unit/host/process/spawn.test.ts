import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  InputClosedError,
  InputFullError,
  MAX_WAITING_INPUT_BYTES,
} from '../../../../src/host/process/input-pipe.js';
import { LaunchError, type LaunchFailure } from '../../../../src/host/process/launch-error.js';
import { LATE_READER_WAIT_MS } from '../../../../src/host/process/late-readers.js';
import { isUnder, MARK_VARIABLE, ownMark } from '../../../../src/host/process/mark.js';
import {
  DRAIN_AFTER_EXIT_MS,
  type OutputPipe,
  READ_AHEAD_BYTES,
} from '../../../../src/host/process/output-pipe.js';
import { CHUNK_BYTES } from '../../../../src/host/process/pipe-source.js';
import { readStat } from '../../../../src/host/process/proc-table.js';
import { type SpawnOptions, spawnProcess } from '../../../../src/host/process/spawn.js';
import { descendants, isAlive } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

async function readAll(pipe: OutputPipe | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  if (pipe !== undefined) for await (const chunk of pipe) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function run(options: SpawnOptions) {
  const held = await spawnProcess(options);
  const [stdout, stderr] = await Promise.all([readAll(held.stdout), readAll(held.stderr)]);
  return { ...(await held.exited), stdout: stdout.toString(), stderr: stderr.toString(), mark: held.mark };
}

const sh = (script: string, more: Partial<SpawnOptions> = {}) => run({ argv: ['sh', '-c', script], ...more });

describe.each(['fifo', 'socket'] as const)('with %s pipes', (pipes) => {
  test('output, exit code and byte counts come as the program made them', async () => {
    const got = await sh('printf out; printf error >&2; exit 3', { pipes });
    expect(got).toMatchObject({ stdout: 'out', stderr: 'error', code: 3, signal: null });
    expect(got).toMatchObject({ stdoutBytes: 3, stderrBytes: 5, outputHeld: false });
  });

  test('32 MiB of binary output arrive byte for byte', async () => {
    const script =
      'const c = require("crypto").createHash("sha256"); let n = 0; const go = () => { while (n < 512) { n += 1; ' +
      'const b = require("crypto").randomBytes(65536); c.update(b); if (!process.stdout.write(b)) return process.stdout.once("drain", go); } ' +
      'process.stderr.write(c.digest("hex")); }; go();';
    const held = await spawnProcess({ argv: [process.execPath, '-e', script], pipes });
    const hash = createHash('sha256');
    const pump = async () => {
      if (held.stdout !== undefined) for await (const chunk of held.stdout) hash.update(chunk);
    };
    const [, said] = await Promise.all([pump(), readAll(held.stderr)]);
    expect(hash.digest('hex')).toBe(said.toString());
    expect(await held.exited).toMatchObject({ code: 0, stdoutBytes: 512 * 65536 });
  });

  test('what was written right before the exit is never lost', async () => {
    for (let i = 0; i < 40; i++) expect((await sh('echo last', { pipes })).stdout).toBe('last\n');
  });

  test('a slow reader slows the program down and costs no memory', async () => {
    const held = await spawnProcess({ argv: ['head', '-c', '200000000', '/dev/zero'], pipes });
    await held.stdout?.read();
    const before = process.memoryUsage.rss();
    // Nobody pulls: the program must come to rest with its pipe full, long before 200 MB.
    const cpu = () => readFileSync(`/proc/${held.pid}/wchan`, 'latin1');
    await until(() => readStat(held.pid)?.state === 'S' && cpu() !== '', 'the program to wait for us');
    expect(held.stdout?.bytes).toBeLessThan(2 * READ_AHEAD_BYTES + 2 * CHUNK_BYTES);
    expect(process.memoryUsage.rss() - before).toBeLessThan(20_000_000);
    let bytes = 0;
    if (held.stdout !== undefined) for await (const chunk of held.stdout) bytes += chunk.length;
    expect(bytes).toBeLessThan(200_000_000); // the first chunk was read before
    expect((await held.exited).stdoutBytes).toBe(200_000_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(60_000_000);
  });
});

describe('real pipes', () => {
  test('a program can open /dev/stdout, /dev/stderr and, with given input, /dev/stdin', async () => {
    const got = await sh('echo a > /dev/stdout; echo b | tee /dev/stderr; cat /dev/stdin', {
      stdin: Buffer.from('input'),
    });
    expect(got).toMatchObject({ code: 0, stdout: 'a\nb\ninput', stderr: 'b\n' });
  });

  test('sockets, in contrast, cannot be opened', async () => {
    expect((await sh('echo a > /dev/stdout', { pipes: 'socket' })).stderr).not.toBe('');
  });
});

describe('input', () => {
  test('is empty by default', async () => {
    expect(await sh('cat; echo end')).toMatchObject({ stdout: 'end\n' });
    expect(await sh('cat; echo end', { stdin: Buffer.alloc(0) })).toMatchObject({ stdout: 'end\n' });
  });

  test('given as bytes is all there is, however much', async () => {
    const bytes = Buffer.alloc(5_000_000, 'abc');
    expect(await sh('cat | wc -c; cat', { stdin: bytes })).toMatchObject({ stdout: '5000000\n' });
  });

  test('through a pipe waits for the reader and ends when told to', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'input-'));
    const script = 'until [ -e "$0/go" ]; do sleep 0.01; done; exec cat';
    const held = await spawnProcess({ argv: ['sh', '-c', script, dir], stdin: 'pipe' });
    const output = readAll(held.stdout);
    let written = false;
    const writing = held.stdin?.write(Buffer.alloc(3_000_000, 'x')).then(() => (written = true));
    await until(() => (held.stdin?.stream.writableLength ?? 0) > 0, 'the pipe to be full');
    expect(written).toBe(false);
    writeFileSync(join(dir, 'go'), '');
    await writing;
    await held.stdin?.end();
    await held.stdin?.end();
    expect((await output).equals(Buffer.alloc(3_000_000, 'x'))).toBe(true);
    expect((await held.exited).code).toBe(0);
    removeFolder(dir);
  });

  test('through a pipe can be opened as /dev/stdin: open, at its end, and again after the end', async () => {
    const held = await spawnProcess({
      argv: [
        'sh',
        '-c',
        `head -n1 /dev/stdin; sleep ${(4 * LATE_READER_WAIT_MS) / 1000}; cat < /dev/stdin; cat /dev/stdin; echo end`,
      ],
      stdin: 'pipe',
    });
    const output = readAll(held.stdout);
    await held.stdin?.write(Buffer.from('one\n'));
    await until(() => (held.stdout?.bytes ?? 0) > 0, 'the first line');
    await held.stdin?.write(Buffer.from('two\n'));
    await held.stdin?.end(); // long before it is opened again
    expect((await output).toString()).toBe('one\ntwo\nend\n');
    expect((await held.exited).code).toBe(0);
  });

  test('through a pipe blocks its reader, as programs expect', async () => {
    const held = await spawnProcess({ argv: ['cat', '/proc/self/fdinfo/0'], stdin: 'pipe' });
    const flags = /^flags:\s*0*([0-7]+)$/m.exec((await readAll(held.stdout)).toString())?.[1];
    expect(Number.parseInt(flags ?? '', 8) & (constants.O_NONBLOCK | constants.O_RDWR)).toBe(0);
    await held.exited;
  });

  test('through a pipe that nobody reads waits up to a cap, and what is refused was not taken', async () => {
    const held = await spawnProcess({ argv: ['sh', '-c', 'kill -STOP $$; exec cat'], stdin: 'pipe' });
    const output = readAll(held.stdout);
    await until(() => readStat(held.pid)?.state === 'T', 'it to stop');
    const first = held.stdin?.write(Buffer.alloc(MAX_WAITING_INPUT_BYTES, 'x')); // as much as may wait
    await expect(held.stdin?.write(Buffer.alloc(200_000))).rejects.toThrow(InputFullError); // more than a pipe holds
    await expect(held.stdin?.write(Buffer.alloc(200_000))).rejects.toThrow(InputFullError);
    process.kill(held.pid, 'SIGCONT');
    await first;
    await held.stdin?.end();
    expect((await output).length).toBe(MAX_WAITING_INPUT_BYTES);
    await held.exited;
  });

  test('that has ended is watched for late readers only while there may be one', async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    const held = await spawnProcess({ argv: ['sh', '-c', 'read line; sleep 300'], stdin: 'pipe' });
    await held.stdin?.end();
    await held.stop({ graceMs: 0 });
    await held.stdout?.read();
    await held.stderr?.read();
    expect((await held.exited).signal).toBe('SIGKILL');
    await until(() => open() <= before, 'all descriptors to be closed');
  });

  test('to a program that has ended is refused with a typed error, also while waiting', async () => {
    const held = await spawnProcess({ argv: ['sleep', '300'], stdin: 'pipe' });
    const refusal = held.stdin?.write(Buffer.alloc(3_000_000)).catch((error: unknown) => error);
    await held.stop({ graceMs: 0 });
    expect(await refusal).toBeInstanceOf(InputClosedError);
    await expect(held.stdin?.write(Buffer.from('x'))).rejects.toThrow(InputClosedError);
    await held.exited;
  });
});

describe('a grandchild that holds the pipe', () => {
  test('delays the report by 250 ms and no more', async () => {
    const start = performance.now();
    const held = await spawnProcess({ argv: ['sh', '-c', 'sleep 300 & echo $!'] });
    const child = Number((await readAll(held.stdout)).toString());
    expect(await held.exited).toMatchObject({ code: 0, outputHeld: true });
    expect(performance.now() - start).toBeGreaterThan(DRAIN_AFTER_EXIT_MS - 2); // timers count whole milliseconds
    expect(isAlive(child)).toBe(true); // it would have held it for minutes
    expect(await held.stdout?.read()).toBeUndefined();
    await held.close();
  });

  test('is not ended by what it writes after that', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'late-'));
    const script =
      '(until [ -e "$0/go" ]; do sleep 0.01; done; echo late; echo late; : > "$0/wrote"; sleep 300) & echo $!';
    const held = await spawnProcess({ argv: ['sh', '-c', script, dir] });
    const child = Number((await readAll(held.stdout)).toString());
    expect(await held.exited).toMatchObject({ outputHeld: true });
    writeFileSync(join(dir, 'go'), '');
    await until(() => existsSync(join(dir, 'wrote')), 'the grandchild to have written');
    expect(isAlive(child)).toBe(true);
    await held.close();
    expect(isAlive(child)).toBe(false);
    removeFolder(dir);
  });

  test('does not use up its time while the consumer is not pulling', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'late-'));
    const script =
      'head -c 100000 /dev/zero; (until [ -e "$0/go" ]; do sleep 0.01; done; echo late) & echo $! > "$0/pid"';
    const held = await spawnProcess({ argv: ['sh', '-c', script, dir] });
    await held.leaderExit; // all it wrote fits into the pipe and what is read ahead
    await until(() => held.stderr?.held === true, 'the time to be up where there was nothing to pull');
    const child = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    writeFileSync(join(dir, 'go'), '');
    await until(() => !isAlive(child), 'the grandchild to have written and ended');
    expect(await readAll(held.stdout)).toHaveLength(100_005);
    expect(held.stdout?.held).toBe(false);
    removeFolder(dir);
  });

  test('cannot make the report wait for ever by writing on and on', async () => {
    const held = await spawnProcess({ argv: ['sh', '-c', 'yes & echo'] });
    let bytes = 0;
    if (held.stdout !== undefined) for await (const chunk of held.stdout) bytes += chunk.length;
    expect(await held.exited).toMatchObject({ code: 0, outputHeld: true });
    expect(bytes).toBeGreaterThan(0);
    await held.close();
  });
});

describe('a program that cannot be started says why', () => {
  const dir = mkdtempSync(join(tmpdir(), 'launch-'));
  writeFileSync(join(dir, 'data'), 'x', { mode: 0o644 });
  writeFileSync(join(dir, 'lost-script'), '#!/nowhere/interpreter\n', { mode: 0o755 });
  const PATH = `${dir}:/usr/bin:/bin`;

  test.each<[LaunchFailure, string, SpawnOptions]>([
    ['program_not_found', 'a name nobody has', { argv: ['no-such-program'] }],
    ['program_not_found', 'a path nobody has', { argv: ['/no/such/program'] }],
    ['program_not_found', 'a path relative to cwd', { argv: ['./nothing-here'], cwd: dir }],
    ['program_not_found', 'a path through a file', { argv: ['/etc/passwd/program'] }],
    ['program_not_executable', 'a plain file', { argv: [join(dir, 'data')] }],
    ['program_not_executable', 'a plain file in PATH', { argv: ['data'], env: { PATH } }],
    ['interpreter_not_found', 'a script', { argv: ['./lost-script'], cwd: dir }],
    ['interpreter_not_found', 'a script in PATH', { argv: ['lost-script'], env: { PATH } }],
    ['cwd_not_found', 'no directory', { argv: ['true'], cwd: '/no/such/place' }],
    ['cwd_not_directory', 'a file as directory', { argv: ['true'], cwd: join(dir, 'data') }],
    ['arguments_too_long', '4 MB in one argument', { argv: ['true', 'x'.repeat(4_000_000)] }],
    ['bad_argument', 'no program', { argv: [] }],
    ['bad_argument', 'an empty name', { argv: [''] }],
    ['bad_argument', 'a zero byte in an argument', { argv: ['true', 'a\0b'] }],
    ['bad_argument', 'a zero byte in a variable', { argv: ['true'], env: { A: 'a\0b' } }],
  ])('%s: %s', async (code, _what, options) => {
    const refused = await spawnProcess(options).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LaunchError);
    expect(refused).toMatchObject({ code });
  });

  test('and leaves no descriptor behind', async () => {
    const attempt = () =>
      spawnProcess({ argv: ['no-such-program'], stdin: Buffer.from('x') }).catch(() => {});
    await attempt();
    const before = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 100; i++) await attempt();
    const isClosed = (): boolean => readdirSync('/proc/self/fd').length <= before;
    await expect(until(isClosed, 'all descriptors to be closed')).resolves.toBe(true);
    removeFolder(dir);
  });
});

describe('a child', () => {
  test('leads a session and group of its own', async () => {
    const held = await spawnProcess({ argv: ['sleep', '300'] });
    expect(readStat(held.pid)).toMatchObject({ pgid: held.pid, sid: held.pid });
    await held.close();
  });

  test('has the environment it was given and the mark, which cannot be set from outside', async () => {
    const got = await run({ argv: ['/usr/bin/env'], env: { A: '1', [MARK_VARIABLE]: 'forged' } });
    expect(got.stdout.trim().split('\n').sort()).toEqual(['A=1', `${MARK_VARIABLE}=${got.mark}`]);
    expect(isUnder(got.mark, ownMark())).toBe(true);
    expect((await run({ argv: ['sh', '-c', 'echo "$HOME"'] })).stdout).toBe(`${process.env['HOME']}\n`);
  });

  test('gets no descriptor of ours but the three', async () => {
    // What we were ourselves given by someone careless is passed on by Node, and is not our doing.
    const bare = spawnSync('ls', ['/proc/self/fd'], { stdio: ['ignore', 'pipe', 'pipe'] }).stdout.toString();
    expect(['0\n1\n2\n3\n', bare]).toContain((await run({ argv: ['ls', '/proc/self/fd'] })).stdout);
  });

  test('can write to a file of ours, or to nowhere', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'target-'));
    const fd = openSync(join(dir, 'out'), 'w');
    const held = await spawnProcess({
      argv: ['sh', '-c', 'echo out; echo err >&2'],
      stdout: { fd },
      stderr: 'none',
    });
    closeSync(fd);
    expect(held.stdout).toBeUndefined();
    expect(await held.exited).toMatchObject({ code: 0, stdoutBytes: 0 });
    expect(readFileSync(join(dir, 'out'), 'utf8')).toBe('out\n');
    removeFolder(dir);
  });

  test('gets the signal it is sent, and none once it has ended', async () => {
    // Not in one long read: a signal that comes just before a shell begins to wait is heard of when the wait is over.
    const script = 'trap "echo got; exit 5" USR1; echo ready; while :; do sleep 0.01; done';
    const held = await spawnProcess({ argv: ['sh', '-c', script], stderr: 'none' }); // where shells tell what became of the sleep
    expect((await held.stdout?.read())?.toString()).toBe('ready\n');
    expect(held.sendSignal(10)).toBe(true);
    expect((await readAll(held.stdout)).toString()).toBe('got\n');
    expect(await held.exited).toMatchObject({ signal: null, code: 5, outputHeld: false });
    expect(held.running).toBe(false);
    expect(held.sendSignal(10)).toBe(false);
  });

  test('shares the signal with its group', async () => {
    const held = await spawnProcess({ argv: ['sh', '-c', 'sleep 300; echo on'] });
    const sleep = await until(
      () => descendants(held.pid).find(({ command }) => command === 'sleep 300'),
      'the sleep to begin',
    );
    expect(held.sendSignal(15)).toBe(true);
    expect(await held.exited).toMatchObject({ signal: 'SIGTERM' });
    await until(() => !isAlive(sleep.pid), 'the sleep to end by it, too');
  });
});

test('closing a process whose output nobody reads settles its exit', async () => {
  const held = await spawnProcess({ argv: ['yes'] });
  await held.close();
  expect(await held.exited).toMatchObject({ code: null, signal: 'SIGTERM' });
});

test('500 programs, 8 at a time, leave no descriptor open', async () => {
  const lane = async (): Promise<void> => {
    for (let i = 0; i < 63; i++)
      await run({
        argv: ['/bin/true'],
        stdin: [Buffer.from('x'), 'pipe' as const, 'none' as const][i % 3] ?? 'none',
      });
  };
  await lane();
  const before = readdirSync('/proc/self/fd').length;
  await Promise.all(Array.from({ length: 8 }, lane));
  await until(() => readdirSync('/proc/self/fd').length <= before, 'all descriptors to be closed').catch(
    () => {},
  );
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
});
