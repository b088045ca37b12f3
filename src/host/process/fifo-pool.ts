// Real pipes for children: Node hands out socket pairs, on which `echo x > /dev/stdout` fails with ENXIO.

import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import { hideMasters } from './open-masters.js';

/** The first batch is small, because someone waits for it; the more are used, the more are made at once. */
const FIRST_BATCH = 16;
/** Pipes made at once at most: enough that a burst of starts does not wait for names, few enough for one quick mkfifo. */
export const MAX_FIFO_BATCH = 192;
/** By whoever makes them without a start of their own; small, because others may be waiting behind it. */
const QUICK_BATCH = 32;
/** Refilled in the background when less than this part of the last batch is left. */
const LOW_WATER = 1 / 3;

/** Both ends of a pipe. The name is gone by now and only serves to recognise the pipe in /proc. */
export interface Fifo {
  readonly path: string;
  /** The end that is ours does not block; the child's does, as programs expect it. */
  readonly readFd: number;
  readonly writeFd: number;
}

/** What a pipe is for, as the child sees it. */
export type FifoUse = 'input' | 'output';

export type FifoMaker = (names: readonly string[]) => Promise<boolean> | undefined;

export class FifoPool {
  readonly #dir: string;
  readonly #quickMaker: FifoMaker | undefined;
  readonly #names: string[] = [];
  #made = 0;
  #batch = FIRST_BATCH;
  #refill: Promise<boolean> | undefined;
  #broken = false;

  /** `quickMaker`, when there is one, makes pipes with these names without a fork of ours; false when it did not. */
  constructor(dir: string, quickMaker?: FifoMaker) {
    this.#dir = dir;
    this.#quickMaker = quickMaker;
  }

  /** False when this machine gives us no FIFOs (no mkfifo, a directory that was taken away). */
  get usable(): boolean {
    return !this.#broken;
  }

  /** How many can be opened at once, without waiting. */
  get ready(): number {
    return this.#names.length;
  }

  /** True when `count` pipes were there for a moment; false when there is no making more of them, now or ever. */
  async prepare(count: number): Promise<boolean> {
    while (this.usable && this.#names.length < count) {
      if (!(await this.#fill())) return false;
    }
    return this.usable;
  }

  /** Undefined when none is left or the pool is of no use; then the caller takes an ordinary pipe. */
  open(use: FifoUse = 'output'): Fifo | undefined {
    const path = this.take();
    if (path === undefined) return undefined;
    let readFd: number | undefined;
    let writeFd: number | undefined;
    try {
      // The reading end first and without waiting: then the writing end finds a reader and does not wait either.
      readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      writeFd = openSync(path, constants.O_WRONLY | (use === 'input' ? constants.O_NONBLOCK : 0));
      if (use === 'input') readFd = openAgain(path, readFd);
      unlinkSync(path); // from here on nobody can open it by name, and it goes with its last user
      return { path, readFd, writeFd };
    } catch (error) {
      for (const fd of [readFd, writeFd]) if (fd !== undefined) closeSync(fd);
      if (isShortage(error)) this.#names.push(path);
      else this.#broken = true;
      return undefined;
    }
  }

  /** The name of a pipe, which is the caller's to open and to remove. Undefined when none is left. */
  take(): string | undefined {
    const path = this.#names.pop();
    if (this.#names.length < this.#batch * LOW_WATER && this.usable) void this.#fill();
    return path;
  }

  #fill(): Promise<boolean> {
    this.#refill ??= this.#make().finally(() => {
      this.#refill = undefined;
    });
    return this.#refill;
  }

  async #make(): Promise<boolean> {
    if (this.#made > 0) this.#batch = Math.min(this.#batch * 2, MAX_FIFO_BATCH);
    try {
      if (await this.#makeQuickly()) return true;
      const names = this.#newNames(this.#batch);
      await runMkfifo(names);
      this.#names.push(...names);
      return true;
    } catch (error) {
      if (!isShortage(error)) this.#broken = true;
      return false;
    }
  }

  async #makeQuickly(): Promise<boolean> {
    const names = this.#newNames(QUICK_BATCH);
    if ((await this.#quickMaker?.(names)) !== true) return false;
    this.#names.push(...names);
    return true;
  }

  #newNames(count: number): string[] {
    return Array.from({ length: count }, () => join(this.#dir, `f${(this.#made += 1)}`));
  }
}

/** Programs expect a read of their input to wait. Whether it does belongs to the open file, so it takes another one. */
function openAgain(path: string, opened: number): number {
  const readFd = openSync(path, constants.O_RDONLY); // does not wait: a writer is there
  closeSync(opened);
  return readFd;
}

function runMkfifo(names: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('mkfifo', ['-m', '600', ...names], {
      stdio: hideMasters(['ignore', 'ignore', 'ignore']),
      detached: true,
    });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`mkfifo ended with ${code}`))));
  });
}

/** It may work again later, so the pool is not given up. */
function isShortage(error: unknown): boolean {
  return ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(errnoOf(error) ?? '');
}
