// One guardian per process: ends what we have started when we die without a chance to do it, as by SIGKILL.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { GUARDIAN_SCRIPT } from './guardian-script.js';
import { asPattern, isConfinedMark, ownMark } from './mark.js';
import { hideMasters } from './open-masters.js';
import { readStat } from './proc-table.js';
import { leadersUnder, markOfLeader, settledLeadersUnder } from './roster.js';
import { DEFAULT_PATH } from './search-path.js';

/** A leader is named to the guardian this long after its start at the latest: some clear their environment, and with it the mark. */
export const NAME_AFTER_MS = 250;
/** Those that come and go are not worth a line. Whoever has lived this long is named at the next look, as far away at most. */
const SETTLED_MS = NAME_AFTER_MS / 4;
/** Leaders named at most, so that a line stays short enough to be written at once. */
export const MAX_NAMED_LEADERS = 1000;

export class Guardian {
  readonly #dir: string;
  #line: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #told = '';

  constructor(privateDir: string) {
    this.#dir = privateDir;
  }

  /**
   * Call it before each start of a child. Cheap when the guardian is there; starts one when it is not, or was killed.
   * A machine without `sh`, or a private directory that was taken away, means that children go unguarded.
   */
  watch(): void {
    if (this.#line === undefined) {
      try {
        this.#start();
      } catch {
        return;
      }
    }
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#nameLeaders(), SETTLED_MS).unref();
  }

  #start(): void {
    const self = readStat(process.pid);
    if (self === undefined) return; // without /proc it could not find anyone
    const script = join(this.#dir, 'hawser-guardian'); // a file, so that `ps` shows a name and not a program text
    writeFileSync(script, GUARDIAN_SCRIPT, { mode: 0o600 });
    const args = [asPattern(ownMark()), String(self.pid), String(self.startTicks), this.#dir];
    const child = spawn('sh', [script, ...args], {
      cwd: '/',
      detached: true, // a signal to our group must not end it
      // No mark: it is nobody's child, and the mark is what it searches for.
      env: { PATH: process.env['PATH'] ?? DEFAULT_PATH, LC_ALL: 'C' },
      // Not as its stdin: Node closes that as soon as the child exits, and this child forks and exits at once.
      stdio: hideMasters(['ignore', 'ignore', 'ignore', 'pipe']),
    });
    child.on('error', () => {});
    child.unref();
    const line = child.stdio[3] as Socket;
    line.unref();
    line.on('error', () => {});
    line.once('close', () => {
      this.#line = undefined; // it was killed: the next start of a child brings a new one
      this.#told = '';
    });
    line.resume(); // nothing comes, but only who reads learns of the end
    this.#line = line;
  }

  #nameLeaders(): void {
    const leaders = leadersUnder(ownMark());
    const settled = settledLeadersUnder(ownMark(), SETTLED_MS);
    this.#timer = undefined;
    if (settled.size < leaders.size) this.watch();
    const line = nameLeaders([...settled]);
    if (line === this.#told) return;
    this.#told = line;
    this.#line?.write(`${line}\n`);
  }
}

/** `pid:start cpid:start …`, the line the guardian reads; `c` for those that are confined. */
export function nameLeaders(pids: readonly number[], max: number = MAX_NAMED_LEADERS): string {
  const named = pids.slice(0, max).flatMap((pid) => {
    const stat = readStat(pid);
    if (stat === undefined) return [];
    return [`${isConfinedMark(markOfLeader(pid) ?? '') ? 'c' : ''}${pid}:${stat.startTicks}`];
  });
  return named.join(' ');
}
