// A program on a terminal of its own: bytes in, bytes out, and an end that comes after the last byte.

import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { deadline, withSignal } from '../../base/deadline.js';
import { LocalError } from '../../base/errors.js';
import { type Replay, ReplayBuffer } from '../../base/replay-buffer.js';
import { ClosedError, Resource } from '../../base/resource.js';
import type { LeaderExit } from '../process/leader.js';
import { DRAIN_AFTER_EXIT_MS } from '../process/output-pipe.js';
import { addLeader, removeLeader } from '../process/roster.js';
import { signalTree, stopTree } from '../process/stop-tree.js';
import type { Terminal } from './launch.js';
import { Master, MAX_REST_BYTES } from './master.js';
import type { NativePty } from './native.js';
import { findWaitingReader } from './terminal-wait.js';
import { TerminalInput } from './terminal-input.js';
import { assertTerminalSize, type TerminalSize } from './terminal-size.js';

/** Output that no reader has asked for yet; with this much the program has to wait. */
export const MAX_UNREAD_BYTES = 64 * 1024;
/** What a reader gets at once at most. */
export const MAX_READ_BYTES = 64 * 1024;
/** Output kept for those who come back. */
export const REPLAY_BYTES = 256 * 1024;
/** Readers that wait for output at the same time; each holds a promise and a listener until some comes. */
export const MAX_WAITING_READERS = 64;
/** Between SIGHUP, which shells heed, and SIGTERM, which they do not. */
export const HANGUP_GRACE_MS = 500;

/** All that can be unread in the end must fit. */
const MIN_REPLAY_BYTES = MAX_UNREAD_BYTES + MAX_REST_BYTES * 2;

export class TooManyReadersError extends LocalError {
  override readonly name = 'TooManyReadersError';

  constructor() {
    super('too_many_readers', `${MAX_WAITING_READERS} readers are waiting already`);
  }
}

export interface PtyExit extends LeaderExit {
  /** True when someone the program left behind still had the terminal, so that we hung up. */
  readonly outputHeld: boolean;
}

export interface PtyParts {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly mark: string;
  readonly master: number;
  readonly terminal: Terminal;
  readonly native: NativePty;
  readonly size: TerminalSize;
  readonly replayBytes: number | undefined;
}

export class Pty extends Resource {
  readonly pid: number;
  /** What its environment carries, and by which `stopTree` finds it and all that is below. */
  readonly mark: string;
  /** The last word: the program has ended and all its output can be read, whether or not anyone does. */
  readonly exited: Promise<PtyExit>;
  readonly #native: NativePty;
  readonly #terminal: Terminal;
  readonly #master: Master;
  readonly #input: TerminalInput;
  readonly #replay: ReplayBuffer;
  readonly #waiting = new Set<() => void>();
  #size: TerminalSize;
  /** How far the foremost reader has come. */
  #taken = 0;
  #allowance = MAX_UNREAD_BYTES;
  #outputEnded = false;
  #exit: LeaderExit | undefined;
  #outputHeld = false;
  #hold: NodeJS.Timeout | undefined;
  #resolveExited: (exit: PtyExit) => void = () => {};

