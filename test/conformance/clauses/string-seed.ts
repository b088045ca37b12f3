// Sentences of both seeds about agents, topics and surfaces that no other table of String has.

import type { Clause } from './clause.js';

const http = (text: string, source: string): Clause => ({
  text,
  source: `stringd-protocol "${source}"`,
  transports: ['http'],
});
const both = (text: string, source: string): Clause => ({
  text,
  source: `string-transport "${source}"`,
  transports: ['http', 'cli'],
});

export const stringSeed = {
  'string/seed/default-port': http('the port is 3923 unless STRING_PORT says otherwise', 'Transport'),
  'string/seed/data-dir': http(
    'agents are kept in ~/.string/daemon/agents.json unless STRING_DATA_DIR says otherwise',
    'Concepts',
  ),
  'string/seed/identity': http(
    'X-Agent-Id chooses the agent and proves nothing: whoever asks is whom it names',
    'Security model',
  ),
  'string/seed/own-topics': http(
    'a topic belongs to its agent: another has one of the same name',
    'Concepts',
  ),
  'string/seed/bash': http('/exec runs under /bin/bash -c', 'Security model'),
  'string/seed/hubs': http('six bare names are hubs; bash:NAME is a bash topic', 'Concepts'),
  'string/seed/content-type': http(
    'a body of a JSON route that is declared to be something else is refused; a webhook takes text',
    'Base URL and headers',
  ),
  'string/seed/inbox': http(
    'events are read and acknowledged by /events, /events.read and /events.ack',
    'GET /events/stream',
  ),
  'string/seed/deleted-files': http(
    'deleting an agent deletes no files of its home; registered anew it has them, and its events',
    'DELETE /agents/:agent_id',
  ),
  'string/seed/meta': http(
    'a document that is open is told in head.meta and in /sessions, with uri, title and current_block',
    'Event 1: head',
  ),
  'string/seed/executing': http('a session tells that it executes, and how many wait', 'GET /sessions'),
  'string/seed/sessions-counted': http('/health counts the topics of all agents', 'GET /health'),
  'string/seed/mcp-methods': http(
    '/mcp has POST, GET and DELETE; where there are no sessions the last two are 405',
    'POST /mcp',
  ),
  'string/seed/mcp-plain': http('the answer of the tool has text alone, no structuredContent', 'POST /mcp'),
  'string/seed/same-answer': http(
    'a command gives the same answer by /exec, /mcp, the command line and ChanFlow',
    'POST /mcp',
  ),
  'string/seed/typed-topics': both('each type of topic is addressed, and answered, by type:name', 'Topic'),
  'string/seed/shell-lines': both(
    'every line of a bash topic is for its shell, also one that begins with a slash',
    'Command-only',
  ),
  'string/seed/closed': both('a session that was closed is not listed any more', 'Close'),
} as const satisfies Readonly<Record<string, Clause>>;
