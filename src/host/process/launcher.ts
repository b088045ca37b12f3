// Our end of the launcher: programs started by a small process instead of a fork of ours.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Leader, LeaderExit } from './leader.js';
import { LINK_FD } from './launcher-link.js';
import { chooseLaunchers, type LauncherProgram } from './launcher-program.js';
import { MARK_VARIABLE, newChildMark } from './mark.js';
import { hideMasters } from './open-masters.js';
import { isAlive, isGone, type ProcIdentity, readStat } from './proc-table.js';
import { DEFAULT_PATH } from './search-path.js';
import { signalName } from './signals.js';

/** A program whose request is larger is started by ourselves. */
export const MAX_LAUNCH_BYTES = 1024 * 1024;
/** Behind so many others nobody waits; those are started by ourselves, too. */
export const MAX_WAITING_LAUNCHES = 64;
/** The launcher is given up after so many that it could not start and we could. */
const MAX_FAILURES = 3;
/** Launchers that died, before we do without: something here does not want them. */
export const MAX_LAUNCHERS = 8;
/** Whoever has waited this long waits for something stuck, and nobody else shall queue up behind it. */
const PATIENCE_MS = 250;
/** How often a launcher that owes us something is looked at: one that was stopped is told to go on. */
const LOOK_MS = 500;
/** How often the children of a launcher that died are looked at, until they have ended. */
const ORPHAN_LOOK_MS = 50;
const HEAD_BYTES = 4;
const WORD_BYTES = 9;
const [READY, STARTED, MADE, FAILED, ENDED] = ['R', 'S', 'M', 'F', 'E'].map((letter) => letter.charCodeAt(0));
const CORE_DUMPED = 0x80;

export interface LaunchRequest {
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** `NAME=value`, without the mark. */
  readonly env: readonly string[];
  readonly mark: string;
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Removed when the start begins. */
  readonly unlink: readonly string[];
}

/** `lost`: the launcher has died on it, and only the names in `unlink` tell whether it had begun. */
export type LaunchOutcome = Leader | 'failed' | 'lost';

type Outcome = LaunchOutcome | 'made';

interface Waiting {
  readonly sinceMs: number;
  readonly settle: (outcome: Outcome) => void;
}

export class Launcher {
  readonly #programs: readonly LauncherProgram[];
  #program = 0;
  #link: Socket | undefined;
  #state: 'idle' | 'starting' | 'ready' | 'given up' = 'idle';
  #self: ProcIdentity | undefined;
  #starts = 0;
  #failures = 0;
  #lastId = 0;
  #held = 0;
  #unread: Buffer = Buffer.alloc(0);
  #looking: NodeJS.Timeout | undefined;
  readonly #waiting = new Map<number, Waiting>();
  readonly #children = new Map<number, LaunchedLeader>();

  constructor(programs: readonly LauncherProgram[] = chooseLaunchers()) {
    this.#programs = programs;
  }

