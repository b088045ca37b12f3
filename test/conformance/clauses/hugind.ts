// The clauses of the hugind bridge that are met so far: those of its seed, and those of our own contract.

import type { Clause } from './clause.js';

const seed = (text: string, section: string): Clause => ({
  text,
  source: `hugind-stdio-bridge "${section}"`,
});
const ours = (text: string, section: string): Clause => ({ text, source: `hugind-contract "${section}"` });
const fault = (text: string, number: number): Clause => ({ text, source: `hugind-spec "6, ${number}"` });

export const hugind = {
  'hugind/launch': seed('`hugind stdio` serves one JSON object a line, both ways', 'Launch'),
  'hugind/ndjson/success': seed(
    'a request is answered with its id, ok, result and schema_version',
    'NDJSON Protocol',
  ),
  'hugind/ndjson/error': seed(
    'a failure is answered with its id, ok false, code and message',
    'NDJSON Protocol',
  ),
  'hugind/ndjson/event': seed(
    'events carry the id of their request, data and schema_version',
    'NDJSON Protocol',
  ),
  'hugind/methods': seed('every method of the specification is known', 'Supported Methods'),
  'hugind/agent.list': seed('agent.list gives names and paths', 'Agent'),
  'hugind/server.list': seed('server.list gives name, host, port, status and config_name', 'Server'),
  'hugind/config.list': seed('config.list gives names and paths', 'Config'),
  'hugind/config.validate': seed('config.validate judges a file', 'Config'),
  'hugind/config.info': seed('config.info describes the machine', 'Config'),
  'hugind/config.remove': seed('config.remove removes what is confirmed', 'Config'),
  'hugind/config.defaults': seed('config.defaults keeps the token of the hub', 'Config'),
  'hugind/config.init': seed('config.init writes a config for a model', 'Config'),
  'hugind/model.list': seed('model.list gives the repositories that hold a model', 'Model'),
  'hugind/model.show': seed('model.show gives the files of a repository', 'Model'),
  'hugind/model.add': seed('model.add fetches files, with status and progress', 'Model'),
  'hugind/model.remove': seed('model.remove removes files or the repository', 'Model'),
  'hugind/mcp/initialize': seed(
    'initialize is answered, notifications/initialized is silent',
    'MCP Compatibility',
  ),
  'hugind/mcp/tools': seed(
    'tools/list has every method, tools/call gives its result as text',
    'MCP Compatibility',
  ),
  'hugind/mcp/mixed': seed(
    'messages with "jsonrpc":"2.0" are MCP, all others are not, on one pipe',
    'MCP Compatibility',
  ),
  'hugind/mcp/notifications': seed('events are notifications/hugind.* with params.id', 'MCP notifications'),
  'hugind/ours/mcp-eras': ours('both eras of MCP are spoken, by the official client', 'bridge'),
  'hugind/ours/mcp-errors': ours('a tool that fails is a result; an unknown tool is an error', 'bridge'),
  'hugind/ours/mcp-ping': ours('ping is answered', 'bridge'),
  'hugind/ours/cancel': ours('request.cancel and notifications/cancelled call a request off', 'bridge'),
  'hugind/ours/unknown-id': ours('what has no readable id is answered with the id "unknown"', 'contracts'),
  'hugind/ours/ids': ours('ids come back as they were, numbers too', 'bridge'),
  'hugind/ours/concurrent': ours('a download holds up no other request', 'bridge'),
  'hugind/ours/pipelined': ours('1,000 pipelined requests are each answered once', 'must hold'),
  'hugind/ours/long-line': ours('a line of 300 MB gets an error and fills no memory', 'contracts'),
  'hugind/ours/eof': ours('the end of the input ends it, what was asked before is answered', 'contracts'),
  'hugind/ours/sigterm': ours('SIGTERM ends it, a download included', 'contracts'),
  'hugind/ours/usage': ours('a wrong command line is told with exit 2', 'contracts'),
  'hugind/ours/clean-stdout': ours('stdout carries protocol alone, whatever a library prints', 'bridge'),
  'hugind/ours/home': ours('HUGIND_HOME, else XDG, else ~/.hugind', 'contracts'),
  'hugind/ours/hostile-hub': ours(
    'a hub that lies is refused, and nothing outside the store is touched',
    'must hold',
  ),
  'hugind/ours/gated': ours('a gated repository is told as that, with what to do', 'models'),
  'hugind/ours/split': ours('the first part of a split model brings the others; folders are kept', 'models'),
  'hugind/ours/not-yet': ours('what is not there yet says so', 'bridge'),
  'hugind/ours/cli': ours('model and config are nouns of the command line, with --json', 'CLI'),
  'hugind/fault/names': fault(
    'names that lead elsewhere are refused by every method, and nothing changes',
    2,
  ),
  'hugind/fault/token': fault(
    'the token is masked, stored for its owner alone, and sent to the hub alone',
    7,
  ),
  'hugind/fault/folders': fault('files in folders of a repository are fetched and listed', 18),
  'hugind/fault/spliced': fault(
    'a file that changed on the hub is not joined to the part of the old one',
    19,
  ),
  'hugind/fault/not-deleted': fault('a file that is not there is not said to be deleted', 20),
  'hugind/fault/progress': fault('progress is told at most ten times a second', 21),
  'hugind/fault/serial': fault('a request waits only for those it conflicts with', 23),
} as const satisfies Readonly<Record<string, Clause>>;
