// The clauses of REXD v1 about what is allowed: roots, commands, limits, audit, errors, and what ours adds, a sandbox.

import type { Clause } from './clause.js';

const AUDIT = 'rexd-v1 "Audit log (recommended)"';
const POLICY = 'rexd-v1 "Command execution policy", "Phase 3 (polish)"';
const SANDBOX = 'hawser "sandbox"';

export const rexdGuard = {
  'rexd/audit/entries': {
    text: 'every request is one entry with timestamp, session_id, client_name, method, params and a summary of the result; refused ones have the error',
    source: AUDIT,
  },
  'rexd/audit/client': {
    text: 'an entry names the client of its own session, also when a connection has several, and when it is closed',
    source: AUDIT,
  },
  'rexd/audit/exit-code': { text: 'the exit code of every program is in the audit log', source: AUDIT },
  'rexd/audit/redacted': {
    text: 'contents, input, values of variables and secrets on command lines are never in the audit log, whatever they are',
    source: AUDIT,
  },
  'rexd/audit/file': {
    text: 'the audit log is readable by its owner only, and rotated when it has its size',
    source: AUDIT,
  },
  'rexd/audit/untouched': {
    text: 'an audit log and a configuration inside a root are neither read nor changed by any fs method',
    source: 'hawser "what the server keeps for itself"',
  },
  'rexd/policy/allow': {
    text: 'with a list of allowed commands nothing else runs: unauthorized, with the rule and the reason',
    source: POLICY,
  },
  'rexd/policy/deny': {
    text: 'what is denied by its argv does not run, in a shell, behind a wrapper or on a terminal',
    source: POLICY,
  },
  'rexd/policy/classes': {
    text: 'commands are read-only, write, privileged or shell, and only those of the allowed classes run',
    source: POLICY,
  },
  'rexd/policy/sudo': { text: 'under sudo only what is on its list runs', source: POLICY },
  'rexd/policy/user': {
    text: 'a command runs as the user that rexd runs as',
    source: 'rexd-v1 "Command execution policy"',
  },
  'rexd/limits/lowered': {
    text: 'each of the six limits can be lowered by a session, and what it lowers is held to',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/roots/none': {
    text: 'a server without roots allows no path: neither files nor a working directory, and never "/"',
    source: 'rexd-v1 "Allowlisted workspace roots (required)", "Opinionated Defaults"',
  },
  'rexd/roots/slash': {
    text: '"/" is a root when it is asked for: files, folders and commands work anywhere',
    source: 'rexd-v1 "Allowlisted workspace roots (required)"',
  },
  'rexd/roots/hard-links': {
    text: 'with security.hard_links = "refuse" a file with several names is neither read nor written in place: -32002, reason hard_link',
    source: 'hawser "hard links"',
  },
  'rexd/roots/session': {
    text: 'the roots of a session hold for its files, its cwd and its commands, whatever the server allows others',
    source: 'rexd-v1 "Session Model", "Allowlisted workspace roots (required)"',
  },
  'rexd/session/unguessable': {
    text: 'the ids of sessions, processes and terminals cannot be guessed from those one has been given',
    source: 'rexd-v1 "Session Model"',
  },
  'rexd/session/isolation': {
    text: 'no session can name a terminal or a process of another, nor can another connection name a session',
    source: 'rexd-v1 "Session Model"',
  },
  'rexd/errors/every-code': {
    text: 'each of the ten codes is answered for what it is called, with a message and structured data',
    source: 'rexd-v1 "Standard error codes (v1)"',
  },
  'rexd/errors/example': {
    text: 'the example of an error is answered as printed: -32002 with path and allowed_roots',
    source: 'rexd-v1 "Errors"',
  },
  'rexd/errors/parse': {
    text: 'a line that is no JSON or no UTF-8 is answered -32700 with the byte where it goes wrong, and nothing of it',
    source: 'rexd-v1 "Encoding"',
  },
  'rexd/messages/event': {
    text: 'an event is a notification: jsonrpc, method and params, and no id',
    source: 'rexd-v1 "Message Types", "Event Streaming"',
  },
  'rexd/encoding/batch': {
    text: 'a batch is answered by one array with an answer for each request of it, and none for its notifications',
    source: 'rexd-v1 "Encoding"',
  },
  'rexd/encoding/line-limit': {
    text: 'a line of many mebibytes is served; one beyond all measure is refused and is not the end',
    source: 'rexd-v1 "Safe by default"',
  },
  'rexd/session.open/requested-capabilities': {
    text: 'a capability that is requested and not there is refused as unsupported_capability, naming it',
    source: 'rexd-v1 "session.open", "Standard error codes (v1)"',
  },
  'rexd/example/read-file': {
    text: 'the third of the minimal API examples works as printed',
    source: 'rexd-v1 "Minimal API Examples" 3',
  },
  'rexd/example/write-file': {
    text: 'the fourth of the minimal API examples works as printed',
    source: 'rexd-v1 "Minimal API Examples" 4',
  },
  'rexd/config/example': {
    text: 'the configuration that is printed is taken as it is, and its values are in force',
    source: 'rexd-v1 "Configuration (Remote rexd)"',
  },
  'rexd/defaults': {
    text: 'without a configuration: 30 s, at most 5 min, 1 MiB of output, argv unless a shell is asked for, no root',
    source: 'rexd-v1 "Opinionated Defaults (Recommended)"',
  },
  'rexd/shell/audited': {
    text: 'shell is false unless it is asked for, and when it is the audit log says so',
    source: 'rexd-v1 "exec.start" notes',
  },
  'rexd/sandbox/reported': {
    text: 'the capability "sandbox" is there when commands run in one, and only then',
    source: SANDBOX,
  },
  'rexd/sandbox/files': {
    text: 'in the sandbox only the roots of the session can be written, and /tmp is its own',
    source: SANDBOX,
  },
  'rexd/sandbox/transparent': {
    text: 'cwd, variables, pipes, exit codes, signals, input and terminals are as without a sandbox',
    source: SANDBOX,
  },
  'rexd/sandbox/ends': {
    text: 'kill, timeout, session.close and the death of the server end all that runs in a sandbox, with the same grace',
    source: SANDBOX,
  },
  'rexd/sandbox/isolated': {
    text: 'in the sandbox no process of another command can be seen, and no rights can be gained',
    source: SANDBOX,
  },
  'rexd/sandbox/network': { text: 'without network = true there is none', source: SANDBOX },
  'rexd/sandbox/required': {
    text: 'a server that must have a sandbox and cannot does not start, and says why; one that may says so and goes on',
    source: SANDBOX,
  },
} as const satisfies Record<string, Clause>;
