// Starts a process that outlives us: known before it runs, watched over by a shell that stays with it.

import { realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../base/ids.js';
import type { DetachedRun } from './detached-run.js';
import type { DetachedStore } from './detached-store.js';
import type { HostProcess } from './host-process.js';
import { assertProgram } from './launch-error.js';
import { asPattern, newChildMark, newDetachedMark } from './mark.js';
import { readBootId, readPidNamespace } from './proc-table.js';
import { spawnProcess } from './spawn.js';

const BLOCK_BYTES = 512;
const TOOLS_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface DetachOptions {
  readonly id?: string;
  /** What it is known by. */
  readonly argv: readonly string[];
  /** What is really started, when that is something else. */
  readonly launched?: readonly string[] | undefined;
  readonly cwd: string;
  /** As people know it. */
  readonly shownCwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'none' | 'pipe' | Uint8Array;
  /** Kept of each output; one that writes more is ended. */
  readonly maxBytes: number;
  /** Undefined: as long as it likes. */
  readonly timeoutMs: number | undefined;
}

export interface DetachedStart {
  readonly run: DetachedRun;
  /** The shell that watches over it; its stdin is that of the process. */
  readonly supervisor: HostProcess;
  readonly pid: number;
}

/** Rejects with LaunchError, StateFolderError or DetachedFullError. */
export async function startDetached(store: DetachedStore, options: DetachOptions): Promise<DetachedStart> {
  const { argv, cwd, env } = options;
  const launched = options.launched ?? argv;
  // The shell could only say 127 later.
  assertProgram({ program: launched[0] ?? '', cwd, path: env['PATH'] });
  const detachedMark = newDetachedMark();
  const mark = newChildMark(detachedMark);
  const run = store.create({
    id: options.id ?? newId('p'),
    mark,
    argv,
    cwd: options.shownCwd,
    realCwd: realpathSync(cwd),
    startedAtMs: Date.now(),
    maxBytes: options.maxBytes,
    host: hostname(),
    bootId: readBootId(),
    namespace: readPidNamespace(),
  });
  // One block more than is kept, so that a file that is too large can be told from one that is just full.
  const blocks = Math.ceil(options.maxBytes / BLOCK_BYTES) + 1;
  const seconds = options.timeoutMs === undefined ? '' : String(options.timeoutMs / 1000);
  let supervisor: HostProcess;
  try {
    supervisor = await spawnProcess({
      argv: [
        '/bin/sh',
        join(run.folder, 'run'),
        run.folder,
        process.env['PATH'] ?? TOOLS_PATH,
        asPattern(mark),
        String(blocks),
        seconds,
        mark,
        ...launched,
      ],
      cwd,
      env,
      stdin: options.stdin,
      stderr: 'none',
      pipes: 'socket',
      detachedMark,
    });
  } catch (thrown) {
    store.remove(run);
    throw thrown;
  }
  // The number of the process; nothing comes when the program went away with the shell that was to become it.
  const said = await supervisor.stdout?.read();
  supervisor.stdout?.discard();
  return { run, supervisor, pid: Number(said?.toString('latin1') ?? run.pid ?? supervisor.pid) };
}
