// A contender that is a process: own group, measured environment, last words of its stderr kept, always killed at the end.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { errnoOf, LocalError } from '../../src/base/errors.js';
import { Resource } from '../../src/base/resource.js';

/** How much of stderr is kept to explain a failure. */
export const STDERR_TAIL_CHARS = 4000;
/** How long a child may take to go after the end of its input. */
const GRACE_MS = 500;
/** Set on many developer machines and in CI; each costs a Node child start-up time that is none of ours. */
const UNMEASURED = /^(?:NODE_EXTRA_CA_CERTS|NODE_OPTIONS|NODE_V8_COVERAGE|npm_.*|TSX_.*|ESBK_.*)$/;

export class ContenderError extends LocalError {
  override readonly name = 'ContenderError';
}

export function measuredEnv(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !UNMEASURED.test(name)));
}

export interface Ending {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly text: string;
}

const live = new Set<number>();
/** Groups of their own do not hear the terminal's Ctrl-C, so nobody else would end them. */
process.on('exit', () => {
  for (const pid of live) killGroup(pid);
});

export class BenchChild extends Resource {
  readonly label: string;
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves once the process has ended and its output is complete. */
  readonly ended: Promise<Ending>;
  #stderr = '';

  private constructor(label: string, pid: number, child: ChildProcessByStdio<Writable, Readable, Readable>) {
    super();
    this.label = label;
    this.pid = pid;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    child.stdin.on('error', () => {}); // a child that is gone is told by `ended`
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL_CHARS);
    });
    this.ended = once(child, 'close').then((how) => {
      live.delete(pid);
      const [code, signal] = how as [number | null, string | null];
      return { code, text: signal === null ? `exited with code ${code}` : `was ended by ${signal}` };
    });
  }

  /** Resolves when the process exists; a command that cannot be started is a ContenderError naming it. */
  static async start(
    label: string,
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<BenchChild> {
    const [command = '', ...args] = argv;
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: { ...measuredEnv(), ...env },
    });
    try {
      await once(child, 'spawn');
    } catch (error) {
      throw new ContenderError(
        'not_started',
        `${label} cannot be started: ${errnoOf(error) ?? String(error)} (${command})`,
        { cause: error },
      );
    }
    const pid = child.pid as number;
    live.add(pid);
    return new BenchChild(label, pid, child);
  }

  /** What went wrong, with what the child had to say about it. */
  failure(what: string): ContenderError {
    const words = this.#stderr.trim();
    const said =
      words === '' ? 'it printed nothing on stderr' : `its stderr says:\n${words.replaceAll(/^/gm, '    ')}`;
    return new ContenderError('contender_failed', `${this.label} ${what}; ${said}`);
  }

  /** At once, so that what it would do on its way out is not done at all. */
  kill(): void {
    if (live.has(this.pid)) killGroup(this.pid);
  }

  /** The end of its input is how a server on stdio is asked to go; whoever stays, and whatever it left, is killed. */
  protected override async release(): Promise<void> {
    this.stdin.end();
    this.stdout.resume();
    const hurry = setTimeout(() => killGroup(this.pid), GRACE_MS);
    await this.ended;
    clearTimeout(hurry);
    killGroup(this.pid);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: ended by itself a moment ago
  }
}
