// rexd where something is missing: descriptors, a place for temporary files, the folder it was started in.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bin, Program, run } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-short-')));
});
afterEach(() => removeFolder(folder));

/** Started by a shell that first takes something away. */
function rexdAfter(shell: string, env: Readonly<Record<string, string>> = {}): Program {
  return new Program(
    ['sh', '-c', `${shell}exec "$@"`, 'sh', process.execPath, bin('rexd'), '--stdio', '--root', folder],
    { env: { XDG_CONFIG_HOME: folder, HOME: folder, ...env } },
  );
}

async function ask(program: Program, method: string, params: object): Promise<Answer> {
  program.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'q', method, params })}\n`);
  for (;;) {
    const answer = JSON.parse((await program.line()) ?? '{"id":"q"}') as Answer;
    if (answer.id === 'q') return answer;
  }
}

interface Answer {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

async function open(program: Program): Promise<string> {
  return String((await ask(program, 'session.open', {})).result?.['session_id']);
}

test('without free descriptors a path is not called forbidden: the server says what it has run out of', async () => {
  await using program = rexdAfter('ulimit -n 64; ');
  const session_id = await open(program);
  await ask(program, 'fs.stat', { session_id, path: '.' });
  execFileSync('prlimit', [`--pid=${program.child.pid}`, '--nofile=8:']);
  const { error } = await ask(program, 'fs.stat', { session_id, path: 'a' });
  expect(error).toMatchObject({
    code: -32008,
    message: 'too many files are open',
    data: { errno: 'EMFILE' },
  });
  execFileSync('prlimit', [`--pid=${program.child.pid}`, '--nofile=64:']);
  expect((await ask(program, 'fs.stat', { session_id, path: 'a' })).result).toMatchObject({ exists: false });
});

test('a full disk is a limit, not a mistake of the caller', async (context) => {
  const small = join(folder, 'small');
  mkdirSync(small);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', small], { stdio: 'ignore' });
  } catch {
    context.skip('no right to mount a disk that can be filled');
  }
  try {
    await using program = rexdAfter('');
    const session_id = await open(program);
    const content = 'x'.repeat(1_000_000);
    expect((await ask(program, 'fs.write', { session_id, path: 'small/f', content })).error).toMatchObject({
      code: -32008,
      message: 'the disk is full',
      data: { errno: 'ENOSPC' },
    });
    expect((await ask(program, 'fs.list', { session_id, path: 'small' })).result).toMatchObject({
      entries: [],
    });
  } finally {
    execFileSync('umount', [small]);
  }
});

test.each([
  ['below /proc', () => '/proc'],
  ['a file', () => join(folder, 'file')],
  ['missing below a folder that cannot be made', () => '/proc/no/such/folder'],
])(
  'with a place for temporary files that is %s, output still comes and the server ends',
  async (_, place) => {
    writeFileSync(join(folder, 'file'), '');
    await using program = rexdAfter('', { TMPDIR: place() });
    const session_id = await open(program);
    const argv = ['head', '-c', '900000', '/dev/zero'];
    const { result } = await ask(program, 'exec.start', { session_id, argv, stdin: '' });
    const process_id = result?.['process_id'];
    const ended = await ask(program, 'exec.wait', { session_id, process_id });
    expect(ended.result).toMatchObject({ exit_code: 0, bytes_stdout: 900_000 });
    const late = await ask(program, 'exec.read', { session_id, process_id, offset: 800_000 });
    expect(late.result?.['size'] ?? late.error?.code).toSatisfy((it) => it === 900_000 || it === -32004);
    program.endInput();
    expect(await program.ended).toEqual({ code: 0, signal: null });
  },
);

test('started in a folder that is gone, --root . says so in one line', async () => {
  const gone = join(folder, 'gone');
  mkdirSync(gone);
  const { code, stderr } = await run(
    ['sh', '-c', 'rmdir "$PWD"; exec "$@"', 'sh', process.execPath, bin('rexd'), '--stdio', '--root', '.'],
    { cwd: gone, env: { XDG_CONFIG_HOME: folder, HOME: folder } },
  );
  expect(code).toBe(2);
  expect(stderr).toMatch(/^rexd: the folder we are in is gone .*absolute path\nTry: rexd --help\n$/);
});
