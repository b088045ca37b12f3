// The bounds of what a request may hold: what reaches one is taken, what passes it is refused.

import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { ExecStart } from '../../../src/rexd/protocol/exec.js';
import { MAX_ARGV_WORDS, MAX_ID_CHARS } from '../../../src/rexd/protocol/fields.js';
import { FsSearch, MAX_NAME_PATTERNS, MAX_QUERY_CHARS } from '../../../src/rexd/protocol/fs.js';
import { MAX_CLIENT_CHARS, MAX_REQUESTED } from '../../../src/rexd/protocol/open-bounds.js';
import { SessionOpen } from '../../../src/rexd/protocol/session-open.js';

const words = (count: number): string[] => Array.from({ length: count }, () => 'a');
const search = { session_id: 's', query: 'q' };

test.each<[string, number, z.core.$ZodType, (size: number) => object]>([
  ['client_name', MAX_CLIENT_CHARS, SessionOpen.params, (n) => ({ client_name: 'a'.repeat(n) })],
  ['client_version', MAX_CLIENT_CHARS, SessionOpen.params, (n) => ({ client_version: 'a'.repeat(n) })],
  ['workspace_roots', MAX_REQUESTED, SessionOpen.params, (n) => ({ workspace_roots: words(n) })],
  [
    'requested_capabilities',
    MAX_REQUESTED,
    SessionOpen.params,
    (n) => ({ requested_capabilities: words(n) }),
  ],
  ['session_id', MAX_ID_CHARS, FsSearch.params, (n) => ({ ...search, session_id: 'a'.repeat(n) })],
  ['argv', MAX_ARGV_WORDS, ExecStart.params, (n) => ({ session_id: 's', argv: words(n) })],
  ['include', MAX_NAME_PATTERNS, FsSearch.params, (n) => ({ ...search, include: words(n) })],
  ['exclude', MAX_NAME_PATTERNS, FsSearch.params, (n) => ({ ...search, exclude: words(n) })],
  ['query', MAX_QUERY_CHARS, FsSearch.params, (n) => ({ ...search, query: 'a'.repeat(n) })],
])('%s: %i and no more', (_field, max, schema, params) => {
  expect(z.safeParse(schema, params(max)).success).toBe(true);
  expect(z.safeParse(schema, params(max + 1)).success).toBe(false);
});
