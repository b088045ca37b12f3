// Starting a program: no shell, a session of its own, a mark, real pipes, and a typed refusal when it does not start.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { startByBun } from '../runtime/bun-spawn.js';
import type { Fifo } from './fifo-pool.js';
import { readFifo } from './fifo-reader.js';
import { HostProcess, type HostProcessParts } from './host-process.js';
import { InputPipe, inputThroughFifo } from './input-pipe.js';
import { explainLaunchFailure } from './launch-error.js';
import { type Leader, leaderOfChild } from './leader.js';
import { MARK_VARIABLE, newChildMark } from './mark.js';
import { hideMasters } from './open-masters.js';
import { OutputPipe } from './output-pipe.js';
import { readChildStream } from './pipe-source.js';
import { addPipe, removePipe } from './roster.js';
import { type LauncherStart, startByLauncher } from './start-by-launcher.js';
import { closeAll, openFifos, openInputFile, useStation } from './station.js';

/** `{ fd }`: the child writes to a descriptor of ours, which stays ours to close. */
export type OutputTarget = 'pipe' | 'none' | { readonly fd: number };
/**
 * `descriptor`: a pipe whose reading end (`HostProcess.stdoutFd`) the caller reads by itself, and closes. Where there are
 * no real pipes to be had it is the same as `pipe`.
 */
export type StdoutTarget = OutputTarget | 'descriptor';

export interface SpawnOptions {
  /** The program and its arguments. A name without a slash is looked up in the PATH of `env`. */
  readonly argv: readonly string[];
  readonly cwd?: string;
  /** The whole environment; the mark is added. Absent: our own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `none` (the default) is /dev/null; bytes are all the input there is; a `pipe` can be written to later. */
  readonly stdin?: 'none' | 'pipe' | Uint8Array;
  readonly stdout?: StdoutTarget;
  readonly stderr?: OutputTarget;
  /** `socket` is what Node does by itself: the child cannot open /dev/stdout then. */
  readonly pipes?: 'fifo' | 'socket';
  /** A descriptor of ours that the child has as its third; it stays ours to close. */
  readonly handed?: number;
  /** Puts the process under this mark (see `newScope`), so that all of a scope can be stopped together. */
  readonly scope?: string;
  /**
   * The mark of a process (see `newDetachedMark`) that outlives us and every sweep but its own. Give it files to write to:
   * pipes end when we do.
   */
  readonly detachedMark?: string;
}

type ChildStdio = 'pipe' | 'ignore' | number;

/** Rejects with LaunchError when the program cannot be started. */
export async function spawnProcess(options: SpawnOptions): Promise<HostProcess> {
  const detached = options.detachedMark !== undefined;
  const mark = options.detachedMark ?? newChildMark(options.scope);
  const launched = await startByLauncher(options, mark);
  if (typeof launched === 'object') return fromLauncher(launched, mark);
  const fifos = await openPipes(options);
  const passed = [fifos.stdout?.writeFd, fifos.stderr?.writeFd];
  let child: Child | undefined;
  try {
    const stdin = fifos.stdin?.readFd ?? inputFor(options.stdin);
    if (typeof stdin === 'number') passed.push(stdin);
    if (!detached) useStation()?.guardian.watch();
    child = await launch(options, mark, [
      stdin,
      outputFor(options.stdout, fifos.stdout),
      outputFor(options.stderr, fifos.stderr),
      ...(options.handed === undefined ? [] : [options.handed]),
    ]);
  } catch (error) {
    closeAll([fifos.stdin?.writeFd, fifos.stdout?.readFd, fifos.stderr?.readFd]);
    throw error;
  } finally {
    if (launched === 'failed') useStation()?.launcher.noteFailure(child !== undefined);
    closeAll(passed); // the child has its own; while we have one there is no end of output
  }
  return new HostProcess({
    leader: child.leader,
    mark,
    detached,
    stdin: openInput(child.stdin, fifos.stdin, options.stdin),
    ...openStdout(options.stdout, child.stdout, fifos.stdout, mark),
    stderr: openOutput(child.stderr, fifos.stderr, mark),
  });
}

