// A detached process as its folder tells of it: whether it runs, what it has written, how it ended. For whoever started it
// and for whoever comes later, also from another process of ours.

import { closeSync, fstatSync, read, statSync } from 'node:fs';
import { constants, hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BadEntryError, type DetachedEntry, openOwnFile, readOwnFile } from './detached-entry.js';
import type { LeaderExit } from './host-process.js';
import { isAlive, type ProcIdentity, readBootId, readPidNamespace } from './proc-table.js';
import { signalName } from './signals.js';
import { addStraggler } from './roster.js';
import { findTree } from './find-tree.js';
import { signalTree, type StopOptions, type StopReport, stopTree } from './stop-tree.js';

export type OutputName = 'stdout' | 'stderr';

export interface DetachedEnd extends LeaderExit {
  readonly timedOut: boolean;
  readonly endedAtMs: number;
}

/** A line of four numbers, or of two. */
const MAX_NOTE_BYTES = 256;
/** Between the entry and the first words of the one that watches over it; a machine under load takes its time. */
const START_MS = 10_000;
/** As shells count: 128 and the number of the signal. */
const SIGNAL_BASE = 128;

const readAt = promisify(read);

export class DetachedRun {
  readonly entry: DetachedEntry;
  readonly folder: string;
  #end: DetachedEnd | undefined;
  #people: { readonly supervisor: ProcIdentity; readonly leader: ProcIdentity } | undefined;

  constructor(folder: string, entry: DetachedEntry) {
    this.folder = folder;
    this.entry = entry;
  }

  /** How it ended; undefined while it runs, or may run elsewhere. */
  end(): DetachedEnd | undefined {
    this.#end ??= this.#readEnd() ?? (this.isElsewhere ? undefined : this.#noticeLoss());
    return this.#end;
  }

  /** On another machine or in another container, with which we share the folder: nobody here can say whether it runs. */
  get isElsewhere(): boolean {
    const { host, bootId, namespace } = this.entry;
    return host !== hostname() || (bootId === readBootId() && namespace !== readPidNamespace());
  }

  /** Undefined until it has written down who it is. */
  get pid(): number | undefined {
    return this.#whoIs()?.leader.pid;
  }

  /** Bytes that can be read by now. */
  size(stream: OutputName): number {
    return Math.min(this.#rawSize(stream), this.entry.maxBytes);
  }

  /** True when it has written more than it may. */
  get exceeded(): boolean {
    return this.#rawSize('stdout') + this.#rawSize('stderr') > this.entry.maxBytes;
  }

  async read(stream: OutputName, offset: number, length: number): Promise<Buffer> {
    const fd = openOwnFile(join(this.folder, stream));
    try {
      const end = Math.min(offset + length, fstatSync(fd).size, this.entry.maxBytes);
      if (end <= offset) return Buffer.alloc(0);
      const bytes = Buffer.allocUnsafe(end - offset);
      const { bytesRead } = await readAt(fd, bytes, 0, bytes.length, offset);
      return bytes.subarray(0, bytesRead);
    } finally {
      closeSync(fd);
    }
  }

  /** TERM, grace, KILL for the process and all that descends from it; not for the one that writes down how it ended. */
  stop(options?: StopOptions): Promise<StopReport> {
    this.#remember();
    return stopTree(this.entry.mark, options);
  }

  /** Gives the number of processes that were sent it. */
  send(signal: number): number {
    this.#remember();
    return signalTree(this.entry.mark, signal);
  }

  /** One that has cleared its environment is found by who it was at the start. */
  #remember(): void {
    const leader = this.#whoIs()?.leader;
    if (leader !== undefined && this.#isHere() && isAlive(leader)) addStraggler(leader, this.entry.mark);
  }

  #readEnd(): DetachedEnd | undefined {
    const path = join(this.folder, 'exit');
    const [, code, late] = /^(\d{1,3}) ([01])\n$/.exec(readNote(path)) ?? [];
    if (code === undefined) return undefined;
    const endedAtMs = Math.round(statSync(path).mtimeMs);
    return { ...readStatus(Number(code)), timedOut: late === '1', endedAtMs };
  }

  /** Killed with the one that watched over it, or gone with the machine: nobody was left to write down how. */
  #noticeLoss(): DetachedEnd | undefined {
    if (this.#isHere() && this.#someoneLives()) return undefined;
    const late = this.#readEnd(); // it may have ended in good order just now
    if (late !== undefined) return late;
    return { code: null, signal: 'SIGKILL', timedOut: false, endedAtMs: this.#lastSignOfLife() };
  }

  /** Where its pids mean something. */
  #isHere(): boolean {
    return !this.isElsewhere && this.entry.bootId === readBootId();
  }

  #someoneLives(): boolean {
    const people = this.#whoIs();
    if (people !== undefined) return isAlive(people.supervisor) || isAlive(people.leader);
    return Date.now() - this.entry.startedAtMs < START_MS || findTree(this.entry.mark).length > 0;
  }

  #whoIs(): { readonly supervisor: ProcIdentity; readonly leader: ProcIdentity } | undefined {
    if (this.#people !== undefined) return this.#people;
    const found = /^(\d+) (\d+) (\d+) (\d+)\n$/.exec(readNote(join(this.folder, 'pid')));
    if (found === null) return undefined;
    const [pid = 0, startTicks = 0, leader = 0, leaderTicks = 0] = found.slice(1).map(Number);
    this.#people = {
      supervisor: { pid, startTicks },
      leader: { pid: leader, startTicks: leaderTicks },
    };
    return this.#people;
  }

  #lastSignOfLife(): number {
    const times = ['stdout', 'stderr', 'pid'].map((name) => {
      try {
        return statSync(join(this.folder, name)).mtimeMs;
      } catch {
        return 0;
      }
    });
    return Math.round(Math.max(this.entry.startedAtMs, ...times));
  }

  #rawSize(stream: OutputName): number {
    try {
      return statSync(join(this.folder, stream)).size;
    } catch {
      return 0;
    }
  }
}

/** A shell cannot tell a program that ended with 143 from one that TERM has ended; the latter is what is meant by it. */
function readStatus(code: number): LeaderExit {
  const number = code - SIGNAL_BASE;
  const signal = number > 0 && number < 65 ? signalName(number) : undefined;
  if (signal === undefined || !(signal in constants.signals)) return { code, signal: null };
  return { code: null, signal: signal as NodeJS.Signals };
}

function readNote(path: string): string {
  try {
    return readOwnFile(path, MAX_NOTE_BYTES).toString('latin1');
  } catch (thrown) {
    if (thrown instanceof BadEntryError) return '';
    throw thrown;
  }
}
