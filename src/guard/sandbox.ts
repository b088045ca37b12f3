// The command line that runs a program in a sandbox of bubblewrap: the file system read-only except for some folders,
// a /tmp, a /run, a /proc and a /dev of its own, and no way to more rights.

import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { ForbiddenPathError } from '../host/files/errors.js';
import { isInside } from '../host/files/is-inside.js';
import type { Withheld } from '../host/files/withheld.js';
import { explainLaunchFailure } from '../host/process/launch-error.js';
import { MARK_VARIABLE } from '../host/process/mark.js';
import { HANDED_FD } from '../host/process/spell-environment.js';
import { findProgram } from '../host/pty/launch.js';

const { SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGURG, SIGWINCH } = constants.signals;
const LAST_SIGNAL = 64;
const THREADING_SIGNALS = [32, 33];

export interface SandboxRules {
  readonly network: boolean;
  /** What can be written beside the roots of a session. */
  readonly readWrite: readonly string[];
  /** What can be read although it lies where the sandbox has a folder of its own, or not be written although in a root. */
  readonly readOnly: readonly string[];
  /** What cannot be seen at all, wherever it lies. */
  readonly withheld?: Withheld;
}

/** By absolute paths: a PATH that a client sends must not choose what makes the sandbox. */
export interface SandboxTools {
  readonly bwrap: string;
  /** The one of GNU, which can set what signals do. */
  readonly env: string;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What one program may do. */
export interface Scope {
  /** Real paths of the folders that can be written. */
  readonly roots: readonly string[];
  /** It is to live on when we do not. */
  readonly detach: boolean;
}

export interface Wrapped {
  readonly argv: readonly string[];
  readonly env: Record<string, string>;
  /** Of one that is detached: what bwrap reads from HANDED_FD. */
  readonly handed?: Uint8Array;
}

/**
 * bwrap stands between us and the program, so a signal for the tree meets it too: it has to live until the program has
 * ended by its own choice. All that can be ignored, except what it waits for itself and what ends nobody.
 */
const KEPT_SIGNALS = new Set<number>([
  SIGKILL,
  SIGSTOP,
  SIGCHLD,
  SIGCONT,
  SIGURG,
  SIGWINCH,
  ...THREADING_SIGNALS,
]);
const IGNORED_SIGNALS = Array.from({ length: LAST_SIGNAL }, (_, i) => i + 1).filter(
  (number) => !KEPT_SIGNALS.has(number),
);

/**
 * Variables by which whoever sets them runs code in, or sends astray, any program: those the C library itself drops
 * for programs with more rights than their caller. Until it is in the sandbox no program may see them.
 */
const LOADER_VARIABLE =
  /^(?:LD_.*|GLIBC_TUNABLES|MALLOC_.*|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR|TMPDIR)$/;
/** What a shell adds to what it was given. */
const OF_SHELLS = ['_', 'OLDPWD', 'PWD', 'SHLVL'];
/** Root may write these without any capability, and with them make the kernel run a program outside. */
const KERNEL_SETTINGS = [
  '/proc/sys',
  '/proc/sysrq-trigger',
  '/proc/irq',
  '/proc/bus',
  '/proc/acpi',
  '/proc/scsi',
];
/** Where bwrap puts a folder of its own; sockets in /run would be a way out. */
const PRIVATE_FOLDERS = ['/tmp', '/run'];
const COVERED_FOLDERS = [...PRIVATE_FOLDERS, '/dev', '/proc'];

export class Sandbox {
  readonly rules: SandboxRules;
  readonly #tools: SandboxTools;

  constructor(tools: SandboxTools, rules: SandboxRules) {
    this.#tools = tools;
    this.rules = rules;
  }

