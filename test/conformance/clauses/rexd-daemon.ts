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
  'rexd/http/disconnect': {
    text: 'a client that leaves in the middle of exec.wait ends that call and nothing else',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/http/idle': {
    text: 'a session nobody uses expires, and what it runs ends; one that is waited for does not',
    source: 'rexd-v1 "HTTP mode", "Process lifetime across disconnects"',
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
