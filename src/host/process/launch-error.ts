// Why a program could not be started, told apart: the system says ENOENT for a missing program and a missing cwd alike.

import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoOf, LocalError } from '../../base/errors.js';
import { placesOf } from './search-path.js';

export type LaunchFailure =
  | 'program_not_found'
  | 'program_not_executable'
  | 'interpreter_not_found'
  | 'cwd_not_found'
  | 'cwd_not_directory'
  | 'cwd_forbidden'
  | 'arguments_too_long'
  | 'bad_argument'
  | 'out_of_resources'
  | 'start_interrupted'
  | 'launch_failed';

export interface LaunchAttempt {
  readonly program: string;
  readonly cwd: string | undefined;
  /** The PATH of the child, which is the one that was searched. */
  readonly path: string | undefined;
}

export class LaunchError extends LocalError {
  override readonly name = 'LaunchError';
  declare readonly code: LaunchFailure;

  constructor(code: LaunchFailure, attempt: LaunchAttempt, cause: unknown) {
    super(code, SENTENCES[code](attempt), {
      cause,
      facts: { program: attempt.program, cwd: attempt.cwd, errno: errnoOf(cause) },
    });
  }
}

/** Looks at the files only now, so that a start that works pays nothing for it. */
export function explainLaunchFailure(cause: unknown, attempt: LaunchAttempt): LaunchError {
  // Node refuses what could not be passed on (an empty name, a zero byte) before it asks the system.
  const code = cause instanceof TypeError ? 'bad_argument' : classify(errnoOf(cause), attempt);
  return new LaunchError(code, attempt, cause);
}

function classify(errno: string | undefined, attempt: LaunchAttempt): LaunchFailure {
  switch (errno) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EACCES':
      return cwdFailure(attempt.cwd) ?? programFailure(attempt, errno);
    case 'E2BIG':
      return 'arguments_too_long';
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return 'out_of_resources';
    default:
      return 'launch_failed';
  }
}

function cwdFailure(cwd: string | undefined): LaunchFailure | undefined {
  if (cwd === undefined) return undefined;
  try {
    if (!statSync(cwd).isDirectory()) return 'cwd_not_directory';
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error) === 'EACCES' ? 'cwd_forbidden' : 'cwd_not_found';
  }
}

/** A script that is there while the system says "no such file" names an interpreter that is not. */
function programFailure(attempt: LaunchAttempt, errno: string): LaunchFailure {
  if (!findsFile(attempt)) return 'program_not_found';
  return errno === 'EACCES' ? 'program_not_executable' : 'interpreter_not_found';
}

function findsFile({ program, cwd = '.', path }: LaunchAttempt): boolean {
  return placesOf(program, path).some((place) => {
    try {
      return statSync(resolve(cwd, place)).isFile();
    } catch {
      return false;
    }
  });
}

const SENTENCES: Readonly<Record<LaunchFailure, (attempt: LaunchAttempt) => string>> = {
  program_not_found: ({ program }) => `program not found: ${program}`,
  program_not_executable: ({ program }) => `program is not executable: ${program}`,
  interpreter_not_found: ({ program }) => `the interpreter that ${program} asks for was not found`,
  cwd_not_found: ({ cwd }) => `working directory not found: ${cwd}`,
  cwd_not_directory: ({ cwd }) => `working directory is not a directory: ${cwd}`,
  cwd_forbidden: ({ cwd }) => `working directory may not be entered: ${cwd}`,
  arguments_too_long: () => 'arguments and environment are longer than the system allows',
  bad_argument: () => 'the program, an argument or a variable is empty or holds a zero byte',
  out_of_resources: () => 'the system has no room for another process',
  start_interrupted: ({ program }) =>
    `the launcher was killed while it started ${program}, which may have run`,
  launch_failed: ({ program }) => `could not start ${program}`,
};
