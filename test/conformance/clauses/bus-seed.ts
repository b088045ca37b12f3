// The clauses of the stdio Bus seed: every SHALL, MUST, SHOULD and MAY of it.

import type { Clause } from './clause.js';

const EVERY = ['unix', 'tcp', 'stdio'] as const;
const SOCKETS = ['unix', 'tcp'] as const;
const seed = (text: string, section: string, more: Partial<Clause> = {}): Clause => ({
  text,
  source: `stdio-bus "${section}"`,
  ...more,
});

export const busSeed = {
  'bus/3.1/config': seed('the configuration is read from a JSON file at start-up', '3.1'),
  'bus/3.1/spawn': seed('workers are started and watched as the pools define them', '3.1'),
  'bus/3.1/modes': seed('clients are accepted by each of the three modes', '3.1', { transports: EVERY }),
  'bus/3.1/routes': seed('messages are routed between clients and workers', '3.1', { transports: EVERY }),
  'bus/3.1/non-blocking': seed('no client and no worker that waits holds up another', '3.1'),
  'bus/3.1/shutdown': seed('SIGTERM and SIGINT are a graceful shutdown', '3.1', { transports: EVERY }),
  'bus/3.2/connects': seed('a client connects by stdio, a unix socket or TCP', '3.2', { transports: EVERY }),
  'bus/3.2/ndjson': seed('a client sends lines of JSON', '3.2'),
  'bus/3.2/many-sessions': seed('a client may have several sessions', '3.2'),
  'bus/3.2/identity': seed('a connection is one client: a later one is never taken for it', '3.2', {
    transports: SOCKETS,
  }),
  'bus/3.3/pipes': seed('a worker is a child process with its stdin and stdout as pipes', '3.3'),
  'bus/3.3/reads': seed('a worker reads lines of JSON', '3.3'),
  'bus/3.3/writes': seed('a worker writes lines of JSON', '3.3'),
  'bus/3.3/stderr': seed('what a worker writes to stderr reaches no client', '3.3', { transports: EVERY }),
  'bus/3.3/sigterm': seed('a worker is asked to end by SIGTERM', '3.3'),
  'bus/3.3/id': seed('a worker has an integer that no other worker has', '3.3'),
  'bus/3.4/id': seed('a session is named by the string sessionId', '3.4'),
  'bus/3.4/one-worker': seed('a session is bound to exactly one worker', '3.4', { transports: EVERY }),
  'bus/3.4/one-owner': seed('a session is owned by exactly one client', '3.4'),
  'bus/3.4/worker-exit': seed('a session ends when its worker exits', '3.4'),
  'bus/3.4/owner-leaves': seed('a session ends when its owner disconnects', '3.4', { transports: SOCKETS }),
  'bus/3.5/id': seed('a request has an id: it is answered once, under that id', '3.5'),
  'bus/3.5/method': seed('a request has a method', '3.5'),
  'bus/3.5/session': seed('a request may have a sessionId', '3.5'),
  'bus/3.5/params': seed('a request may have params, and may have none', '3.5'),
  'bus/4.1.1/default': seed('stdio is the mode when none is named', '4.1.1', { transports: ['stdio'] }),
  'bus/4.1.1/unix': seed('--unix serves many clients by a unix socket', '4.1.1'),
  'bus/4.1.1/tcp': seed('--tcp serves many clients by TCP', '4.1.1', { transports: ['tcp'] }),
  'bus/4.1.2/one-client': seed('in stdio mode there is exactly one client', '4.1.2', {
    transports: ['stdio'],
  }),
  'bus/4.1.2/many-clients': seed('in socket modes there are many clients at once', '4.1.2', {
    transports: SOCKETS,
  }),
  'bus/4.1.2/stays-open': seed('a connection stays open until a side closes it', '4.1.2'),
  'bus/4.2.1/ndjson': seed('a message is one line', '4.2.1', { transports: EVERY }),
  'bus/4.2.1/object': seed('a message is a JSON object', '4.2.1'),
  'bus/4.2.1/newline': seed('a message ends in a newline', '4.2.1'),
  'bus/4.2.1/json-rpc': seed('messages should be JSON-RPC 2.0 and are served when they are not', '4.2.1'),
  'bus/4.2.2/id': seed('id, a string or a number, joins an answer to its request', '4.2.2'),
  'bus/4.2.2/session': seed('sessionId keeps messages on one worker', '4.2.2'),
  'bus/4.2.2/method': seed('method says that a message is a request or a notification', '4.2.2'),
  'bus/4.2.2/minimal': seed('nothing but the routing fields is validated', '4.2.2'),
  'bus/4.2.3/ndjson': seed('answers of workers are forwarded as lines', '4.2.3'),
  'bus/4.2.3/newline': seed('every answer ends in a newline', '4.2.3', { transports: EVERY }),
  'bus/4.2.3/unmodified': seed('not one byte of a message is changed, either way', '4.2.3', {
    transports: EVERY,
  }),
  'bus/4.3/bad-json': seed('what is no JSON closes the connection', '4.3', { transports: EVERY }),
  'bus/4.3/no-routing-field': seed(
    'a message without a routing field is logged and closes the connection',
    '4.3',
  ),
} as const satisfies Readonly<Record<string, Clause>>;
