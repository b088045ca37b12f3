import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openPty } from '../../../../src/host/pty/open-pty.js';
import { parseSyscall } from '../../../../src/host/pty/proc-syscall.js';
import { MAX_POLLED, MAX_THREADS } from '../../../../src/host/pty/terminal-wait.js';
import { descendants } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { plainEnv, readUntil } from './terminals.js';

const env = { ...plainEnv(), HISTFILE: '', PS1: '$ ' };
const READS_ON_DATA = 'process.stdin.on("data", () => {})';
const WAITS = 'setInterval(() => {}, 1000)';

test.each([
  ['a read', ['cat']],
  ['select, at the prompt of a shell', ['bash', '--norc', '-i']],
  ['a program below a shell', ['sh', '-c', 'cat; true']],
  ['a job that a shell put in the foreground', ['bash', '--norc', '-ic', 'cat; true']],
  ['the terminal by its other name', ['sh', '-c', 'cat </dev/tty; true']],
  ['epoll, in a server that reads', [process.execPath, '-e', READS_ON_DATA]],
])('%s counts as waiting for input', async (_what, argv) => {
  await using pty = await openPty({ argv, env });
  const waiting = until(() => pty.isWaitingForInput() === true, 'the program to wait');
  await expect(waiting).resolves.toBe(true);
});

test.each([
  ['sleep', ['sh', '-c', 'echo ready; exec sleep 1000']],
  ['work', ['sh', '-c', 'echo ready; while :; do :; done']],
  ['waiting for a child', ['sh', '-c', 'echo ready; sleep 1000; true']],
  ['reading a pipe', ['sh', '-c', 'echo ready; sleep 1000 | cat']],
  ['a server that reads nothing', [process.execPath, '-e', `console.log('ready'); ${WAITS}`]],
])('%s does not count as waiting for input', async (_what, argv) => {
  await using pty = await openPty({ argv, env });
  await readUntil(pty, 'ready');
  for (let look = 0; look < 5; look++) expect(pty.isWaitingForInput()).toBe(false);
});

describe('is looked for only so far', () => {
  const READ = process.arch === 'arm64' ? 63 : 0;
  const POLL = process.arch === 'arm64' ? 73 : 7; // ppoll there
  const FOREVER = process.arch === 'arm64' ? '0, 0, 0' : '-1';

  /** Empty when the thread has ended meanwhile. */
  const lineOf = (path: string): string => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return '';
    }
  };

  /** True when a thread of the program is blocked in this call, and the first argument is the one given. */
  const isBlocked = (pid: number, number: number, first?: number): boolean =>
    readdirSync(`/proc/${pid}/task`).some((thread) => {
      const call = parseSyscall(lineOf(`/proc/${pid}/task/${thread}/syscall`));
      return call?.number === number && (first === undefined || call.args[0] === first);
    });

  test.each([
    ['before', 'reader().then(others)', true],
    ['behind', 'others().then(reader)', false],
  ])('a thread that reads, %s as many others as are looked at', async (_where, start, found) => {
    const script = `
      const { Worker } = require('node:worker_threads');
      const fs = require('node:fs');
      const read = 'require("worker_threads").parentPort.postMessage(1); require("fs").readSync(0, Buffer.alloc(1))';
      const reader = () => new Promise((done) => new Worker(read, { eval: true }).once('message', done));
      const others = () => new Promise((done) => fs.stat('/', done)); // the first call starts the whole pool
      ${start}.then(() => fs.writeSync(1, 'ready'));`;
    await using pty = await openPty({
      argv: [process.execPath, '-e', script],
      env: { ...env, UV_THREADPOOL_SIZE: String(MAX_THREADS) },
    });
    await readUntil(pty, 'ready');
    await until(() => isBlocked(pty.pid, READ, 0), 'the thread to read');
    expect(pty.isWaitingForInput()).toBe(found);
  });

  test.each([
    ['the last', MAX_POLLED - 1, true],
    ['one behind the last', MAX_POLLED, false],
  ])('a terminal that is %s descriptor looked at in a poll', async (_where, others, found) => {
    const list = `pack("lss", -1, 1, 0) x ${others} . pack("lss", 0, 1, 0)`;
    const poll = `$list = ${list}; syscall(${POLL}, $list, ${others + 1}, ${FOREVER})`;
    const argv = ['sh', '-c', `ulimit -n 2048 && exec perl -e '${poll}'`];
    await using pty = await openPty({ argv, env });
    await until(() => isBlocked(pty.pid, POLL), 'the program to poll');
    expect(pty.isWaitingForInput()).toBe(found);
  });
});

test('a shell waits no longer while a job runs, and not after its end', async () => {
  const pty = await openPty({ argv: ['bash', '--norc', '-i'], env });
  await until(() => pty.isWaitingForInput() === true, 'the prompt');
  await pty.write(Buffer.from('sleep 1000\n'));
  // Not before it runs: a shell that is only about to start it takes the interrupt for itself.
  await until(() => descendants(pty.pid).some(({ command }) => command === 'sleep 1000'), 'sleep to run');
  expect(pty.isWaitingForInput()).toBe(false);
  await pty.write(Buffer.from('\x03'));
  await until(() => pty.isWaitingForInput() === true, 'the prompt again');
  await pty.close();
  expect(pty.isWaitingForInput()).toBe(false);
});

test('a blocked call is read from its line, and nothing else is', () => {
  const hex = fc.nat().map((n) => `0x${n.toString(16)}`);
  fc.assert(
    fc.property(fc.nat(500), fc.array(hex, { minLength: 8, maxLength: 8 }), (number, words) => {
      expect(parseSyscall(`${number} ${words.join(' ')}\n`)).toEqual({
        number,
        args: words.slice(0, 6).map(Number),
      });
    }),
  );
  for (const line of [
    'running\n',
    '-1 0x7ffd 0x7f00\n',
    '',
    '0 0x1',
    '0 a b c d e f',
    'x 0x0 0x0 0x0 0x0 0x0 0x0',
  ])
    expect(parseSyscall(line)).toBeUndefined();
});
