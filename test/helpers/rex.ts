// The built rex in a home of its own, with or without connections that it keeps open.

import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, Program, type ProgramOptions, run, type RunResult } from './program.js';
import { until } from './wait.js';
import { removeFolder } from './remove-folder.js';

export interface RexHome extends AsyncDisposable {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs rex to its end, its input closed. */
  rex(args: readonly string[], options?: ProgramOptions & { input?: string }): Promise<RunResult>;
  /** Starts it, to be spoken to. */
  start(args: readonly string[], options?: ProgramOptions): Program;
  /** What is kept, as `rex keep --json` tells it. */
  kept(): Promise<{ alias: string; pid: number; idle: number; used: number }[]>;
  /** When a connection waits for the next call. */
  ready(): Promise<void>;
}

/** `keep` as REX_KEEP: without one nothing is kept, and nothing outlives its call. */
export function rexHome(keep = '0'): RexHome {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-rex-')));
  const env = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 's'),
    XDG_RUNTIME_DIR: '',
    REX_KEEP: keep,
  };
  // By its own first line, as its users run it: that is the short way where there is one.
  const command = (args: readonly string[]): [string, ...string[]] => [bin('rex'), ...args];
  const home: RexHome = {
    folder,
    env,
    rex: (args, options = {}) =>
      run(command(args), { cwd: folder, ...options, env: { ...env, ...options.env } }),
    start: (args, options = {}) =>
      new Program(command(args), { cwd: folder, ...options, env: { ...env, ...options.env } }),
    kept: async () => JSON.parse((await home.rex(['keep', '--json'])).stdout) as never,
    ready: async () =>
      void (await until(
        async () => (await home.rex(['keep', '--ready'])).code === 0,
        'a kept connection',
        60_000,
      )),
    [Symbol.asyncDispose]: async () => {
      if (keep !== '0') await home.rex(['keep', '--stop']);
      removeFolder(folder);
    },
  };
  return home;
}