  constructor(parts: PtyParts) {
    super();
    this.pid = parts.pid;
    this.mark = parts.mark;
    this.#native = parts.native;
    this.#terminal = parts.terminal;
    this.#size = parts.size;
    this.#replay = new ReplayBuffer(Math.max(parts.replayBytes ?? REPLAY_BYTES, MIN_REPLAY_BYTES));
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    addLeader(this.pid, this.mark);
    parts.child.once('exit', (code, signal) => this.#leaderEnded({ code, signal }));
    this.#master = new Master(parts.master, {
      data: (chunk) => this.#append(chunk),
      end: () => this.#endOutput(),
    });
    this.#input = new TerminalInput((bytes) => this.#master.write(bytes));
  }

  get size(): TerminalSize {
    return this.#size;
  }

  /** Offset of the next byte of output: how many there were in all. */
  get offset(): number {
    return this.#replay.end;
  }

  /** False once the program itself has ended, whoever of its tree may be left. */
  get running(): boolean {
    return this.#exit === undefined;
  }

  /**
   * Output from `offset` on as soon as there is some; undefined at the end. Asking for an offset says that all before
   * it has been taken care of: the program runs on as long as the foremost reader keeps up, and one that falls behind
   * by more than the replay holds learns from `lost` how much it missed.
   */
  async read(offset: number, signal?: AbortSignal): Promise<Replay | undefined> {
    const from = Math.min(Math.max(0, offset), this.#replay.end);
    this.#taken = Math.max(this.#taken, from);
    if (this.#hasRoom()) this.#master.resume();
    while (this.#replay.end === from) {
      if (this.#outputEnded) return undefined;
      await this.#waitForMore(signal);
    }
    return this.#replay.since(from, MAX_READ_BYTES);
  }

  async *output(offset = 0, signal?: AbortSignal): AsyncGenerator<Replay, void, undefined> {
    let next: Replay | undefined;
    for (let at = offset; (next = await this.read(at, signal)) !== undefined; at = next.at + next.data.length)
      yield next;
  }

  /** Resolves when the terminal has taken all of it; a program that does not read keeps the caller waiting. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  /** The program hears of it by SIGWINCH. */
  resize(size: TerminalSize): void {
    assertTerminalSize(size);
    if (!this.#master.open) throw new ClosedError('terminal');
    this.#native.resize(this.#master.fd, size.cols, size.rows);
    this.#size = { cols: size.cols, rows: size.rows };
  }

  /** Whether the program in the foreground waits for something to be typed; undefined when that cannot be known. */
  isWaitingForInput(): boolean | undefined {
    return this.running && this.#master.open ? findWaitingReader(this.pid, this.#terminal.path) : false;
  }

  /**
   * Takes the terminal away and leaves the program to decide: it is sent SIGHUP, its reads end and its writes fail. What
   * it has shown until now can still be read.
   */
  disconnect(): void {
    this.#input.close();
    this.#master.finish();
  }

  /** HUP, TERM, KILL to the whole tree; also after the program has ended, for those it left behind. */
  protected async release(): Promise<void> {
    this.#allowance = Infinity; // who is being ended shall not be stuck in its last words
    this.#master.resume();
    try {
      if (this.running) await this.#hangUp();
      await stopTree(this.mark);
    } finally {
      this.#input.close();
      this.#master.finish();
    }
  }

  async #hangUp(): Promise<void> {
    const hangUp = (): number => signalTree(this.mark, constants.signals.SIGHUP);
    hangUp();
    // A bash that is about to wait for its next line only notes the signal and then waits for a key; a second one ends it.
    const again = setTimeout(hangUp, HANGUP_GRACE_MS / 2);
    using grace = deadline(HANGUP_GRACE_MS);
    await withSignal(this.exited, grace.signal).catch(() => {});
    clearTimeout(again);
  }

  #append(chunk: Buffer): boolean {
    this.#replay.append(chunk);
    this.#wakeReaders();
    return this.#hasRoom();
  }

  #hasRoom(): boolean {
    return this.#replay.end - this.#taken < this.#allowance;
  }

  #waitForMore(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#waiting.size >= MAX_WAITING_READERS) throw new TooManyReadersError();
      const wake = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(wake);
        reject(signal?.reason as Error);
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  #wakeReaders(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }

  #leaderEnded(exit: LeaderExit): void {
    this.#exit = exit;
    // Until now it was ours too: a program that lets go of its terminal (`exec >log 2>&1 </dev/null`) would otherwise
    // end the output, and be hung up for it.
    closeSync(this.#terminal.fd);
    removeLeader(this.pid);
    this.#input.close();
    if (this.#outputEnded) return this.#report();
    // What the program has written lies in the terminal and is little; there is no need to wait for a reader.
    this.#allowance += MAX_REST_BYTES;
    this.#master.resume();
    // Where we were held up ourselves, an end that has come meanwhile is heard first.
    this.#hold = setTimeout(() => setImmediate(() => this.#giveUpWaiting()), DRAIN_AFTER_EXIT_MS);
  }

  #giveUpWaiting(): void {
    if (this.#outputEnded) return;
    this.#outputHeld = true;
    this.#master.finish();
  }

  #endOutput(): void {
    this.#outputEnded = true;
    clearTimeout(this.#hold);
    this.#input.close();
    this.#wakeReaders();
    if (this.#exit !== undefined) this.#report();
  }

  #report(): void {
    if (this.#exit !== undefined) this.#resolveExited({ ...this.#exit, outputHeld: this.#outputHeld });
  }
}
