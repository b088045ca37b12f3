// The clauses of REXD v1 on the JSON-RPC shell, and what another server of the protocol was seen to get wrong there.

import type { Clause } from './clause.js';

export const rexdWire = {
  'rexd/wire/malformed': {
    text: 'what is no JSON-RPC request is answered as such, and every session goes on',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/jsonrpc-member': {
    text: 'a request that does not say jsonrpc "2.0" is an invalid request, answered under its id',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/id-verbatim': {
    text: 'an id comes back as it was written, also a number no double can hold',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/id-null': {
    text: 'a request with the id null is answered with the id null',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/id-of-no-kind': {
    text: 'an id that is neither text, number nor null makes an invalid request, answered without one',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/notifications-silent': {
    text: 'a notification is carried out and never answered, whatever comes of it',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/open-unanswered': {
    text: 'session.open as a notification opens no session, for nobody would know its id',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/many-long-answers': {
    text: 'a client may send hundreds of reads at once: all are answered, and the server does not hold them all in memory',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/batch': {
    text: 'a batch is answered by one line with an answer for each request in it, and none for a notification',
    source: 'rexd-v1 "Encoding"',
  },
  'rexd/wire/batch-bounds': {
    text: 'an empty batch and one that is too long are refused once, as a whole',
    source: 'rexd-v1 "Encoding"',
  },
  'rexd/wire/params-absent': {
    text: 'absent params are no params, and are judged as such',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/last-line': {
    text: 'the last line is served also when the input ends without a newline',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/crlf': {
    text: 'a line may end in CRLF',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/field-names': {
    text: 'names are told apart by their case, and of equal keys the last counts',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/long-line': {
    text: 'a line longer than the server takes is refused without being kept, and the next one is served',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/deep': {
    text: 'a message nested beyond all measure is refused at once, under its id',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/bad-text': {
    text: 'a lone surrogate becomes U+FFFD; bytes that are no UTF-8 are refused, and change nothing',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/not-in-order': {
    text: 'a slow request keeps no other one waiting: answers come as they are ready',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
  'rexd/wire/odd-values': {
    text: 'a value that no field expects is refused as invalid params, never as an internal error',
    source: 'rexd-spec "1. Transport and JSON-RPC shell"',
  },
} as const satisfies Record<string, Clause>;
