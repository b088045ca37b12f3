// A detached process as its folder tells of it: whether it runs, what it has written, how it ended. For whoever started it
// and for whoever comes later, also from another process of ours.

import { closeSync, existsSync, fstatSync, read, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf } from '../../base/errors.js';
import { BadEntryError, type DetachedEntry, openOwnFile, readOwnFile } from './detached-entry.js';
import type { LeaderExit } from './leader.js';
import { isAlive, isGone, type ProcIdentity, readBootId, readPidNamespace } from './proc-table.js';
import { signalOfStatus } from './signals.js';
import { addStraggler } from './roster.js';
import { findTree } from './find-tree.js';
import { signalTree, type StopOptions, type StopReport, stopTree } from './stop-tree.js';

export type OutputName = 'stdout' | 'stderr';

export interface DetachedEnd extends LeaderExit {
  readonly timedOut: boolean;
  readonly endedAtMs: number;
}

interface People {
  readonly supervisor: ProcIdentity;
  readonly leader: ProcIdentity;
}

/** A line of four numbers, or of two. */
const MAX_NOTE_BYTES = 256;
/** Between the entry and the first words of the one that watches over it; a machine under load takes its time. */
const START_MS = 10_000;
const readAt = promisify(read);

export class DetachedRun {
  readonly entry: DetachedEntry;
  readonly folder: string;
  #end: DetachedEnd | undefined;
  #people: People | undefined;

  constructor(folder: string, entry: DetachedEntry) {
    this.folder = folder;
    this.entry = entry;
  }

  /** How it ended; undefined while it runs, may run elsewhere, or nobody can tell just now. Never throws. */
  end(): DetachedEnd | undefined {
    this.#end ??= this.#findEnd();
    return this.#end;
  }

  /** On another machine or in another container, with which we share the folder: nobody here can say whether it runs. */
  get isElsewhere(): boolean {
    const { host, bootId, namespace } = this.entry;
    return host !== hostname() || (bootId === readBootId() && namespace !== readPidNamespace());
  }

  /** Undefined until it has written down who it is. */
  get pid(): number | undefined {
    return this.#leader?.pid;
  }

  /** Bytes that can be read by now. */
  size(stream: OutputName): number {
    return Math.min(this.#rawSize(stream), this.entry.maxBytes);
  }

  /** True when it has written more than it may: to one of its outputs, or to both while somebody counted. */
  get exceeded(): boolean {
    const { maxBytes } = this.entry;
    return (
      this.#rawSize('stdout') > maxBytes ||
      this.#rawSize('stderr') > maxBytes ||
      existsSync(join(this.folder, 'exceeded'))
    );
  }

  /** For those who come later; whoever counts both outputs together knows more than the disk. */
  noteExceeded(): void {
    try {
      writeFileSync(join(this.folder, 'exceeded'), '', { mode: 0o600 });
    } catch {
      // The folder is gone, or the disk full: it is told of without.
    }
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
    const leader = this.#leader;
    if (leader !== undefined && this.#isHere() && isAlive(leader)) addStraggler(leader, this.entry.mark);
  }

  #findEnd(): DetachedEnd | undefined {
    const path = join(this.folder, 'exit');
    const end = this.#readEnd(readNote(path) ?? '');
    if (end !== undefined || this.isElsewhere || this.#mayLive()) return end;
    const note = readNote(path); // it may have ended in good order just now
    if (note === undefined) return undefined;
    // Killed with the one that watched over it, or gone with the machine: nobody was left to write down how.
    const lost = {
      code: null,
      signal: 'SIGKILL',
      timedOut: false,
      endedAtMs: this.#lastSignOfLife(),
    } as const;
    return this.#readEnd(note) ?? lost;
  }

  #readEnd(note: string): DetachedEnd | undefined {
    const [, code, late, own] = /^(\d{1,3}) ([01])(?: ([01]) *)?\s*$/.exec(note) ?? [];
    if (code === undefined) return undefined;
    const how = own === '1' ? { code: Number(code), signal: null } : readStatus(Number(code));
    return { ...how, timedOut: late === '1', endedAtMs: this.#lastSignOfLife() };
  }

  /** Where its pids mean something. */
  #isHere(): boolean {
    return !this.isElsewhere && this.entry.bootId === readBootId();
  }

  /** Only what is surely gone counts as gone: what is said of an end is never taken back. */
  #mayLive(): boolean {
    const boot = readBootId();
    if (boot !== this.entry.bootId) return boot === '';
    const people = this.#whoIs();
    if (people === undefined) return true;
    if (people !== 'nobody') return !isGone(people.supervisor) || !isGone(people.leader);
    return Date.now() - this.entry.startedAtMs < START_MS || findTree(this.entry.mark).length > 0;
  }

  /** Undefined when that cannot be told just now. */
  #whoIs(): People | 'nobody' | undefined {
    if (this.#people !== undefined) return this.#people;
    const note = readNote(join(this.folder, 'pid'));
    if (note === undefined) return undefined;
    const found = /^(\d+) (\d+) (\d+) (\d+)\n$/.exec(note);
    if (found === null) return 'nobody';
    const [pid = 0, startTicks = 0, leader = 0, leaderTicks = 0] = found.slice(1).map(Number);
    this.#people = {
      supervisor: { pid, startTicks },
      leader: { pid: leader, startTicks: leaderTicks },
    };
    return this.#people;
  }

  get #leader(): ProcIdentity | undefined {
    const people = this.#whoIs();
    return typeof people === 'object' ? people.leader : undefined;
  }

  #lastSignOfLife(): number {
    // Its end was written down last, and what it has left running may still write.
    const names = existsSync(join(this.folder, 'exit')) ? ['exit'] : ['stdout', 'stderr', 'pid'];
    const times = names.map((name) => {
      try {
        return statSync(join(this.folder, name)).mtimeMs;
      } catch {
        return 0;
      }
    });
    const last = Math.max(...times);
    return Math.round(last === 0 ? this.entry.startedAtMs : last);
  }

  #rawSize(stream: OutputName): number {
    try {
      return statSync(join(this.folder, stream)).size;
    } catch {
      return 0;
    }
  }
}

/** Where the shell could not tell a program that ended with 130 from one that INT has ended, the latter is what is meant. */
function readStatus(code: number): LeaderExit {
  const signal = signalOfStatus(code);
  return signal === undefined ? { code, signal: null } : { code: null, signal };
}

const ABSENT = new Set<string | undefined>([undefined, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

/** Empty when there is none of ours; undefined when that cannot be told just now (no descriptor is left for it). */
function readNote(path: string): string | undefined {
  try {
    return readOwnFile(path, MAX_NOTE_BYTES).toString('latin1');
  } catch (thrown) {
    const cause = thrown instanceof BadEntryError ? thrown.cause : thrown;
    return ABSENT.has(errnoOf(cause)) ? '' : undefined;
  }
}
