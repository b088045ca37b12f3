// The clauses of the stringd protocol: every route, its order of checks, its answers, and what must survive.

import type { Clause } from './clause.js';

/** All of them over HTTP, which is the only way in. */
const http = (text: string, source: string): Clause => ({
  text,
  source: `stringd-protocol "${source}"`,
  transports: ['http'],
});
const ours = (text: string, source: string): Clause => ({
  text,
  source: `string "${source}"`,
  transports: ['http'],
});

export const stringHttp = {
  'string/http/loopback': http('it listens on 127.0.0.1 and nowhere else', 'Security model'),
  'string/http/body-cap': http('a body of more than 10 MiB is refused, with an answer', 'Security model'),
  'string/http/no-auth': http(
    '/health, /agents and /shutdown take any caller, and whatever X-Agent-Id says',
    'Base URL and headers',
  ),
  'string/http/cors': http('every answer has both CORS headers', 'Base URL and headers'),
  'string/http/options': http('OPTIONS is answered by 204 without a body', 'Base URL and headers'),
  'string/http/errors': http('every error is JSON with a text in `error`', 'Base URL and headers'),
  'string/http/unknown-route': ours('a route that is none is 404 with method and path', 'HTTP surface'),
  'string/http/web-pages': ours(
    'foreign Host, foreign Origin and cross-site are refused on every route',
    'Security weaknesses',
  ),
  'string/agents/list': http(
    'agents are listed with id, home, allowedPaths, createdAt, and no secret',
    'GET /agents',
  ),
  'string/agents/register': http(
    'registering needs agent_id alone; a new agent gets ~/.string/agents/ID',
    'POST /agents',
  ),
  'string/agents/update': http(
    'registering again updates what is given, and keeps createdAt',
    'POST /agents',
  ),
  'string/agents/required': http('without agent_id: 400', 'POST /agents'),
  'string/agents/persist': http('agents are in agents.json and there after a restart', 'Concepts'),
  'string/agents/private': ours('agents.json is 0600 in a folder that is 0700', 'HTTP surface'),
  'string/agents/id': ours('an id that is no plain name is refused: it becomes a path', 'HTTP surface'),
  'string/agents/home': ours(
    'a home that is no absolute path, or cannot be one, is refused in words',
    'HTTP surface',
  ),
  'string/agents/delete': http(
    'deleting removes the record and what lives for it, not the files',
    'DELETE /agents/:agent_id',
  ),
  'string/webhook/show': http(
    'the address is made once and stays; it is loopback',
    'GET /agents/:id/webhook',
  ),
  'string/webhook/rotate': http('after rotation the old address is dead at once', 'POST /agents/:id/webhook'),
  'string/webhook/unknown-agent': ours('the webhook of an unknown agent is 404', 'HTTP surface'),
  'string/webhook/append': http(
    'a text is answered by 202 with agent_id and event_id',
    'POST /webhook/:token',
  ),
  'string/webhook/refusals': http(
    '401 for an unknown token, 400 for no text, 413 for more than 64 KiB',
    'POST /webhook/:token',
  ),
  'string/webhook/data': http('the text is stored as it is and never executed', 'POST /webhook/:token'),
  'string/stream/ready': http('a stream begins with ready', 'GET /events/stream'),
  'string/stream/event': http('each new event is sent with all its fields', 'GET /events/stream'),
  'string/stream/ping': http('a quiet stream is kept alive by ping', 'GET /events/stream'),
  'string/stream/refusals': http('400 without the header, 401 for an unknown agent', 'GET /events/stream'),
  'string/stream/replay': ours(
    'what is not acknowledged is replayed, unless replay=0; Last-Event-ID goes on from there',
    'Stream',
  ),
  'string/stream/only-own': http(
    'a stream has the events of its agent and of nobody else',
    'GET /events/stream',
  ),
  'string/sessions/list': http(
    'open topics are listed in the shape of the protocol, of all agents or of one',
    'GET /sessions',
  ),
  'string/sessions/open': http(
    'opening a topic executes nothing and tells whether it was new',
    'POST /sessions',
  ),
  'string/sessions/refusals': http(
    '400 without agent_id, then 401, then 400 for a topic that is none',
    'POST /sessions',
  ),
  'string/sessions/close': http(
    'closing tells whether it was open; a path that names no topic is 400',
    'DELETE /sessions/:agent_id/:topic',
  ),
  'string/exec/triple': http('head, content, done, in this order, and nothing else', 'POST /exec'),
  'string/exec/headers': http(
    'the answer has the headers of an event stream, whatever is accepted',
    'POST /exec',
  ),
  'string/exec/head': http('head has all its fields, also null ones', 'Event 1: head'),
  'string/exec/request-id': http(
    'request_id is echoed in head and before the command in content',
    'POST /exec',
  ),
  'string/exec/label': ours(
    'a long command is cut to 77 characters and three dots where it is shown',
    'Limits',
  ),
  'string/exec/error': http(
    'a failure is ERROR(CODE): message in content, and still three events',
    'Event 2: content',
  ),
  'string/exec/order': http(
    'the checks come in the order of the protocol, with its exact texts',
    'Other errors',
  ),
  'string/exec/topics': http('topics are canonical in head, with their type', 'Event 1: head'),
  'string/exec/default-topic': ours('no topic is main', 'Seed 000 versus seed 003'),
  'string/queue/order': http(
    'a topic executes one command at a time, in order; other topics go on',
    'Queueing and contention',
  ),
  'string/queue/full': http('five may wait; one more is 429 with QUEUE_FULL', 'Queueing and contention'),
  'string/queue/timeout': http('who waits for more than 120 s is answered by 504', 'Queueing and contention'),
  'string/queue/gone': http(
    'a client that leaves while it waits is forgotten, and its command never run',
    'Queueing and contention',
  ),
  'string/queue/mcp': ours(
    'a tool call that ends hands its turn on to what waits by /exec',
    'Functional bugs seen upstream',
  ),
  'string/sessions/shell': http(
    'closing a topic, and deleting its agent, ends the shell',
    'DELETE /sessions/:agent_id/:topic',
  ),
  'string/mcp/busy': http('a tool call on a topic that executes is refused with BUSY', 'POST /mcp'),
  'string/ext/stream': ours(
    'with stream=1 output comes in chunk events before the three',
    'What users would want',
  ),
  'string/ext/cancel': ours('DELETE /exec/:request_id cancels what waits or runs', 'What users would want'),
  'string/exec/keep-alive': http(
    'a connection serves command after command',
    'Client implementation checklist',
  ),
  'string/health': http('/health has ok, agents and sessions', 'GET /health'),
  'string/shutdown': http('/shutdown answers, then the process ends with 0', 'POST /shutdown'),
  'string/mcp/tool': http('one tool, string, with topic and cmd', 'POST /mcp'),
  'string/mcp/envelope': http('the answer is the envelope of the canonical topic', 'POST /mcp'),
  'string/mcp/error': http('a failure has isError and ERROR(CODE) in the envelope', 'POST /mcp'),
  'string/mcp/auto-register': http(
    'an unknown agent is registered on first touch; without the header it is default',
    'POST /mcp',
  ),
  'string/mcp/stateless': http('there are no sessions: no id is given, none is needed', 'POST /mcp'),
  'string/mcp/eras': ours('the handshake era and 2026-07-28 are both served', 'MCP'),
  'string/ext/count-ack': ours('/events/count and /events/:id/ack count and acknowledge', 'Stream'),
  'string/ext/chanflow': ours(
    '/chanflow answers each block of ours, in order, and leaves other channels alone',
    'ChanFlow text encoding',
  ),
  'string/ext/metrics': ours('/metrics has numbers for Prometheus', 'What users would want'),
  'string/ext/openapi': ours('/openapi.json describes every route', 'What users would want'),
  'string/bin/port': ours(
    'STRING_PORT that is no port is an error with its name and value',
    'Environment variables',
  ),
  'string/bin/flags': ours('--help has examples, --version the version, and an unknown flag is told', 'CLI'),
  'string/bin/second': ours('a second daemon on the same port says who is there', 'CLI'),
  'string/bin/signals': ours('SIGTERM and SIGINT end it in order', 'CLI'),
  'string/bin/with-stdin': ours('--end-with-stdin: it ends with whoever holds its standard input', 'CLI'),
} as const satisfies Readonly<Record<string, Clause>>;
