// session.open: a client's scope, with its own roots and limits.
//
// Apart from the rest of session.*: every client waits for its answer at every connection, and a schema takes a tenth of a
// millisecond to build. What only clients and documents ask for is built when they do.

import * as z from 'zod/mini';
import { defineMethod } from '../../wire/jsonrpc/method.js';
import { compressionAnswer, CompressionRequest } from './compression.js';
import { Path } from './path.js';

export const PROTOCOL = 'rexd/1';

/** Of what a client says of itself; it is for the log. */
export const MAX_CLIENT_CHARS = 256;
/** Roots, or capabilities, that one session may ask for: each is compared with all there are. */
export const MAX_REQUESTED = 64;

const limit = z.int().check(z.gte(1));
const lowered = z.optional(limit);

export const SessionOpen = defineMethod({
  name: 'session.open',
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