  /**
   * Throws LaunchError for a program that could not be started, because bwrap could say so only by an exit code, and
   * ForbiddenPathError for a root that has become another folder since it was allowed.
   */
  wrap(launch: Launch, scope: Scope): Wrapped {
    assertThere(launch);
    for (const root of scope.roots) assertUnmoved(root, scope.roots);
    const env = Object.entries(launch.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    // A shell stands before a detached program, outside of the sandbox: it is given no variable at all.
    const late = scope.detach ? env : env.filter(([name]) => LOADER_VARIABLE.test(name));
    const words = late.flatMap((entry) => this.#setInside(entry, scope));
    const place = ['--chdir', realpathSync(launch.cwd)];
    const more = scope.detach ? ['--args', String(HANDED_FD), ...place] : [...words, ...place];
    const argv = this.commandLine(more, scope, launch.argv);
    if (!scope.detach)
      return { argv, env: Object.fromEntries(env.filter(([name]) => !LOADER_VARIABLE.test(name))) };
    const handed = [...OF_SHELLS.flatMap((name) => ['--unsetenv', name]), ...words];
    return { argv, env: {}, handed: Buffer.from(handed.map((word) => `${word}\0`).join('')) };
  }

  commandLine(more: readonly string[], scope: Scope, program: readonly string[]): readonly string[] {
    const { bwrap, env } = this.#tools;
    return [
      env,
      `--ignore-signal=${IGNORED_SIGNALS.join(',')}`,
      bwrap,
      ...this.#mounts(scope.roots),
      '--unshare-pid',
      '--unshare-ipc',
      ...(this.rules.network ? [] : ['--unshare-net']),
      '--cap-drop',
      'ALL',
      ...(scope.detach ? [] : ['--die-with-parent']),
      ...more,
      '--',
      env,
      '--default-signal',
      '--',
      ...spellable(program),
    ];
  }

  /** Later ones cover earlier ones, so the innermost comes last: what is read-only inside a root, a root inside that. */
  #mounts(roots: readonly string[]): readonly string[] {
    const { readWrite, readOnly } = this.rules;
    const writable = [...roots, ...readWrite];
    const binds = [
      ...writable.map((path) => ({ flag: '--bind', path })),
      ...readOnly.map((path) => ({ flag: '--ro-bind-try', path })), // of the same folder this one counts
    ].filter(({ path }) => path !== '/');
    return [
      ...(writable.includes('/') && !readOnly.includes('/') ? ['--bind', '/', '/'] : ['--ro-bind', '/', '/']),
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      ...KERNEL_SETTINGS.flatMap((path) => ['--ro-bind-try', path, path]),
      ...PRIVATE_FOLDERS.flatMap((folder) => ['--tmpfs', folder]),
      ...binds
        .toSorted((a, b) => depthOf(a.path) - depthOf(b.path))
        .flatMap(({ flag, path }) => [flag, path, path]),
      ...this.#hidden(writable),
    ];
  }

  /** Nothing where bwrap has a folder of its own: there only what is bound can be seen. */
  #hidden(writable: readonly string[]): readonly string[] {
    const { withheld } = this.rules;
    if (withheld === undefined) return [];
    const bound = [...writable, ...this.rules.readOnly];
    const isShown = (path: string): boolean =>
      bound.some((place) => isInside(path, place) && place !== '/') ||
      !COVERED_FOLDERS.some((folder) => isInside(path, folder));
    return [
      ...withheld.list(isShown).flatMap((path) => ['--tmpfs', path]),
      // A device cannot be opened on a mount of bwrap's, and what is mounted cannot be moved away.
      ...withheld.listSecrets(isShown).flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ];
  }

  #setInside([name, value]: readonly [string, string], { roots }: Scope): readonly string[] {
    const usable = [...roots, ...this.rules.readWrite].some((path) => isInside(value, path));
    if (name === MARK_VARIABLE) return [];
    // The temporary folder of the server cannot be written in there; /tmp can.
    return name === 'TMPDIR' && !usable ? [] : ['--setenv', name, value];
  }
}

/** A name with "=" would be taken for a variable by `env`. */
function spellable(program: readonly string[]): readonly string[] {
  return program[0]?.includes('=') === true ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...program] : program;
}

function depthOf(path: string): number {
  return path.split('/').filter((name) => name !== '').length;
}

function assertThere({ argv, cwd, env }: Launch): void {
  const attempt = { program: argv[0] ?? '', cwd, path: env['PATH'] };
  try {
    findProgram(attempt);
  } catch (thrown) {
    throw explainLaunchFailure(thrown, attempt);
  }
}

function assertUnmoved(root: string, allowed: readonly string[]): void {
  let real: string | undefined;
  try {
    real = realpathSync(root);
  } catch {
    // it is gone
  }
  if (real !== root) throw new ForbiddenPathError(root, allowed);
}
