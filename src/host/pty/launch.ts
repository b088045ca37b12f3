// Starts a program as the leader of a session that has a terminal of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { explainLaunchFailure, type LaunchAttempt } from '../process/launch-error.js';
import { hideMasters } from '../process/open-masters.js';
import { DEFAULT_PATH, placesOf } from '../process/search-path.js';

export interface TerminalLaunch {
  readonly argv: readonly string[];
  readonly cwd: string | undefined;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** A descriptor of ours that the program has as its third; it stays ours to close. */
  readonly handed?: number | undefined;
}

/** The end of a terminal that programs have. */
export interface Terminal {
  readonly path: string;
  readonly fd: number;
}

/** `setsid` leaves the environment as it is; a shell drops names it cannot spell, so it comes second. */
export type Launcher = 'setsid' | 'sh';

const SHEBANG_BYTES = 256;

/** Rejects with LaunchError when the program cannot be started. */
export async function launchInTerminal(launch: TerminalLaunch, launcher?: Launcher): Promise<ChildProcess> {
  const attempt = { program: launch.argv[0] ?? '', cwd: launch.cwd, path: launch.env['PATH'] };
  try {
    const program = findProgram(attempt);
    await expectUtf8(launch.terminal);
    const child = start(launch, program, launcher ?? bestLauncher());
    if (child.pid !== undefined) return child;
    const [error] = (await once(child, 'error')) as [Error];
    throw error;
  } catch (error) {
    throw explainLaunchFailure(error, attempt);
  }
}

function start(launch: TerminalLaunch, program: string, launcher: Launcher): ChildProcess {
  const [name = '', ...args] = launch.argv;
  const { fd, path } = launch.terminal;
  const options = {
    cwd: launch.cwd,
    env: { ...launch.env },
    stdio: hideMasters([fd, fd, fd, ...(launch.handed === undefined ? [] : [launch.handed])]),
  };
  if (launcher === 'setsid') return spawn(tool('setsid') ?? 'setsid', ['-c', '--', name, ...args], options);
  // The first terminal that the leader of a new session opens becomes its own.
  const script = ': <>"$0"; exec "$@"';
  return spawn('/bin/sh', ['-c', script, path, program, ...args], { ...options, detached: true });
}

function bestLauncher(): Launcher {
  return tool('setsid') === undefined ? 'sh' : 'setsid';
}

/** So that erasing a character in a plain line erases all its bytes. Nice to have, so no failure counts. */
async function expectUtf8(terminal: Terminal): Promise<void> {
  const stty = tool('stty');
  if (stty === undefined) return;
  const child = spawn(stty, ['iutf8'], { env: {}, stdio: hideMasters([terminal.fd, 'ignore', 'ignore']) });
  await new Promise((done) => child.once('error', done).once('exit', done));
}

const tools = new Map<string, string | undefined>();

/** A program of the system, looked up in our own PATH: the one of the child may be anything. */
function tool(name: string): string | undefined {
  if (!tools.has(name)) {
    const path = `${process.env['PATH'] ?? ''}${delimiter}${DEFAULT_PATH}`;
    const places = placesOf(name, path).filter((place) => place.startsWith('/'));
    tools.set(
      name,
      places.find((place) => problemWith(place) === undefined),
    );
  }
  return tools.get(name);
}

/**
 * Where the program is, with the errors the system would give. The launcher could report them only as an exit code and
 * a line on the terminal, which a program of that name may produce as well.
 */
export function findProgram({ program, cwd = '.', path }: LaunchAttempt): string {
  if (program === '') throw new TypeError('there is no program to start');
  const found = placesOf(program, path).map((place) => {
    const file = resolve(cwd, place);
    return { file, problem: problemWith(file) };
  });
  const usable = found.find(({ problem }) => problem === undefined);
  if (usable === undefined)
    throw systemError(found.some(({ problem }) => problem === 'EACCES') ? 'EACCES' : 'ENOENT');
  const interpreter = readInterpreter(usable.file);
  if (interpreter !== undefined && problemWith(resolve(cwd, interpreter)) !== undefined)
    throw systemError('ENOENT');
  return usable.file;
}

function problemWith(file: string): 'ENOENT' | 'EACCES' | undefined {
  try {
    if (!statSync(file).isFile()) return 'ENOENT';
  } catch {
    return 'ENOENT';
  }
  try {
    accessSync(file, constants.X_OK);
    return undefined;
  } catch {
    return 'EACCES';
  }
}

/** The program that a script names in its first line. */
function readInterpreter(file: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch {
    return undefined; // may be run but not read
  }
  try {
    const head = Buffer.alloc(SHEBANG_BYTES);
    const text = head.toString('latin1', 0, readSync(fd, head));
    return /^#![ \t]*([^ \t\n]+)/.exec(text)?.[1];
  } finally {
    closeSync(fd);
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
