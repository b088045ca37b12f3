// Tests cite clauses: a typo fails to compile, a clause nobody cites fails coverage.test.ts, a known gap must fail.

import { test } from 'vitest';
import type { Clause, Transport } from '../clauses/clause.js';
import { rexd } from '../clauses/rexd.js';
import { rexdExec } from '../clauses/rexd-exec.js';
import { rexdFs } from '../clauses/rexd-fs.js';
import { rexdLife } from '../clauses/rexd-life.js';
import { rexdPty } from '../clauses/rexd-pty.js';

export const clauses = { ...rexd, ...rexdExec, ...rexdFs, ...rexdLife, ...rexdPty };
export type ClauseId = keyof typeof clauses;

const TRANSPORTS: readonly Transport[] = ['stdio'];

/** `timeoutMs`: for a test that takes longer than the usual, on a busy machine too. */
export function verifies(
  id: ClauseId,
  body: (transport: Transport) => Promise<void>,
  timeoutMs?: number,
): void {
  const clause: Clause = clauses[id];
  for (const transport of clause.transports ?? TRANSPORTS) {
    const register = clause.knownFailure === undefined ? test : test.fails;
    register(`${id} [${transport}] ${clause.text}`, () => body(transport), timeoutMs);
  }
}
