// Faults that were seen in another server of the same protocol, and the clauses whose tests prove that ours has them not.

import type { ClauseId } from './kit/verifies.js';

export interface PeerFault {
  readonly what: string;
  readonly clauses: readonly ClauseId[];
}

/** By the part of the protocol. */
export const peerFaults: Readonly<Record<string, readonly PeerFault[]>> = {
  'messages on the wire': [
    {
      what: 'malformed JSON, an empty line, a batch, a scalar or a method that is no text ends the process',
      clauses: ['rexd/encoding/json-rpc', 'rexd/errors/parse', 'rexd/encoding/batch'],
    },
    { what: 'a wrong jsonrpc member is answered as wrong params', clauses: ['rexd/encoding/json-rpc'] },
    {
      what: 'large ids are rounded, and an id of null is left out of the answer',
      clauses: ['rexd/messages/response-id'],
    },
    { what: 'the last line is dropped when no newline follows', clauses: ['rexd/transport/stdio'] },
    { what: 'a line may be of any length', clauses: ['rexd/encoding/line-limit'] },
    { what: 'bytes that are not UTF-8 are silently replaced', clauses: ['rexd/errors/parse'] },
    { what: 'errors have no data', clauses: ['rexd/errors/example', 'rexd/errors/structured'] },
    {
      what: 'five of the codes are never used, limits are answered as wrong params',
      clauses: ['rexd/errors/every-code', 'rexd/session.open/max-sessions', 'rexd/exec.start/max-processes'],
    },
    {
      what: 'a request that waits blocks all behind it',
      clauses: ['rexd/exec/concurrent', 'rexd/fs/special-files'],
    },
    {
      what: 'events are dropped when the client is slow, and the first ones when it is quick',
      clauses: [
        'rexd/exec.output/complete',
        'rexd/exec.output/slow-reader',
        'rexd/events/after-reply',
        'rexd/events/seq',
      ],
    },
  ],
  sessions: [
    {
      what: 'roots that do not match get all roots',
      clauses: ['rexd/session.open/roots', 'rexd/session.open/roots-outside'],
    },
    { what: 'the roots of a session are not held to', clauses: ['rexd/roots/session'] },
    { what: 'requested capabilities are ignored', clauses: ['rexd/session.open/requested-capabilities'] },
    { what: 'one session too many is answered as wrong params', clauses: ['rexd/session.open/max-sessions'] },
    { what: 'a closed session leaves its processes running', clauses: ['rexd/session.close/kills'] },
    {
      what: 'any session may wait for, feed, read or kill any process',
      clauses: ['rexd/exec/isolation', 'rexd/session/isolation'],
    },
    { what: 'children survive the end of the input', clauses: ['rexd/lifetime/eof'] },
    { what: 'SIGTERM leaves a server that serves nothing', clauses: ['rexd/lifetime/sigterm'] },
    { what: 'children survive a killed server', clauses: ['rexd/lifetime/sigkill'] },
    { what: 'detach changes nothing', clauses: ['rexd/exec.start/detach'] },
  ],
  commands: [
    { what: 'ids can be predicted', clauses: ['rexd/session/unguessable'] },
    { what: 'without roots a command runs in /', clauses: ['rexd/roots/none'] },
    { what: 'env replaces the environment', clauses: ['rexd/exec.start/env'] },
    { what: 'a command that reads its input hangs', clauses: ['rexd/exec.start/stdin'] },
    { what: 'exec.error is never sent', clauses: ['rexd/exec.error/launch'] },
    {
      what: 'a timeout kills at once and the child alone, and is told as killed',
      clauses: ['rexd/exec.start/timeout', 'rexd/exec.wait/statuses'],
    },
    { what: 'a request may raise the output limit', clauses: ['rexd/exec.start/max-output-downward'] },
    {
      what: 'too much output loses a line and is told as a timeout',
      clauses: ['rexd/exec.start/max-output'],
    },
    {
      what: 'newlines are added, carriage returns taken, prompts held back',
      clauses: ['rexd/exec.output/exact', 'rexd/exec.output/prompt'],
    },
    { what: 'a line over 1 MiB stops the output', clauses: ['rexd/exec.output/long-lines'] },
    { what: 'what is not UTF-8 is lost', clauses: ['rexd/exec.output/binary'] },
    {
      what: 'children of the child survive a kill',
      clauses: ['rexd/exec.kill/default', 'rexd/clients/cancel'],
    },
    { what: 'terminals do not count as processes', clauses: ['rexd/pty.open/limit'] },
    {
      what: 'how a process ended is forgotten at once, or told to one only',
      clauses: ['rexd/exec.wait/late'],
    },
    { what: 'every signal but KILL is TERM', clauses: ['rexd/exec.kill/signals'] },
    { what: 'a whole output can be lost', clauses: ['rexd/exec.output/complete'] },
  ],
  files: [
    { what: 'an offset below 0 reads from 0', clauses: ['rexd/fs.read/range'] },
    { what: 'characters are cut at the edges of a range', clauses: ['rexd/fs.read/characters'] },
    {
      what: 'an unknown encoding or mode is taken for the default, missing content for an empty file',
      clauses: ['rexd/fs.read/encoding', 'rexd/fs.write/params'],
    },
    { what: 'mode create overwrites a file', clauses: ['rexd/fs.write/create'] },
    {
      what: 'a replaced file loses its mode and owner, a link becomes a file, remains stay behind, long names fail',
      clauses: ['rexd/fs.write/atomic', 'rexd/fs.write/keeps', 'rexd/fs/hard-links'],
    },
    {
      what: 'expected_mtime is ignored where there is no file, and misses quick writes',
      clauses: ['rexd/fs.write/expected-mtime', 'rexd/fs.write/quick-writes'],
    },
    {
      what: 'a list that was cut off does not say so',
      clauses: ['rexd/fs.list/max-entries', 'rexd/fs/big-tree'],
    },
    { what: 'a name that is not UTF-8 cannot be used', clauses: ['rexd/fs.list/any-name'] },
    {
      what: 'glob knows neither ** nor braces, and counts before it filters',
      clauses: ['rexd/fs.glob/patterns', 'rexd/fs.glob/max-matches'],
    },
    { what: 'a patch that fails leaves half of it done', clauses: ['rexd/fs.patch/all-or-nothing'] },
    {
      what: 'End of File, blank context and hunks without @@ are passed over; the first of several places is taken',
      clauses: ['rexd/fs.patch/clear'],
    },
    {
      what: 'a patch changes line ends, the last newline and the mode',
      clauses: ['rexd/fs.patch/keeps'],
    },
    {
      what: 'a move of a patch overwrites, a delete removes a folder',
      clauses: ['rexd/fs.patch/taken-names'],
    },
    { what: 'links lead out of the roots', clauses: ['rexd/roots/links', 'rexd/roots/dangling-link'] },
    {
      what: 'a temporary name that can be foreseen leads out of the roots',
      clauses: ['rexd/roots/temporary-names'],
    },
    { what: 'writing a root itself leaves a file beside it', clauses: ['rexd/roots/itself'] },
    { what: 'a folder swapped for a link leaks', clauses: ['rexd/roots/swap', 'rexd/roots/swap-soak'] },
    {
      what: 'a hard link is a way out that nothing can close',
      clauses: ['rexd/roots/hard-links', 'rexd/fs/hard-links'],
    },
    { what: 'a root "/" allows nothing but itself', clauses: ['rexd/roots/slash'] },
  ],
  terminals: [
    { what: 'TERM is what the server happens to have', clauses: ['rexd/pty.open/term'] },
    { what: 'login and timeout_ms are ignored', clauses: ['rexd/pty.open/program', 'rexd/pty.open/timeout'] },
    {
      what: 'env replaces the environment of a terminal',
      clauses: ['rexd/pty.open/env'],
    },
    {
      what: 'a prompt is never seen, carriage returns are taken',
      clauses: ['rexd/pty.output/at-once', 'rexd/pty.output/exact'],
    },
    {
      what: 'most of a long output is lost',
      clauses: ['rexd/pty.output/slow-client', 'rexd/pty.output/exact'],
    },
    { what: 'a terminal of 0 columns is made', clauses: ['rexd/pty.resize/size'] },
    {
      what: 'the process of a terminal is unknown to exec.*',
      clauses: ['rexd/pty/process'],
    },
    { what: 'terminals survive their session', clauses: ['rexd/pty/session-close'] },
  ],
  'configuration and audit': [
    { what: 'there is no --version', clauses: ['rexd/clients/launch'] },
    {
      what: 'the audit log has neither session, client nor params, and no errors',
      clauses: ['rexd/audit/entries'],
    },
    { what: 'the audit log has whole files in it', clauses: ['rexd/audit/redacted'] },
    { what: 'the audit log can be read by all, and grows for ever', clauses: ['rexd/audit/file'] },
  ],
  'the daemon': [
    {
      what: '--http is heeded only when the configuration says stdio = false, and ends with stdin',
      clauses: ['rexd/http/flag'],
    },
    {
      what: 'there is no authentication, and Origin, Host and Content-Type are not looked at: any web page runs commands',
      clauses: ['rexd/http/auth-required', 'rexd/http/token', 'rexd/http/browser', 'rexd/ws/refused'],
    },
    {
      what: 'bad JSON and batches are answered 400 without a body, a notification with one',
      clauses: ['rexd/http/post', 'rexd/http/parse-error', 'rexd/http/notification'],
    },
    {
      what: 'a program started by a POST is killed when the POST is answered',
      clauses: ['rexd/http/exec-survives'],
    },
    {
      what: 'any client of a WebSocket watches any session by naming it',
      clauses: ['rexd/ws/messages', 'rexd/daemon/isolation'],
    },
    {
      what: 'requests during streamed output write over each other and drop the connection',
      clauses: ['rexd/ws/one-writer'],
    },
    { what: 'sessions of HTTP and WebSocket never end', clauses: ['rexd/http/idle', 'rexd/ws/disconnect'] },
    { what: 'SIGTERM is an exit code of 1', clauses: ['rexd/daemon/sigterm'] },
  ],
};
