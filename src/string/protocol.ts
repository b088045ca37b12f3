// The HTTP protocol of stringd as data: every route with what it takes and what it answers. Routes, documentation, OpenAPI and tests read it.

import * as z from 'zod/mini';

/** What one request may carry, except to a webhook. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** The text of one event. */
export const MAX_WEBHOOK_BYTES = 64 * 1024;
/** Commands that may wait behind the one that a topic executes. */
export const MAX_QUEUE_SIZE = 5;
/** How long a command may wait for its turn. */
export const QUEUE_WAIT_TIMEOUT_MS = 120_000;
/** From the answer to /shutdown to the end of the process. */
export const SHUTDOWN_GRACE_MS = 50;
/** Silence on an event stream is broken this often. */
export const STREAM_PING_MS = 30_000;

export const AGENT_HEADER = 'X-Agent-Id';
/** Sent with every answer, whatever it is. Not a security boundary: the browser guard is. */
export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Content-Type, X-Agent-Id',
  'Access-Control-Allow-Methods': 'GET, POST, DELETE, OPTIONS',
} as const;

const TopicType = z.enum(['tab', 'app', 'bash', 'hub']);
const Nullable = z.nullable(z.string());

export const AgentInfo = z.object({
  id: z.string(),
  home: z.string(),
  allowedPaths: z.array(z.string()),
  createdAt: z.string(),
});
export type AgentInfo = z.output<typeof AgentInfo>;

export const RegisterAgent = z.object({
  agent_id: z.string(),
  home: z.optional(z.string()),
  allowed_paths: z.optional(z.array(z.string())),
});

export const SessionInfo = z.object({
  agent_id: z.string(),
  topic: z.string(),
  topic_type: TopicType,
  executing: z.boolean(),
  queue_length: z.int(),
  doc: z.nullable(z.object({ uri: z.string(), title: Nullable, current_block: Nullable })),
});
export type SessionInfo = z.output<typeof SessionInfo>;

const EventCounts = z.object({
  pending: z.int(),
  delivered: z.int(),
  ack: z.int(),
  unacked: z.int(),
  oldest_unacked_at: Nullable,
});
export type EventCounts = z.output<typeof EventCounts>;

export const ExecRequest = z.object({
  cmd: z.string(),
  topic: z.optional(z.string()),
  request_id: z.optional(z.nullable(z.string())),
});

/** The data of the `head` event. `meta` has more than these three, see the documentation of documents. */
export const ExecHead = z.object({
  ok: z.boolean(),
  code: Nullable,
  cmd: z.string(),
  request_id: Nullable,
  agent_id: z.string(),
  topic: z.string(),
  topic_type: TopicType,
  meta: z.nullable(z.looseObject({ uri: z.string(), title: Nullable, current_block: Nullable })),
});
export type ExecHead = z.output<typeof ExecHead>;

/** The data of an `event` event. */
export const StreamedEvent = z.object({
  id: z.string(),
  agentId: z.string(),
  receivedAt: z.string(),
  source: z.string(),
  text: z.string(),
  status: z.enum(['pending', 'delivered', 'ack']),
});
export type StreamedEvent = z.output<typeof StreamedEvent>;

const Webhook = z.object({ agent_id: z.string(), webhook_url: z.string() });
const AnError = z.object({ error: z.string(), message: z.optional(z.string()) });

export interface Answer {
  readonly when: string;
  /** Of a JSON body. */
  readonly json?: z.ZodMiniType;
  /** Of any other body. */
  readonly type?: string;
  /** The events of a stream, in order, with the data of each. */
  readonly events?: Readonly<Record<string, z.ZodMiniType>>;
}

export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  /** Whether `X-Agent-Id` is needed, or used when it is there. */
  readonly agent?: 'required' | 'optional';
  /** Names and what they are for. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: { readonly json: z.ZodMiniType } | { readonly type: string };
  readonly answers: Readonly<Record<number, Answer>>;
  /** Not of the seed. */
  readonly extension?: true;
}

const refused = (error: string, when = error): Answer => ({
  when,
  json: z.object({ error: z.literal(error) }),
});
const failed = (when: string): Answer => ({ when, json: AnError });
const json = (when: string, schema: z.ZodMiniType): Answer => ({ when, json: schema });

