// The clauses of REXD v1 about the daemon: HTTP, WebSocket and unix socket, who may come in, and what is counted.

import type { Clause } from './clause.js';

export const rexdDaemon = {
  'rexd/http/flag': {
    text: '`rexd --http HOST:PORT` serves whatever the configuration says of stdio and whatever stdin is, and says where it listens',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon"',
  },
  'rexd/http/auth-required': {
    text: 'without a token or client certificates it refuses to start, and says what to do',
    source: 'rexd-v1 "HTTP mode"',
  },
  'rexd/http/token': {
    text: 'a request without the token, or with another, is refused with 401 and -32001, on every route that does something',
    source: 'rexd-v1 "HTTP mode", "Standard error codes"',
  },
  'rexd/http/token-secret': {
    text: 'the token is in no log, no audit entry, no answer and no environment of a command',
    source: 'rexd-v1 "HTTP mode", "Audit log"',
  },
  'rexd/http/mtls': {
    text: 'with an authority for client certificates, only who has one of its certificates comes in',
    source: 'rexd-v1 "HTTP mode"',
  },
  'rexd/http/private': {
    text: 'it listens on loopback unless told otherwise, and elsewhere only with consent and TLS, or behind a proxy',
    source: 'rexd-v1 "HTTP mode"',
  },
  'rexd/http/browser': {
    text: 'a web page gets nothing: foreign Host, foreign Origin, cross-site and wrong Content-Type are refused',
    source: 'rexd-v1 "HTTP mode"',
  },
  'rexd/http/post': {
    text: 'POST carries JSON-RPC payloads directly: requests, ids as they are written, errors, batches',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon"',
  },
  'rexd/http/notification': {
    text: 'a notification is answered by 204 without a body',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon", "Message Types"',
  },
  'rexd/http/wrong-method': {
    text: 'GET of the path of JSON-RPC is answered 405 with Allow',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon"',
  },
  'rexd/http/parse-error': {
    text: 'a body that is no JSON is answered as a parse error of JSON-RPC, and the server goes on',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon", "Errors"',
  },
  'rexd/http/body-cap': {
    text: 'a body past the cap is refused with 413',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/http/exec-survives': {
    text: 'a process started by a POST goes on after its answer, and is waited for, read, fed and killed by later ones',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon", "exec.start"',
  },
  'rexd/http/events': {
    text: 'events of a session that was opened as resumable are fetched by session.events',
    source: 'rexd-v1 "Event Streaming", "Profile C: HTTP(S) daemon"',
  },
  'rexd/http/disconnect': {
    text: 'a client that leaves in the middle of exec.wait ends that call and nothing else',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/http/idle': {
    text: 'a session nobody uses expires, and what it runs ends; one that is waited for does not',
    source: 'rexd-v1 "HTTP mode", "Process lifetime across disconnects"',
  },
  'rexd/ws/messages': {
    text: 'a WebSocket carries one message in each text frame both ways, with events of its own sessions and no others',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon", "Event Streaming"',
  },
  'rexd/ws/one-writer': {
    text: 'requests during streamed output are answered, and no frame is mixed with another',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon"',
  },
  'rexd/ws/slow-reader': {
    text: 'a reader that stops slows the program down; memory stays flat and no byte is lost',
    source: 'rexd-v1 "Event Streaming"',
  },
  'rexd/ws/disconnect': {
    text: 'the end of a WebSocket ends its sessions and what they run',
    source: 'rexd-v1 "Process lifetime across disconnects"',
  },
  'rexd/ws/refused': {
    text: 'a WebSocket without the token, from a web page, or on another path is refused before it is one',
    source: 'rexd-v1 "HTTP mode"',
  },
  'rexd/unix/lines': {
    text: 'a unix socket carries lines as stdio does, for its own user alone, and is taken over only from the dead',
    source: 'rexd-v1 "Transport-agnostic"',
  },
  'rexd/daemon/isolation': {
    text: 'no connection sees or touches the sessions of another',
    source: 'rexd-v1 "Session Model"',
  },
  'rexd/daemon/sigterm': {
    text: 'SIGTERM ends programs, tells their clients, and the server exits 0',
    source: 'rexd-v1 "Profile C: HTTP(S) daemon", "Event ordering"',
  },
  'rexd/daemon/sigkill': {
    text: 'kill -9 of a daemon leaves no program of any client running',
    source: 'rexd-v1 "Process lifetime across disconnects"',
  },
  'rexd/daemon/metrics': {
    text: '/metrics counts requests by method and outcome, sessions, processes, connections and bytes, for whoever may come in',
    source: 'rexd-v1 "Phase 3"',
  },
  'rexd/daemon/health': {
    text: '/health answers anybody, and tells nothing but that it is there',
    source: 'rexd-v1 "Phase 3"',
  },
} as const satisfies Record<string, Clause>;
