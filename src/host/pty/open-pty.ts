// Opens a terminal and starts a program on it.

import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { LaunchError } from '../process/launch-error.js';
import { MARK_VARIABLE, newChildMark } from '../process/mark.js';
import { useStation } from '../process/station.js';
import { type Launcher, launchInTerminal, type Terminal } from './launch.js';
import { loadPty, type NativePty, PtyUnavailableError } from './native.js';
import { addMaster, removeMaster } from '../process/open-masters.js';
import { Pty } from './pty.js';
import { assertTerminalSize, type TerminalSize } from './terminal-size.js';

export const DEFAULT_COLS = 120;
export const DEFAULT_ROWS = 32;
const DEFAULT_TERM = 'xterm-256color';

export interface PtyOptions {
  /** The program and its arguments. A name without a slash is looked up in the PATH of `env`. */
  readonly argv: readonly string[];
  readonly cwd?: string;
  /** The whole environment; the mark is added, and TERM if there is none. Absent: our own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cols?: number;
  readonly rows?: number;
  /** Output kept for readers who come back. */
  readonly replayBytes?: number;
  /** Puts the program under this mark (see `newScope`), so that all of a scope can be stopped together. */
  readonly scope?: string;
  /** A descriptor of ours that the program has as its third; it stays ours to close. */
  readonly handed?: number;
  /** Found out by itself. */
  readonly launcher?: Launcher;
}

interface Pair {
  readonly master: number;
  readonly terminal: Terminal;
}

/** Rejects with PtyUnavailableError, TerminalSizeError or LaunchError. */
export async function openPty(options: PtyOptions): Promise<Pty> {
  const size = { cols: options.cols ?? DEFAULT_COLS, rows: options.rows ?? DEFAULT_ROWS };
  assertTerminalSize(size);
  const native = await loadPty();
  const mark = newChildMark(options.scope);
  const pair = openPair(native, size, options);
  let child: ChildProcess;
  try {
    useStation()?.guardian.watch();
    const { argv, cwd, launcher, handed } = options;
    const env = environment(options, mark);
    child = await launchInTerminal({ argv, cwd, env, terminal: pair.terminal, handed }, launcher);
  } catch (error) {
    closeMaster(pair.master);
    closeSync(pair.terminal.fd);
    throw error;
  }
  return new Pty({
    child,
    pid: child.pid as number,
    mark,
    master: pair.master,
    terminal: pair.terminal,
    native,
    size,
    replayBytes: options.replayBytes,
  });
}

function openPair(native: NativePty, size: TerminalSize, { argv, cwd, env }: PtyOptions): Pair {
  let pair: ReturnType<NativePty['open']>;
  try {
    pair = native.open(size.cols, size.rows);
  } catch (error) {
    const attempt = { program: argv[0] ?? '', cwd, path: env?.['PATH'] };
    throw new LaunchError('out_of_resources', attempt, error); // no more terminals, or descriptors
  }
  addMaster(pair.master);
  try {
    // Its own end comes without close-on-exec and would be passed on to every program; Node opens it with that.
    // Not as our controlling terminal: the leader of a session gets that with the first one it opens.
    const fd = openSync(pair.pty, constants.O_RDWR | constants.O_NOCTTY);
    return { master: pair.master, terminal: { fd, path: pair.pty } };
  } catch (error) {
    closeMaster(pair.master);
    throw new PtyUnavailableError(error); // a host that gives out terminals and does not show them
  } finally {
    closeSync(pair.slave);
  }
}

function closeMaster(master: number): void {
  removeMaster(master);
  closeSync(master);
}

function environment({ env = process.env }: PtyOptions, mark: string): Record<string, string | undefined> {
  return { ...env, TERM: env['TERM'] ?? DEFAULT_TERM, [MARK_VARIABLE]: mark };
}
