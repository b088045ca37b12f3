// REXD v1 as data: every method with its params, its result and the errors it may answer.

import * as z from 'zod/mini';
import { defineMethod } from '../wire/jsonrpc/method.js';

export const PROTOCOL = 'rexd/1';

/** Error codes of REXD v1 beside those of JSON-RPC. */
export const ERROR_CODES = {
  unauthorized: -32001,
  forbidden_path: -32002,
  timeout: -32003,
  output_limit_exceeded: -32004,
  process_not_found: -32005,
  concurrency_conflict: -32006,
  unsupported_capability: -32007,
  resource_limit: -32008,
} as const;

export type ErrorName = keyof typeof ERROR_CODES;

const limit = z.int().check(z.gte(1));

/** The limits of a session as it is told them. */
export const Limits = z.object({
  max_output_bytes: limit,
  max_file_read_bytes: limit,
  max_processes_per_session: limit,
  default_timeout_ms: limit,
  hard_timeout_ms: limit,
  max_concurrent_sessions: limit,
});
export type Limits = z.output<typeof Limits>;

const sessionId = z.string().check(z.minLength(1), z.maxLength(128));
const path = z.string().check(z.minLength(1), z.maxLength(4096));

export const SessionOpen = defineMethod({
  name: 'session.open',
  summary: 'Open a session: its roots, its limits and what the server can do.',
  params: z.object({
    client_name: z._default(z.string().check(z.maxLength(256)), 'unknown'),
    client_version: z.optional(z.string().check(z.maxLength(256))),
    workspace_roots: z.optional(z.array(path).check(z.maxLength(64))),
    requested_capabilities: z.optional(z.array(z.string()).check(z.maxLength(64))),
    limits: z.optional(z.partial(Limits)),
  }),
  result: z.object({
    session_id: sessionId,
    protocol: z.literal(PROTOCOL),
    server_version: z.string(),
    capabilities: z.array(z.string()),
    limits: Limits,
    workspace_roots: z.array(z.string()),
  }),
  errors: ['forbidden_path', 'resource_limit'],
});

export const SessionInfo = defineMethod({
  name: 'session.info',
  summary: 'The state of a session.',
  params: z.object({ session_id: sessionId }),
  result: z.object({
    session_id: sessionId,
    cwd: z.nullable(z.string()),
    workspace_roots: z.array(z.string()),
    running_processes: z.int(),
    limits: Limits,
  }),
  errors: [],
});

export const SessionClose = defineMethod({
  name: 'session.close',
  summary: 'Close a session and end what it started, except what was started detached.',
  params: z.object({ session_id: sessionId }),
  result: z.object({ ok: z.literal(true) }),
  errors: [],
});

/** Router, documents and clients all read this table: a method without a handler does not compile. */
export const METHODS = { SessionOpen, SessionInfo, SessionClose };
