// What the kernel says is running: a cheap reading of /proc.

import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';

/** A process for good: a pid is given to someone else later, a pid with its start time is not. */
export interface ProcIdentity {
  readonly pid: number;
  /** Clock ticks between the start of the machine and the start of the process. */
  readonly startTicks: number;
}

export interface ProcStat extends ProcIdentity {
  readonly state: string;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  /** The group that the terminal of this process is given to; -1 when it has none. */
  readonly foregroundGroup: number;
  readonly threads: number;
}

/** A stat line is about 300 bytes, 64 of them the name at most. */
const STAT_BYTES = 2048;
/** Enough for nearly every environment; a larger one is read again as a whole. */
const ENVIRON_BYTES = 64 * 1024;

/** Positions counted from the state letter, the first field behind the name. */
const PPID = 1;
const PGID = 2;
const SID = 3;
const FOREGROUND_GROUP = 5;
const THREADS = 17;
const START_TICKS = 19;

const statBuffer = Buffer.allocUnsafeSlow(STAT_BYTES);
const environBuffer = Buffer.allocUnsafeSlow(ENVIRON_BYTES);

/** Every process there is, zombies included. Empty where there is no /proc. */
export function readTable(): ProcStat[] {
  const table: ProcStat[] = [];
  for (const pid of listPids()) {
    const stat = readStat(pid);
    if (stat !== undefined) table.push(stat);
  }
  return table;
}

/** Undefined when the process is gone, reaped and all. */
export function readStat(pid: number): ProcStat | undefined {
  const bytes = slurp(`/proc/${pid}/stat`, statBuffer);
  return bytes === undefined ? undefined : parseStat(bytes.toString('latin1'));
}

/** The name may hold anything, also spaces, brackets and line breaks, so the fields are counted from its last bracket. */
export function parseStat(line: string): ProcStat | undefined {
  const open = line.indexOf(' (');
  const close = line.lastIndexOf(') ');
  if (open < 1 || close < open) return undefined;
  const fields = line.slice(close + 2).split(' ', START_TICKS + 1);
  const stat = {
    pid: Number(line.slice(0, open)),
    state: fields[0] ?? '',
    ppid: Number(fields[PPID]),
    pgid: Number(fields[PGID]),
    sid: Number(fields[SID]),
    foregroundGroup: Number(fields[FOREGROUND_GROUP]),
    threads: Number(fields[THREADS]),
    startTicks: Number(fields[START_TICKS]),
  };
  const { state, ...numbers } = stat;
  return state.length === 1 && Object.values(numbers).every(Number.isSafeInteger) ? stat : undefined;
}

/**
 * Dead already, and only waiting for its parent to take notice. A program that ends its first thread alone looks the
 * same but for the threads it has left.
 */
export function isDead(stat: ProcStat): boolean {
  return stat.state === 'X' || stat.state === 'x' || (stat.state === 'Z' && stat.threads <= 1);
}

/** True while exactly this process, not a later one with its pid, is alive. */
export function isAlive(identity: ProcIdentity): boolean {
  const stat = readStat(identity.pid);
  return stat !== undefined && stat.startTicks === identity.startTicks && !isDead(stat);
}

/**
 * True only when the kernel says so. One that cannot be looked at just now (no descriptor is left for it) may well live,
 * so this is not the opposite of `isAlive`.
 */
export function isGone(identity: ProcIdentity): boolean {
  let line: string;
  try {
    line = readFileSync(`/proc/${identity.pid}/stat`, 'latin1');
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes(errnoOf(error) ?? '');
  }
  const stat = parseStat(line);
  return stat !== undefined && (stat.startTicks !== identity.startTicks || isDead(stat));
}

/**
 * A variable of the environment a process was started with. Undefined also when the process is a stranger's, a
 * zombie, or has overwritten its environment (some servers do, to show a title).
 */
export function readVariable(pid: number, name: string): string | undefined {
  const path = `/proc/${pid}/environ`;
  let bytes = slurp(path, environBuffer);
  if (bytes?.length === ENVIRON_BYTES) {
    try {
      bytes = readFileSync(path);
    } catch {
      return undefined;
    }
  }
  return bytes === undefined ? undefined : findVariable(bytes, name);
}

/** `environ` is `NAME=value` entries, each ended by a zero byte. The first entry of a name counts, as for getenv. */
export function findVariable(environ: Buffer, name: string): string | undefined {
  const wanted = `${name}=`;
  for (let at = environ.indexOf(wanted, 0, 'latin1'); at !== -1; ) {
    if (at === 0 || environ[at - 1] === 0) {
      const end = environ.indexOf(0, at);
      return environ.toString('utf8', at + wanted.length, end === -1 ? environ.length : end);
    }
    at = environ.indexOf(wanted, at + 1, 'latin1');
  }
  return undefined;
}

/** Where a descriptor of a process points to: `/path (deleted)`, `pipe:[123]`. */
export function readFdLink(pid: number, fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return undefined;
  }
}

/** The process namespace we are in: a pid seen from another one means someone else. `0` where there is no /proc. */
export function readPidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

let bootId: string | undefined;

/** Another one after each start of the machine: pids and their start times begin anew. Empty where there is no /proc. */
export function readBootId(): string {
  try {
    bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return bootId;
  } catch {
    return '';
  }
}

function listPids(): number[] {
  try {
    return readdirSync('/proc').filter(startsWithDigit).map(Number);
  } catch {
    return [];
  }
}

function startsWithDigit(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 48 && first <= 57;
}

/** The beginning of a /proc file, without the size query and the second read that `readFile` makes. */
function slurp(path: string, into: Buffer): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return into.subarray(0, readSync(fd, into, 0, into.length, null)); // the kernel gives all it has, or fills it
  } catch {
    return undefined; // ended between open and read
  } finally {
    closeSync(fd);
  }
}
