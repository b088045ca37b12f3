// session.*: what a client asks of the session it has.

import * as z from 'zod/mini';
import { defineMethod } from '../../wire/jsonrpc/method.js';
import { SessionId, SessionParams } from './fields.js';
import { limits, SessionOpen } from './session-open.js';

export const SessionInfo = defineMethod({
  name: 'session.info',
  summary: 'The state of a session.',
  params: z.object({ ...SessionParams }),
  result: z.object({
    session_id: SessionId,
    cwd: z.nullable(z.string()),
    workspace_roots: z.array(z.string()),
    running_processes: z.int(),
    limits: limits(),
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
export const OPEN_SESSION_METHODS = { SessionInfo, SessionClose };
export const SESSION_METHODS = { SessionOpen, ...OPEN_SESSION_METHODS };
