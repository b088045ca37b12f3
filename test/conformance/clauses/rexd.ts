// The clauses of REXD v1 that the server answers today.

import type { Clause } from './clause.js';

export const rexd = {
  'rexd/encoding/ndjson': {
    text: 'every message is one line of UTF-8 JSON, answered by one line of UTF-8 JSON',
    source: 'rexd-v1 "Encoding"',
  },
  'rexd/encoding/json-rpc': {
    text: 'every answer is a JSON-RPC 2.0 object with a result or an error',
    source: 'rexd-v1 "Encoding"',
  },
  'rexd/messages/response-id': {
    text: 'an answer carries the id of its request',
    source: 'rexd-v1 "Message Types"',
  },
  'rexd/messages/notification': {
    text: 'a message without an id is never answered',
    source: 'rexd-v1 "Message Types"',
  },
  'rexd/version/open-says': {
    text: 'session.open answers protocol "rexd/1", server_version and capabilities',
    source: 'rexd-v1 "Protocol Version"',
  },
  'rexd/session.open/params': {
    text: 'client_name, client_version, workspace_roots and requested_capabilities are taken, each of its type',
    source: 'rexd-v1 "session.open"',
  },
  'rexd/session.open/result': {
    text: 'the answer has session_id, protocol, server_version, capabilities, limits and workspace_roots',
    source: 'rexd-v1 "session.open"',
  },
  'rexd/session.open/roots': {
    text: 'the session is given the preferred roots that lie within the configured ones, and no others',
    source: 'rexd-v1 "session.open", "Allowlisted workspace roots"',
  },
  'rexd/session.open/roots-outside': {
    text: 'roots of which none is allowed are refused as forbidden_path, with the path and the allowed roots',
    source: 'rexd-v1 "Errors", "Allowlisted workspace roots"',
  },
  'rexd/session.open/limits': {
    text: 'the limits in force are answered as positive numbers, the configured ones unless lowered',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/session.open/limits-downward': {
    text: 'a session may lower a limit for itself and can never raise one',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/session.open/max-sessions': {
    text: 'one session more than max_concurrent_sessions is refused as resource_limit',
    source: 'rexd-v1 "Limits", "Errors"',
  },
  'rexd/session.info/result': {
    text: 'session.info tells cwd, running processes, limits and roots of the session',
    source: 'rexd-v1 "session.info"',
  },
  'rexd/session.close/closes': {
    text: 'a closed session is gone: its id is refused from then on and its place is free',
    source: 'rexd-v1 "session.close"',
  },
  'rexd/errors/method-not-found': {
    text: 'an unknown method is answered -32601',
    source: 'rexd-v1 "Standard error codes"',
  },
  'rexd/errors/invalid-params': {
    text: 'params of the wrong shape are answered -32602, and the answer names the field',
    source: 'rexd-v1 "Standard error codes"',
  },
  'rexd/errors/structured': {
    text: 'an error has a numeric code, a message and structured data',
    source: 'rexd-v1 "Errors"',
  },
  'rexd/config/toml': {
    text: 'limits and roots come from the TOML file of the suggested shape',
    source: 'rexd-v1 "Configuration"',
  },
  'rexd/example/open-session': {
    text: 'the first of the minimal API examples works as printed',
    source: 'rexd-v1 "Minimal API Examples" 1',
  },
  'rexd/transport/stdio': {
    text: '`rexd --stdio` serves on its standard streams and ends when its input does',
    source: 'rexd-v1 "Profile B: Local stdio"',
  },
} as const satisfies Record<string, Clause>;
