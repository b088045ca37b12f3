// The errors that the table of the protocol says a method may answer; every other one fails the test that meets it.

import { expect } from 'vitest';
import { ERROR_CODES, type ErrorName } from '../../../src/rexd/protocol/errors.js';
import { METHODS } from '../../../src/rexd/protocol.js';
import { TARGET_VARIABLE } from './target.js';

/** Of JSON-RPC, and a request that was called off. A fault of the server (-32603) is never what should be met. */
const OF_EVERY_METHOD = [-32_700, -32_600, -32_601, -32_602, -32_800];

const declared = new Map<string, ReadonlySet<number>>(
  Object.values(METHODS).map(({ name, errors }) => [
    name,
    new Set([...OF_EVERY_METHOD, ...errors.map((error) => ERROR_CODES[error as ErrorName])]),
  ]),
);

/** Only of ours: what a server of another make declares is not known. */
export function expectDeclared(method: string, code: number | undefined): void {
  const codes = declared.get(method);
  if (code === undefined || codes === undefined || process.env[TARGET_VARIABLE] !== undefined) return;
  expect([...codes], `${method} answers ${code}, which its table does not list`).toContain(code);
}