function fromLauncher({ leader, stdin, stdout, stderr }: LauncherStart, mark: string): HostProcess {
  return new HostProcess({
    leader,
    mark,
    detached: false,
    stdin: stdin === undefined ? undefined : inputThroughFifo(stdin),
    stdout: openOutput(null, stdout, mark),
    stderr: openOutput(null, stderr, mark),
  });
}

/** What has been started, and what of its streams is Node's own. */
interface Child extends Pick<ChildProcess, 'stdin' | 'stdout' | 'stderr'> {
  readonly leader: Leader;
}

const NO_STREAMS = { stdin: null, stdout: null, stderr: null };

async function launch(options: SpawnOptions, mark: string, stdio: ChildStdio[]): Promise<Child> {
  const [program = '', ...args] = options.argv;
  const env: Record<string, string | undefined> = { [MARK_VARIABLE]: mark, ...(options.env ?? process.env) };
  env[MARK_VARIABLE] = mark;
  const attempt = { program, cwd: options.cwd, path: env['PATH'] };
  const hidden = hideMasters(stdio);
  const leader = startByBun({ argv: options.argv, cwd: options.cwd, env, stdio: hidden });
  if (leader !== undefined) return { leader, ...NO_STREAMS };
  try {
    const child = spawn(program, args, { cwd: options.cwd, env, detached: true, stdio: hidden });
    const { stdin, stdout, stderr } = child;
    if (child.pid !== undefined) return { leader: leaderOfChild(child), stdin, stdout, stderr };
    const [error] = (await once(child, 'error')) as [Error];
    throw error;
  } catch (error) {
    throw explainLaunchFailure(error, attempt);
  }
}

type Pipes = Partial<Record<'stdin' | 'stdout' | 'stderr', Fifo>>;

async function openPipes(options: SpawnOptions): Promise<Pipes> {
  if (options.pipes === 'socket') return {};
  const { stdin, stdout = 'pipe', stderr = 'pipe' } = options;
  const named = Object.entries({ stdin, stdout, stderr }).filter(
    ([, target]) => target === 'pipe' || target === 'descriptor',
  );
  const fifos = await openFifos(named.map(([name]) => (name === 'stdin' ? 'input' : 'output')));
  return Object.fromEntries(fifos.map((fifo, i) => [named[i]?.[0], fifo]));
}

function inputFor(input: SpawnOptions['stdin']): ChildStdio {
  if (input === 'pipe') return 'pipe';
  if (input === undefined || input === 'none' || input.length === 0) return 'ignore';
  return openInputFile(input) ?? 'pipe';
}

function outputFor(target: StdoutTarget = 'pipe', fifo: Fifo | undefined): ChildStdio {
  if (target === 'none') return 'ignore';
  if (typeof target === 'object') return target.fd;
  return fifo?.writeFd ?? 'pipe';
}

function openInput(
  stream: ChildProcess['stdin'],
  fifo: Fifo | undefined,
  input: SpawnOptions['stdin'],
): InputPipe | undefined {
  if (fifo !== undefined) return inputThroughFifo(fifo.writeFd);
  if (stream === null) return undefined;
  const pipe = new InputPipe(stream);
  if (input === 'pipe') return pipe;
  stream.end(input); // bytes for which there was no file
  return undefined;
}

function openStdout(
  target: StdoutTarget | undefined,
  stream: Readable | null,
  fifo: Fifo | undefined,
  mark: string,
): Pick<HostProcessParts, 'stdout' | 'stdoutPipe'> {
  if (target !== 'descriptor' || fifo === undefined) return { stdout: openOutput(stream, fifo, mark) };
  addPipe(fifo.path, mark);
  return { stdout: undefined, stdoutPipe: { fd: fifo.readFd, path: fifo.path } };
}

function openOutput(
  stream: Readable | null,
  fifo: Pick<Fifo, 'path' | 'readFd'> | undefined,
  mark: string,
): OutputPipe | undefined {
  if (stream !== null) return new OutputPipe((sink) => readChildStream(stream, sink));
  if (fifo === undefined) return undefined;
  addPipe(fifo.path, mark);
  return new OutputPipe((sink) =>
    readFifo(fifo.readFd, {
      data: (chunk) => sink.data(chunk),
      end: () => {
        removePipe(fifo.path);
        sink.end();
      },
    }),
  );
}
