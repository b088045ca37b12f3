// Starts a stringd that outlives us, and waits until it answers. Two who do so at the same time end up with one.

import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { deadline } from '../../base/deadline.js';
import { LocalError } from '../../base/errors.js';
import { pause } from './pause.js';

/** How long a daemon may take from its start to its first answer. */
export const START_TIMEOUT_MS = 20_000;
/** From one look for it to the next. */
const LOOK_PAUSE_MS = 50;
/** One of several that start together wins; the others end at once, while the winner may still be on its way. */
export const WINNER_WAIT_MS = 3000;
/** Of what a daemon that fails says: its last words. */
export const MAX_START_WORDS = 8192;

/** What a stringd says behind its words when another one is there already. */
const LOST_RACE = /\[(?:already_running|data_in_use)\]\s*$/;

export class DaemonStartError extends LocalError {
  override readonly name = 'DaemonStartError';
  /** What it said on its standard error. */
  readonly stderr: string;

  constructor(why: string, stderr: string) {
    const said = stderr.trim();
    super('START_FAILED', `stringd could not be started: ${why}${said === '' ? '' : `\n${said}`}`);
    this.stderr = stderr;
  }
}

export interface StartOptions {
  readonly port: number;
  /** The program and its first arguments; the stringd that was installed with us unless said otherwise. */
  readonly command?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Whether a stringd answers there. */
  readonly isThere: () => Promise<boolean>;
}

/** Rejects with a DaemonStartError that has the daemon's own words. */
export async function startDaemon(options: StartOptions): Promise<void> {
  const { timeoutMs = START_TIMEOUT_MS, signal } = options;
  const command = options.command ?? findStringd();
  using limit = deadline(timeoutMs, { ...(signal !== undefined && { also: [signal] }) });
  const child = new StartingDaemon(command, options.port, options.env ?? process.env);
  try {
    let endedMs: number | undefined;
    while (!(await options.isThere())) {
      if (child.failure !== undefined) endedMs ??= performance.now();
      if (endedMs !== undefined && performance.now() - endedMs > (child.lostTheRace ? WINNER_WAIT_MS : 0))
        throw new DaemonStartError(child.failure ?? 'it has ended', child.words);
      await pause(LOOK_PAUSE_MS, limit.signal).catch(() => {
        child.end(); // nobody would know of it
        signal?.throwIfAborted();
        throw new DaemonStartError(`it did not answer within ${timeoutMs} ms`, child.words);
      });
    }
  } finally {
    child.letGo();
  }
}

/** Beside us in a bundle of executables, where the library's package has them, or where the sources are built to. */
export function findStringd(): string[] {
  const here = import.meta.dirname;
  const found = ['stringd.js', '../../../bin/stringd.js', '../../../dist/bin/stringd.js']
    .map((place) => join(here, place))
    .find((place) => statSync(place, { throwIfNoEntry: false }) !== undefined);
  return found === undefined ? ['stringd'] : [process.execPath, found];
}

class StartingDaemon {
  readonly #child: ChildProcess;
  #words = '';
  #failure: string | undefined;

  constructor([program = '', ...args]: readonly string[], port: number, env: NodeJS.ProcessEnv) {
    this.#child = spawn(program, [...args, '--port', String(port)], {
      cwd: '/', // it must not hold the folder that we happen to be in
      env: withWholePaths(env),
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.once('error', (error) => (this.#failure = error.message));
    this.#child.once('close', (code, signal) => {
      this.#failure ??= signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
    });
    this.#child.stderr?.setEncoding('utf8');
    this.#child.stderr?.on('data', (text: string) => {
      this.#words = (this.#words + text).slice(-MAX_START_WORDS);
    });
  }

  /** Why there is nothing to wait for any more. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get words(): string {
    return this.#words;
  }

  /** It found another one in its place: that one is meant to be used. */
  get lostTheRace(): boolean {
    return LOST_RACE.test(this.#words);
  }

  end(): void {
    this.#child.kill('SIGTERM');
  }

  /** It lives on without us, and nothing of it keeps us alive. Its log finds the pipe closed, and goes on without. */
  letGo(): void {
    this.#child.stderr?.destroy();
    this.#child.unref();
  }
}

/** Relative to the folder that we are in, not to the one that it will be in. */
function withWholePaths(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const whole = { ...env };
  for (const name of ['STRING_ROOT', 'STRING_DATA_DIR']) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== '' && !isAbsolute(value) && !/^~(\/|$)/.test(value))
      whole[name] = resolve(value);
  }
  return whole;
}
