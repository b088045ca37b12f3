// A start by way of the launcher: its pipes and files are named to it instead of being inherited.

import { constants, existsSync, openSync, unlinkSync } from 'node:fs';
import { LaunchError } from './launch-error.js';
import type { Leader } from './leader.js';
import type { Launcher } from './launcher.js';
import { MARK_VARIABLE } from './mark.js';
import type { SpawnOptions } from './spawn.js';
import { closeAll, openInputFile, takeFifoNames, useStation } from './station.js';
import { stopTree } from './stop-tree.js';

/** Programs started before the launcher is: who runs one or two commands shall not pay for it. */
const STARTS_BEFORE = 3;
const NOTHING = '/dev/null';
const OUR_OUTPUT_END = constants.O_RDONLY | constants.O_NONBLOCK;

/** Our ends of a program's pipes, and what is known of it. */
export interface LauncherStart {
  readonly leader: Leader;
  readonly stdin: number | undefined;
  readonly stdout: { readonly path: string; readonly readFd: number };
  readonly stderr: { readonly path: string; readonly readFd: number };
}

let starts = 0;

/**
 * When there is no start (`not asked`: no launcher yet, or this is nothing for it) it is for us to make. Rejects with LaunchError when
 * the launcher has died on it and it may have run.
 */
export async function startByLauncher(
  options: SpawnOptions,
  mark: string,
): Promise<LauncherStart | 'not asked' | 'failed'> {
  const station = useStation();
  if (station === undefined || !isPlain(options)) return 'not asked';
  const { launcher, guardian } = station;
  starts += 1;
  if (starts >= STARTS_BEFORE) setImmediate(() => launcher.prepare());
  if (!launcher.ready) return 'not asked';
  const env = listVariables(options.env ?? process.env);
  if (env === undefined) return 'not asked';
  const names = await takeFifoNames(options.stdin === 'pipe' ? 3 : 2);
  if (names === undefined) return 'not asked';
  guardian.watch();
  return await new Attempt(launcher, names).run(options, env, mark);
}

class Attempt {
  readonly #launcher: Launcher;
  readonly #names: readonly string[];
  /** Ours to the end of the program, or to the failure of the start. */
  readonly #kept: number[] = [];
  /** Until it has its own. */
  readonly #lent: number[] = [];

  constructor(launcher: Launcher, names: readonly string[]) {
    this.#launcher = launcher;
    this.#names = names;
  }

  async run(
    options: SpawnOptions,
    env: readonly string[],
    mark: string,
  ): Promise<LauncherStart | 'not asked' | 'failed'> {
    let started = false;
    try {
      const [stdout = '', stderr = '', stdin] = this.#names;
      const readOut = this.#keep(openSync(stdout, OUR_OUTPUT_END));
      const readErr = this.#keep(openSync(stderr, OUR_OUTPUT_END));
      const input = this.#openInput(options.stdin, stdin);
      if (input === undefined) return 'not asked';
      const asked = this.#launcher.launch({
        argv: options.argv,
        cwd: seenByOthers(options.cwd),
        env,
        mark,
        stdin: input.path,
        stdout,
        stderr,
        unlink: this.#names,
      });
      const outcome = await asked;
      if (outcome === 'lost') await this.#assertNotBegun(options, mark);
      if (outcome === undefined || outcome === 'lost') return 'not asked';
      if (outcome === 'failed') return outcome;
      started = true;
      return {
        leader: outcome,
        stdin: input.writeFd,
        stdout: { path: stdout, readFd: readOut },
        stderr: { path: stderr, readFd: readErr },
      };
    } catch (error) {
      if (error instanceof LaunchError) throw error;
      return 'not asked'; // a shortage of descriptors: whoever makes the start tells of it
    } finally {
      closeAll(this.#lent);
      if (!started) this.#giveUp();
    }
  }

  #openInput(
    input: SpawnOptions['stdin'],
    fifo: string | undefined,
  ): { path: string; writeFd?: number } | undefined {
    if (input === 'pipe' && fifo !== undefined) {
      this.#lent.push(openSync(fifo, OUR_OUTPUT_END)); // so that the writing end does not wait for a reader
      return { path: fifo, writeFd: this.#keep(openSync(fifo, constants.O_WRONLY)) };
    }
    if (input === undefined || input === 'none' || input === 'pipe' || input.length === 0)
      return { path: NOTHING };
    const fd = openInputFile(input);
    if (fd === undefined) return undefined;
    this.#lent.push(fd);
    return { path: `/proc/${process.pid}/fd/${fd}` };
  }

  /** A program is started once. When it may have run already, that is an error, and whatever is left of it ends. */
  async #assertNotBegun({ argv, cwd }: SpawnOptions, mark: string): Promise<void> {
    if (this.#names.every((name) => existsSync(name))) return;
    await stopTree(mark, { graceMs: 0 }).catch(() => {});
    throw new LaunchError('start_interrupted', { program: argv[0] ?? '', cwd, path: undefined }, undefined);
  }

  #keep(fd: number): number {
    this.#kept.push(fd);
    return fd;
  }

  #giveUp(): void {
    closeAll(this.#kept);
    for (const name of this.#names) {
      try {
        unlinkSync(name);
      } catch {
        // The launcher was quicker, or it goes with the directory.
      }
    }
  }
}

/** Two outputs that we read and no descriptor that could only be inherited. */
function isPlain({ pipes, stdout = 'pipe', stderr = 'pipe', cwd, ...rest }: SpawnOptions): boolean {
  return (
    pipes !== 'socket' &&
    stdout === 'pipe' &&
    stderr === 'pipe' &&
    rest.handed === undefined &&
    rest.detachedMark === undefined &&
    (cwd === undefined || cwd.startsWith('/')) &&
    rest.argv.length > 0 &&
    rest.argv[0] !== ''
  );
}

/** `/proc/self` means somebody else to the launcher. What is held open there stays so until the start is made. */
function seenByOthers(cwd: string | undefined): string {
  if (cwd === undefined) return `/proc/${process.pid}/cwd`;
  return cwd.startsWith('/proc/self/') ? `/proc/${process.pid}/${cwd.slice('/proc/self/'.length)}` : cwd;
}

/** Undefined when there is a name that Perl could not set. */
function listVariables(env: Readonly<Record<string, string | undefined>>): string[] | undefined {
  const list: string[] = [];
  for (const name of Object.keys(env)) {
    const value = env[name];
    if (value === undefined || name === MARK_VARIABLE) continue;
    if (name === '' || name.includes('=')) return undefined;
    list.push(`${name}=${value}`);
  }
  return list;
}