  /** True when a request would be taken up at once. */
  get ready(): boolean {
    if (this.#state !== 'ready' || this.#waiting.size >= MAX_WAITING_LAUNCHES) return false;
    const [oldest] = this.#waiting.values();
    return oldest === undefined || performance.now() - oldest.sinceMs < PATIENCE_MS;
  }

  get pid(): number | undefined {
    return this.#state === 'ready' ? this.#self?.pid : undefined;
  }

  /** Starts one in the background, where none is and one may help. Node's own spawn does the work meanwhile. */
  prepare(): void {
    if (this.#state !== 'idle') return;
    const program = this.#programs[this.#program];
    if (program === undefined || this.#starts >= MAX_LAUNCHERS) {
      this.#state = 'given up';
      return;
    }
    this.#starts += 1;
    this.#state = 'starting';
    try {
      this.#open(program);
    } catch {
      this.#state = 'idle'; // no descriptor was left for it
    }
  }

  /** Undefined when it is nothing for the launcher: too large, or it holds a zero byte, of which the system can say more. */
  launch(request: LaunchRequest): Promise<LaunchOutcome> | undefined {
    const { argv, cwd, env, mark, stdin, stdout, stderr, unlink } = request;
    const files = [cwd, stdin, stdout, stderr, unlink.join('\n')];
    return this.#ask(['S', ...files, mark, String(argv.length), ...argv, ...env]) as
      | Promise<LaunchOutcome>
      | undefined;
  }

  /** False when it could not, or has died on it: then somebody else has to make them. */
  async makeFifos(names: readonly string[]): Promise<boolean> {
    return (await this.#ask(['M', ...names])) === 'made';
  }

  #ask([kind = '', ...fields]: readonly string[]): Promise<Outcome> | undefined {
    const id = (this.#lastId = (this.#lastId + 1) >>> 0);
    const frame = encode([kind, String(id), ...fields]);
    if (frame === undefined || this.#link === undefined) return undefined;
    this.#link.write(frame);
    this.#hold();
    return new Promise((resolve) => {
      this.#waiting.set(id, {
        sinceMs: performance.now(),
        settle: (outcome) => {
          this.#release();
          resolve(outcome);
        },
      });
    });
  }

  /** What it could not start, we could, or could not either. Again and again, it is of no use here. */
  noteFailure(couldWe: boolean): void {
    this.#failures = couldWe ? this.#failures + 1 : 0;
    if (this.#failures < MAX_FAILURES) return;
    this.#state = 'given up';
  }

  #open({ path, args, script }: LauncherProgram): void {
    const child = spawn(path, args, {
      cwd: '/',
      detached: true, // a signal to our group must not end it
      // With a mark of ours: the guardian then ends it with all that it is about to start.
      env: { PATH: process.env['PATH'] ?? DEFAULT_PATH, LC_ALL: 'C', [MARK_VARIABLE]: newChildMark() },
      stdio: hideMasters(['pipe', 'ignore', 'ignore', 'pipe']),
    });
    child.on('error', () => {}); // the link ends, too
    child.unref();
    child.stdin?.on('error', () => {});
    child.stdin?.end(script);
    (child.stdin as Socket | null)?.unref();
    const link = linkOf(child);
    if (this.#held === 0) link.unref(); // children of one that died may still be waited for
    link.on('error', () => {});
    link.on('data', (chunk: Buffer) => this.#take(chunk));
    link.once('close', () => this.#died());
    this.#link = link;
  }

  #take(chunk: Buffer): void {
    const bytes = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    let at = 0;
    for (; at + WORD_BYTES <= bytes.length; at += WORD_BYTES)
      this.#word(bytes[at], bytes.readUInt32LE(at + 1), bytes.readUInt32LE(at + 5));
    this.#unread = at === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  #word(letter: number | undefined, id: number, value: number): void {
    switch (letter) {
      case READY:
        this.#self = readStat(value) ?? { pid: value, startTicks: 0 };
        this.#state = 'ready';
        break;
      case STARTED:
        this.#begun(id, value);
        break;
      case MADE:
        this.#settle(id, 'made');
        break;
      case FAILED:
        this.#settle(id, 'failed');
        break;
      case ENDED:
        this.#children.get(id)?.end(readStatus(value));
        break;
      default:
        this.#link?.destroy();
    }
  }

  #begun(id: number, pid: number): void {
    this.#failures = 0;
    const leader = new LaunchedLeader(pid, this.#self?.pid ?? 0, {
      hold: () => this.#hold(),
      release: () => this.#release(),
      ended: () => this.#children.delete(id),
    });
    this.#children.set(id, leader);
    this.#settle(id, leader);
  }

  #settle(id: number, outcome: Outcome): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.settle(outcome);
  }

  /** As long as someone waits for something from it, the event loop stays alive and it is looked after. */
  #hold(): void {
    this.#held += 1;
    if (this.#held > 1) return;
    this.#link?.ref();
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  #release(): void {
    this.#held -= 1;
    if (this.#held === 0) this.#link?.unref();
  }

  #look(): void {
    if (this.#waiting.size === 0 && this.#children.size === 0) {
      clearInterval(this.#looking);
      this.#looking = undefined;
      return;
    }
    const stat = this.#self === undefined ? undefined : readStat(this.#self.pid);
    if (stat?.state !== 'T' || stat.startTicks !== this.#self?.startTicks) return;
    try {
      process.kill(stat.pid, 'SIGCONT');
    } catch {
      // Gone: the link will tell.
    }
  }

  #died(): void {
    if (this.#state === 'starting') this.#program += 1; // not there, or not what we need
    if (this.#state !== 'given up') this.#state = 'idle';
    this.#link = undefined;
    this.#self = undefined;
    this.#unread = Buffer.alloc(0);
    const waiting = [...this.#waiting.keys()];
    const children = [...this.#children.values()];
    for (const id of waiting) this.#settle(id, 'lost');
    for (const child of children) child.orphaned();
  }
}

interface LeaderHooks {
  readonly hold: () => void;
  readonly release: () => void;
  readonly ended: () => void;
}

class LaunchedLeader implements Leader {
  readonly pid: number;
  readonly #launcher: number;
  readonly #hooks: LeaderHooks;
  #exit: LeaderExit | undefined;
  #told: ((exit: LeaderExit) => void) | undefined;
  #held = true;
  /** Set when the launcher has died: from then on the number alone says nothing. */
  #orphan: { readonly identity: ProcIdentity; readonly timer: NodeJS.Timeout } | undefined;

  constructor(pid: number, launcher: number, hooks: LeaderHooks) {
    this.pid = pid;
    this.#launcher = launcher;
    this.#hooks = hooks;
    hooks.hold();
  }

  onExit(told: (exit: LeaderExit) => void): void {
    this.#told = told;
    if (this.#exit !== undefined) told(this.#exit);
  }

  /** The launcher may have reaped it already: but who has it as a parent was started for us. */
  isOurs(): boolean {
    if (this.#orphan !== undefined) return isAlive(this.#orphan.identity);
    return this.#exit === undefined && readStat(this.pid)?.ppid === this.#launcher;
  }

  unref(): void {
    this.#orphan?.timer.unref();
    if (!this.#held) return;
    this.#held = false;
    this.#hooks.release();
  }

  end(exit: LeaderExit): void {
    if (this.#exit !== undefined) return;
    this.#exit = exit;
    clearInterval(this.#orphan?.timer);
    this.unref();
    this.#hooks.ended();
    this.#told?.(exit);
  }

  /** The launcher has died, and with it the only one whom the system tells how this process ends. */
  orphaned(): void {
    const stat = readStat(this.pid);
    const lost: LeaderExit = { code: null, signal: null, unknown: true };
    if (stat === undefined || stat.sid !== this.pid) return this.end(lost);
    const timer = setInterval(() => isGone(stat) && this.end(lost), ORPHAN_LOOK_MS);
    if (!this.#held) timer.unref();
    this.#orphan = { identity: stat, timer };
  }
}

/** What wait(2) has told. */
export function readStatus(status: number): LeaderExit {
  const signal = status & ~CORE_DUMPED & 0x7f;
  return signal === 0
    ? { code: (status >> 8) & 0xff, signal: null }
    : { code: null, signal: signalName(signal) };
}

function encode(fields: readonly string[]): Buffer | undefined {
  const text = fields.join('\0');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_LAUNCH_BYTES || countZeros(text) !== fields.length - 1) return undefined;
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes);
  frame.writeUInt32LE(bytes, 0);
  frame.write(text, HEAD_BYTES);
  return frame;
}

function countZeros(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\0'); at !== -1; at = text.indexOf('\0', at + 1)) count += 1;
  return count;
}

function linkOf(child: ChildProcess): Socket {
  return child.stdio[LINK_FD] as Socket;
}
