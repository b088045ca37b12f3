// The clauses for clients of stringd: the checklist of its protocol, and MCP over standard streams.

import type { Clause } from './clause.js';

const checklist = (text: string): Clause => ({
  text,
  source: 'stringd-protocol "Client implementation checklist"',
  transports: ['http'],
});
const stdio = (text: string, source: string): Clause => ({ text, source, transports: ['stdio'] });

export const stringClient = {
  'string/client/ping': checklist('the daemon is pinged by GET /health before the first command'),
  'string/client/auto-start': checklist('a daemon that does not answer is started'),
  'string/client/agent': checklist('the agent is ensured by POST /agents before the first command'),
  'string/client/result': checklist('three events become ok, code, content and meta'),
  'string/client/prefix': checklist('the line `re: …` is not part of the content'),
  'string/client/incomplete': checklist('a stream without content or done is STREAM_INCOMPLETE'),
  'string/client/queue': checklist('QUEUE_FULL and QUEUE_TIMEOUT are told apart from other failures'),
  'string/client/no-retry': checklist('a command is never sent twice'),
  'string/client/header': checklist('no command is sent without X-Agent-Id, and an event stream is accepted'),
  'string/client/json': checklist('the data of each event is read as JSON'),
  'string/client/no-meta': checklist('meta may be null'),
  'string/client/done': checklist('there is no result before done'),
  'string/client/life': checklist('health() and shutdown() are there, and a connection is used again'),
  'string/mcp-stdio/tool': stdio('string --mcp has one tool, string({topic, cmd})', 'string "MCP"'),
  'string/mcp-stdio/answers': stdio(
    'answers are envelopes; failures have isError and ERROR(CODE)',
    'stringd-protocol "POST /mcp"',
  ),
  'string/mcp-stdio/queue': stdio('a call on a topic that executes waits its turn', 'string "MCP"'),
  'string/mcp-stdio/channel': stdio(
    'events of the agent become channel notifications, and stay unacknowledged',
    'string "MCP channel"',
  ),
  'string/mcp-stdio/ack': stdio(
    'with --ack-events what the client was told of is acknowledged',
    'string "MCP channel"',
  ),
  'string/mcp-stdio/end': stdio('it ends with its input, and writes nothing but JSON-RPC', 'string "MCP"'),
} as const satisfies Readonly<Record<string, Clause>>;
