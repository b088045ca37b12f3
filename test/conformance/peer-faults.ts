// Faults that were seen in another server of the same protocol, and the clauses whose tests prove that ours has them not.

import type { ClauseId } from './kit/verifies.js';

export interface PeerFault {
  readonly what: string;
  readonly clauses: readonly ClauseId[];
}

/** By the part of the protocol. Files and terminals are not here: their clauses were written from their faults. */
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
  'configuration and audit': [
    { what: 'there is no --version', clauses: ['rexd/clients/launch'] },
    {
      what: 'the audit log has neither session, client nor params, and no errors',
      clauses: ['rexd/audit/entries'],
    },
    { what: 'the audit log has whole files in it', clauses: ['rexd/audit/redacted'] },
    { what: 'the audit log can be read by all, and grows for ever', clauses: ['rexd/audit/file'] },
  ],
};
