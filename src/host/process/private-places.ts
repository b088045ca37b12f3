// Where the private directories of our processes are, and what their names look like.

import { tmpdir } from 'node:os';

/**
 * In memory where possible: names are made and removed at every start of a program. A variable that is empty or relative
 * names no place, as the XDG specification has it.
 */
export const PRIVATE_PLACES: readonly string[] = [
  process.env['XDG_RUNTIME_DIR'],
  '/dev/shm',
  tmpdir(),
].filter((place): place is string => place?.startsWith('/') === true);

/** The number of the owner, when it was started, its namespace. */
export const PRIVATE_NAME = /^hawser-(\d+)\.(\d+)\.(\d+)-/;