const NEEDS_AGENT = { 400: refused(`${AGENT_HEADER} header required`), 401: failed('Unknown agent: <id>') };
const EXEC_EVENTS = { head: ExecHead, content: z.string(), done: z.object({}) };
const MCP_ANSWER: Answer = { when: 'A JSON-RPC answer, or a stream of messages.', json: z.looseObject({}) };

export const ROUTES = {
  listAgents: {
    method: 'GET',
    path: '/agents',
    summary: 'List the agents.',
    answers: { 200: json('All of them, without their secrets.', z.object({ agents: z.array(AgentInfo) })) },
  },
  registerAgent: {
    method: 'POST',
    path: '/agents',
    summary: 'Register an agent, or update what is given of it.',
    body: { json: RegisterAgent },
    answers: {
      200: json(
        'It is registered; `created` tells whether it was new.',
        z.object({ agent_id: z.string(), home: z.string(), created: z.boolean() }),
      ),
      400: failed('`agent_id required`, or why the id or a path cannot be.'),
    },
  },
  deleteAgent: {
    method: 'DELETE',
    path: '/agents/:agent_id',
    summary: 'Delete an agent with its topics, shells and streams. Files in its home stay.',
    answers: {
      200: json(
        '`deleted` is false when there was none.',
        z.object({ agent_id: z.string(), deleted: z.boolean() }),
      ),
    },
  },
  showWebhook: {
    method: 'GET',
    path: '/agents/:agent_id/webhook',
    summary: 'The address of the agent’s webhook, made if there is none.',
    answers: { 200: json('The address.', Webhook), 404: failed('Unknown agent: <id>') },
  },
  rotateWebhook: {
    method: 'POST',
    path: '/agents/:agent_id/webhook',
    summary: 'A new address; the old one stops working at once.',
    answers: { 200: json('The new address.', Webhook), 404: failed('Unknown agent: <id>') },
  },
  postEvent: {
    method: 'POST',
    path: '/webhook/:token',
    summary: 'Append a text to the inbox of the agent. It is stored, never executed.',
    body: { type: 'text/plain' },
    answers: {
      202: json(
        'The event is on the disk.',
        z.object({ ok: z.literal(true), agent_id: z.string(), event_id: z.string() }),
      ),
      400: refused('Webhook body must be non-empty text'),
      401: refused('Unknown webhook token'),
      413: refused(`Webhook body exceeds ${MAX_WEBHOOK_BYTES} bytes`),
      429: failed('`RATE_LIMITED` with Retry-After, or `INBOX_FULL`.'),
    },
  },
  streamEvents: {
    method: 'GET',
    path: '/events/stream',
    summary:
      'The events of an agent as they come: first those not acknowledged, or those after `Last-Event-ID`, then new ones.',
    agent: 'required',
    query: {
      replay: '`0`: only events that arrive from now on.',
      last_event_id:
        '(extension) The same as the header `Last-Event-ID`, which a web page may not send to another origin.',
    },
    answers: {
      200: {
        when: 'A stream without an end; each `event` has an `id:` line.',
        events: {
          ready: z.object({ agent_id: z.string() }),
          event: StreamedEvent,
          ping: z.object({ t: z.string() }),
        },
      },
      ...NEEDS_AGENT,
    },
  },
  countEvents: {
    method: 'GET',
    path: '/events/count',
    summary: 'How many events the agent has, by state.',
    agent: 'required',
    extension: true,
    answers: {
      200: json('The counts.', EventCounts),
      ...NEEDS_AGENT,
    },
  },
  ackEvent: {
    method: 'POST',
    path: '/events/:event_id/ack',
    summary: 'Acknowledge an event. Once more is no error.',
    agent: 'required',
    extension: true,
    answers: {
      200: json(
        'It is acknowledged.',
        z.object({ ok: z.literal(true), event_id: z.string(), status: z.literal('ack') }),
      ),
      ...NEEDS_AGENT,
      404: failed('Event not found: <id>'),
    },
  },
  listSessions: {
    method: 'GET',
    path: '/sessions',
    summary: 'List the open topics, of all agents or of one.',
    query: { agent_id: 'Only of this agent.' },
    answers: { 200: json('The topics.', z.object({ sessions: z.array(SessionInfo) })) },
  },
  openSession: {
    method: 'POST',
    path: '/sessions',
    summary: 'Open a topic without executing anything in it.',
    body: { json: z.object({ agent_id: z.string(), topic: z.optional(z.string()) }) },
    answers: {
      200: json(
        'It is open; `created` tells whether it was new.',
        z.object({ agent_id: z.string(), topic: z.string(), topic_type: TopicType, created: z.boolean() }),
      ),
      400: failed('`agent_id required`, or `Invalid topic: <raw>`'),
      401: failed('Unknown agent: <id>'),
      429: failed('`TOO_MANY_TOPICS`: some must be closed first.'),
    },
  },
  closeSession: {
    method: 'DELETE',
    path: '/sessions/:agent_id/:topic',
    summary: 'Close a topic with its shell.',
    answers: {
      200: json(
        '`deleted` is false when it was not open.',
        z.object({ agent_id: z.string(), topic: z.string(), deleted: z.boolean() }),
      ),
      400: refused('Expected /sessions/:agent_id/:topic'),
    },
  },
  exec: {
    method: 'POST',
    path: '/exec',
    summary: 'Execute one command in a topic.',
    agent: 'required',
    query: {
      stream:
        '`1` (extension): `chunk` events, each a JSON string of output, while the command runs, before `head`.',
    },
    body: { json: ExecRequest },
    answers: {
      200: { when: 'What the command came to, also when it failed: three events.', events: EXEC_EVENTS },
      400: failed(
        'The first that applies: no agent header, a body that is no JSON, an empty `cmd`, a topic that is none.',
      ),
      401: failed('Unknown agent: <id>'),
      429: failed('`QUEUE_FULL`: as many commands as may wait in the topic do.'),
      504: failed('`QUEUE_TIMEOUT`: its turn did not come in time.'),
    },
  },
  cancelExec: {
    method: 'DELETE',
    path: '/exec/:request_id',
    summary:
      'Cancel the command with this `request_id`, waiting or running; it answers with the code CANCELLED.',
    agent: 'required',
    extension: true,
    answers: {
      200: json(
        '`cancelled` is false when no such command waits or runs.',
        z.object({ request_id: z.string(), cancelled: z.boolean() }),
      ),
      ...NEEDS_AGENT,
    },
  },
  postMcp: {
    method: 'POST',
    path: '/mcp',
    summary:
      'The Model Context Protocol, stateless: one tool, `string({topic, cmd})`. Unknown agents are registered.',
    agent: 'optional',
    body: { json: z.looseObject({}) },
    answers: {
      200: MCP_ANSWER,
      202: { when: 'A notification was taken.' },
      400: { ...MCP_ANSWER, when: 'A JSON-RPC error: no JSON, no message, or headers that contradict it.' },
    },
  },
  getMcp: {
    method: 'GET',
    path: '/mcp',
    summary: 'There is no stream of its own: the server is stateless.',
    agent: 'optional',
    answers: { 405: { ...MCP_ANSWER, when: 'Always: a JSON-RPC error that says so.' } },
  },
  deleteMcp: {
    method: 'DELETE',
    path: '/mcp',
    summary: 'There is no session to end: the server is stateless.',
    agent: 'optional',
    answers: { 405: { ...MCP_ANSWER, when: 'Always: a JSON-RPC error that says so.' } },
  },
  chanflow: {
    method: 'POST',
    path: '/chanflow',
    summary:
      'Text with ChanFlow blocks in, the same text out with an answer in the place of each block of the channel `string`.',
    agent: 'required',
    extension: true,
    body: { type: 'text/plain' },
    answers: { 200: { when: 'The answers.', type: 'text/plain' }, ...NEEDS_AGENT },
  },
  health: {
    method: 'GET',
    path: '/health',
    summary: 'Whether the daemon is there.',
    answers: {
      200: json(
        'It is.',
        z.object({
          ok: z.literal(true),
          agents: z.int(),
          sessions: z.int(),
          version: z.string(),
          pid: z.int(),
        }),
      ),
    },
  },
  shutdown: {
    method: 'POST',
    path: '/shutdown',
    summary: 'End the daemon.',
    answers: {
      200: json(
        'It ends after this answer.',
        z.object({ ok: z.literal(true), message: z.literal('stringd shutting down') }),
      ),
    },
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Numbers for Prometheus.',
    extension: true,
    answers: { 200: { when: 'The numbers.', type: 'text/plain' } },
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This protocol as OpenAPI 3.1.',
    extension: true,
    answers: { 200: json('The document.', z.looseObject({})) },
  },
} as const satisfies Readonly<Record<string, RouteSpec>>;

export type RouteId = keyof typeof ROUTES;
