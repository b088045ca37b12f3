// session.*: a client's scope, with its own roots and limits.

import * as z from 'zod/mini';
import { defineMethod } from '../../wire/jsonrpc/method.js';
import { Path, SessionId, SessionParams } from './fields.js';

export const PROTOCOL = 'rexd/1';

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

export const SessionOpen = defineMethod({
  name: 'session.open',
  summary: 'Open a session: its roots, its limits and what the server can do.',
  params: z.object({
    client_name: z._default(z.string().check(z.maxLength(256)), 'unknown'),
    client_version: z.optional(z.string().check(z.maxLength(256))),
    workspace_roots: z.optional(z.array(Path).check(z.maxLength(64))),
    requested_capabilities: z.optional(z.array(z.string()).check(z.maxLength(64))),
    limits: z.optional(z.partial(Limits)),
  }),
  result: z.object({
    session_id: SessionId,
    protocol: z.literal(PROTOCOL),
    server_version: z.string(),
    capabilities: z.array(z.string()),
    limits: Limits,
    workspace_roots: z.array(z.string()),
  }),
  errors: ['forbidden_path', 'unsupported_capability', 'resource_limit'],
});

export const SessionInfo = defineMethod({
  name: 'session.info',
  summary: 'The state of a session.',
  params: z.object({ ...SessionParams }),
  result: z.object({
    session_id: SessionId,
    cwd: z.nullable(z.string()),
    workspace_roots: z.array(z.string()),
    running_processes: z.int(),
    limits: Limits,
    sandbox: z.object({ active: z.boolean(), network: z.boolean() }),
  }),
  errors: [],
});

export const SessionClose = defineMethod({
  name: 'session.close',
  summary: 'Close a session and end what it started, except what was started detached.',
  params: z.object({ ...SessionParams }),
  result: z.object({ ok: z.literal(true) }),
  errors: [],
});

/** Read by the router too: a method without a handler does not compile. */
export const SESSION_METHODS = { SessionOpen, SessionInfo, SessionClose };
