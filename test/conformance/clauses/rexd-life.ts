// The clauses of REXD v1 about the order of events, an input that stays open, and what a server leaves when it ends.

import type { Clause } from './clause.js';

export const rexdLife = {
  'rexd/events/notification': {
    text: 'an event is a JSON-RPC notification: version, method and params, and never an id',
    source: 'rexd-v1 "Event Streaming"',
  },
  'rexd/events/after-batch': {
    text: 'no event of a process comes before the answer that names it, also when that is the answer of a batch',
    source: 'rexd-v1 "Event Streaming", "Message Types"',
  },
  'rexd/exec.input/dev-stdin': {
    text: 'a program can open /dev/stdin, whether its input is given, still open or already at its end',
    source: 'rexd-v1 "exec.start", "exec.input"',
  },
  'rexd/exec.input/large': {
    text: 'input of many megabytes arrives whole, given at the start or written later',
    source: 'rexd-v1 "exec.input"',
  },
  'rexd/exec.input/not-read': {
    text: 'input that no program reads keeps nobody waiting for ever, and more than can be held is refused',
    source: 'rexd-v1 "exec.input", "Standard error codes"',
  },
  'rexd/lifetime/deaf-client': {
    text: 'a client that has closed our input and reads no output: children end within the grace, the server soon after',
    source: 'rexd-v1 "Process lifetime across disconnects"',
  },
  'rexd/lifetime/signals': {
    text: 'TERM, HUP, INT and KILL of the server leave no program running, on a terminal or not, and the first three no file',
    source: 'rexd-v1 "Process lifetime across disconnects"',
  },
  'rexd/lifetime/last-events': {
    text: 'a server that is told to end tells its clients first how their programs ended',
    source: 'rexd-v1 "Event ordering", "Process lifetime across disconnects"',
  },
} as const satisfies Record<string, Clause>;
