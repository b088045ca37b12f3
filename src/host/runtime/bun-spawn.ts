// Starts a program by Bun's own call: its child_process makes the same start, and an event emitter and streams around it.

import type { Leader, LeaderExit } from '../process/leader.js';
import { bun, type BunChild } from './bun.js';

export interface BunStart {
  readonly argv: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Input, output and errors: descriptors, or nothing. */
  readonly stdio: readonly unknown[];
}

/** Undefined when it is not Bun, when there is more to do than it does, and when it fails: child_process tells why. */
export function startByBun({ argv, cwd, env, stdio }: BunStart): Leader | undefined {
  if (bun === undefined || argv.length === 0 || stdio.length !== 3 || stdio.includes('pipe'))
    return undefined;
  const leader = new BunLeader();
  try {
    const child = bun.spawn({
      cmd: argv,
      ...(cwd !== undefined && { cwd }),
      env: onlyStrings(env),
      stdio: stdio.map((entry) => (typeof entry === 'number' ? entry : 'ignore')),
      detached: true,
      onExit: (_child, code, signal) =>
        leader.end(signal === null ? { code, signal: null } : { code: null, signal }),
    });
    leader.child = child;
    return leader;
  } catch {
    return undefined;
  }
}

class BunLeader implements Leader {
  child: BunChild | undefined;
  #exit: LeaderExit | undefined;
  #told: ((exit: LeaderExit) => void) | undefined;

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  onExit(told: (exit: LeaderExit) => void): void {
    this.#told = told;
    if (this.#exit !== undefined) told(this.#exit);
  }

  /** Bun reaps it and tells us in one step. */
  isOurs(): boolean {
    return true;
  }

  unref(): void {
    this.child?.unref();
  }

  end(exit: LeaderExit): void {
    this.#exit = exit;
    this.#told?.(exit);
  }
}

function onlyStrings(env: BunStart['env']): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of Object.keys(env)) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
