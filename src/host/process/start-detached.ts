// Starts a process that outlives us: known before it runs, watched over by a shell that stays with it.

import { closeSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { newId } from '../../base/ids.js';
import { findProgram } from '../pty/launch.js';
import { LAUNCH_SCRIPT, SUPERVISOR_SCRIPT } from './detached-script.js';
import type { DetachedEntry } from './detached-entry.js';
import type { DetachedRun } from './detached-run.js';
import type { DetachedStore } from './detached-store.js';
import type { HostProcess } from './host-process.js';
import { explainLaunchFailure, type LaunchAttempt, LaunchError } from './launch-error.js';
import { asPattern, MARK_VARIABLE, newChildMark, newConfinedScope, newDetachedMark } from './mark.js';
import { readBootId, readPidNamespace } from './proc-table.js';
import { spawnProcess } from './spawn.js';
import { spellEnvironment } from './spell-environment.js';
import { openInputFile } from './station.js';

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
  /** The request it is started for, so that it is found by the next one for the same. */
  readonly request?: DetachedEntry['request'];
  /** What is really started reads this from descriptor HANDED_FD, and `env` goes no further than here. */
  readonly handed?: Uint8Array | undefined;
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
  const { argv, cwd } = options;
  const attempt = assertProgram(options);
  const detachedMark = newDetachedMark();
  // Confined: it is a command of strangers as any other, and what it starts is not freed by a mark of its own making.
  const mark = newChildMark(newConfinedScope(detachedMark));
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
    ...(options.request !== undefined && { request: options.request }),
  });
  // One block more than is kept, so that a file that is too large can be told from one that is just full.
  const blocks = Math.ceil(options.maxBytes / BLOCK_BYTES) + 1;
  const seconds = options.timeoutMs === undefined ? '' : String(options.timeoutMs / 1000);
  const { words, bytes } = handOver(options);
  let supervisor: HostProcess;
  let handed: number | undefined;
  try {
    handed = openInputFile(bytes);
    if (handed === undefined) throw new LaunchError('out_of_resources', attempt, undefined);
    supervisor = await spawnProcess({
      argv: [
        '/bin/sh',
        '-c',
        SUPERVISOR_SCRIPT,
        'rexd',
        run.folder,
        LAUNCH_SCRIPT,
        asPattern(mark),
        String(blocks),
        seconds,
        options.handed === undefined ? 'read' : 'leave',
        mark,
        ...words,
      ],
      cwd,
      // Of what a client sends nothing reaches this shell: it is outside of every sandbox, and there are shells that run what
      // they find in a variable.
      env: { PATH: process.env['PATH'] ?? TOOLS_PATH },
      stdin: options.stdin,
      stderr: 'none',
      pipes: 'socket',
      handed,
      detachedMark,
    });
  } catch (thrown) {
    store.remove(run);
    throw thrown;
  } finally {
    if (handed !== undefined) closeSync(handed);
  }
  // The number of the process; nothing comes when the program went away with the shell that was to become it.
  const said = await supervisor.stdout?.read();
  supervisor.stdout?.discard();
  return { run, supervisor, pid: Number(said?.toString('latin1') ?? run.pid ?? supervisor.pid) };
}

/** The shell could only say 127 later. */
function assertProgram({ argv, launched = argv, cwd, env }: DetachOptions): LaunchAttempt {
  const attempt = { program: launched[0] ?? '', cwd, path: env['PATH'] };
  try {
    findProgram(attempt);
    return attempt;
  } catch (thrown) {
    throw explainLaunchFailure(thrown, attempt);
  }
}

function handOver({ argv, launched = argv, env, handed }: DetachOptions) {
  if (handed !== undefined) return { words: launched, bytes: handed };
  const { [MARK_VARIABLE]: _ours, ...rest } = env;
  const { text, prefix } = spellEnvironment(rest);
  // `env` would take a name with "=" for one more variable.
  const again =
    prefix.length > 0 && launched[0]?.includes('=') === true ? ['/bin/sh', '-c', 'exec "$0" "$@"'] : [];
  return { words: [...prefix, ...again, ...launched], bytes: Buffer.from(text) };
}
