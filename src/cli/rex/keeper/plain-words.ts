// What is said between a keeper and rex-front.pl, which has no JSON to read: one line of JSON to the keeper, then letters.
//
// From the keeper: `h` it was heard; `r` the command runs; `n` nothing was begun, do it in another way; `o12` and `e12`,
// each with so many bytes of its output behind the line; `x0` its exit code. To the keeper: `i12` with input, `c` for its
// end, `kINT` for a signal.

import { readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { aliasInName, ownVariables } from './address.js';
import type { KeptStart } from './words.js';

export interface PlainHello {
  readonly want: 'plain';
  readonly alias: string;
  readonly until: number;
  /** All variables of the caller, as a command on this machine would see them. */
  readonly env: readonly string[];
  readonly start: KeptStart;
}

/**
 * The name under which it finds the keeper: by the sum of the bytes of its variables, which is little work for both, and
 * the same in any order. Who is found by chance is asked for nothing: the keeper compares them all.
 */
function plainPath(socket: string, alias: string, env: NodeJS.ProcessEnv): string {
  const all = Buffer.from(ownVariables(env).join(''));
  let sum = 0;
  for (const byte of all) sum += byte;
  const name = `plain-${aliasInName(alias)}-${(sum >>> 0).toString(16)}-${all.length.toString(16)}`;
  return join(dirname(socket), name);
}

/** Puts the name there until it is disposed of; the last keeper that does has it. */
export function offerPlainly(socket: string, alias: string, env: NodeJS.ProcessEnv): Disposable {
  const path = plainPath(socket, alias, env);
  try {
    rmSync(path, { force: true });
    symlinkSync(basename(socket), path);
  } catch {
    // then it is not found, and Node is
  }
  return {
    [Symbol.dispose]: () => {
      try {
        if (readlinkSync(path) === basename(socket)) rmSync(path, { force: true });
      } catch {
        // somebody was quicker
      }
    },
  };
}

export function hasSameVariables(hello: PlainHello, env: NodeJS.ProcessEnv): boolean {
  const own = ownVariables(env);
  return own.length === hello.env.length && hello.env.toSorted().every((each, i) => each === own[i]);
}
