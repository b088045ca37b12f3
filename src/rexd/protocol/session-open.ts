// session.open: a client's scope, with its own roots and limits.

import * as z from 'zod/mini';
import { defineMethod } from '../../wire/jsonrpc/method.js';
import { compressionAnswer, CompressionRequest } from './compression.js';
import { MAX_CLIENT_CHARS, MAX_REQUESTED, PROTOCOL, SESSION_OPEN } from './open-bounds.js';
import { Path } from './path.js';

const limit = z.int().check(z.gte(1));
const lowered = z.optional(limit);

export const SessionOpen = defineMethod({
  name: SESSION_OPEN,
  summary: 'Open a session: its roots, its limits and what the server can do.',
  params: z.object({
    client_name: z._default(z.string().check(z.maxLength(MAX_CLIENT_CHARS)), 'unknown'),
    client_version: z.optional(z.string().check(z.maxLength(MAX_CLIENT_CHARS))),
    workspace_roots: z.optional(z.array(Path).check(z.maxLength(MAX_REQUESTED))),
    requested_capabilities: z.optional(z.array(z.string()).check(z.maxLength(MAX_REQUESTED))),
    limits: z.optional(z.object(eachLimit(lowered))),
    /** The session shall outlive its connection for a while, and be taken up again by session.resume. */
    resumable: z.optional(z.boolean()),
    /** How long it shall wait for the client then; never longer than the server would. */
    resume_window_ms: z.optional(z.int().check(z.gte(1))),
    compression: CompressionRequest,
  }),
  get result() {
    return z.object({
      session_id: z.string(),
      protocol: z.literal(PROTOCOL),
      server_version: z.string(),
      capabilities: z.array(z.string()),
      limits: limits(),
      workspace_roots: z.array(z.string()),
      compression: compressionAnswer(),
      resume: z.optional(z.object({ token: z.string(), window_ms: z.int() })),
    });
  },
  errors: ['forbidden_path', 'unsupported_capability', 'resource_limit'],
});

/** The limits of a session as it is told them. */
export function limits() {
  return z.object(eachLimit(limit));
}

function eachLimit<S>(schema: S) {
  return {
    max_output_bytes: schema,
    max_file_read_bytes: schema,
    max_processes_per_session: schema,
    default_timeout_ms: schema,
    hard_timeout_ms: schema,
    max_concurrent_sessions: schema,
  };
}
