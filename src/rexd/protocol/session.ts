// session.*: what a client asks of the session it has.

import * as z from 'zod/mini';
import { defineMethod } from '../../wire/jsonrpc/method.js';
import { compressionAnswer, CompressionRequest, compressionState } from './compression.js';
import { Amount, SessionId, SessionParams } from './fields.js';
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
    compression: z.optional(compressionState()),
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

/** Longer than any token of ours; a longer one is none, and is not compared. */
export const MAX_RESUME_TOKEN_CHARS = 256;
/** Answers that one session.ack may name. */
export const MAX_ACKED_ANSWERS = 4096;

const EventSeq = z.int().check(z.gte(0));

export const SessionResume = defineMethod({
  name: 'session.resume',
  summary:
    'Take a resumable session over to this connection: events after event_seq are sent again, then those to come. The connection it was on is closed when it has no other session. A wrong token and a session that is not there are told the same.',
  params: z.object({
    ...SessionParams,
    token: z.string().check(z.maxLength(MAX_RESUME_TOKEN_CHARS)),
    /** The last event that the client has. */
    event_seq: z._default(EventSeq, 0),
    compression: CompressionRequest,
  }),
  result: z.object({
    session_id: SessionId,
    /** The latest event there is. */
    event_seq: EventSeq,
    window_ms: z.int(),
    compression: compressionAnswer(),
  }),
  errors: ['resource_limit'],
});

export const SessionAck = defineMethod({
  name: 'session.ack',
  summary:
    'Say which events of a resumable session have arrived, so that they need not be kept; and, by their ids, which answers.',
  params: z.object({
    ...SessionParams,
    event_seq: EventSeq,
    answers: z.optional(z.array(z.union([z.string(), z.number()])).check(z.maxLength(MAX_ACKED_ANSWERS))),
  }),
  result: z.object({ event_seq: EventSeq }),
  errors: ['unsupported_capability'],
});

export const SessionEvents = defineMethod({
  name: 'session.events',
  summary:
    'The events of a resumable session after a number, for clients that no event can be sent to; waits up to wait_ms for one. Those up to `after` count as acknowledged.',
  params: z.object({
    ...SessionParams,
    after: z._default(EventSeq, 0),
    wait_ms: z._default(Amount, 0),
  }),
  result: z.object({
    events: z.array(z.object({ method: z.string(), params: z.unknown() })),
    /** Of the last of them; what was asked for when there is none. */
    event_seq: EventSeq,
  }),
  errors: ['unsupported_capability', 'resource_limit'],
});

/** Read by the router too: a method without a handler does not compile. */
export const SESSION_METHODS = {
  SessionOpen,
  SessionInfo,
  SessionClose,
  SessionResume,
  SessionAck,
  SessionEvents,
};
