// The clauses of REXD v1 about the order of events, an input that stays open, and what a server leaves when it ends.

import type { Clause } from './clause.js';

export const rexdLife = {
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
} as const satisfies Record<string, Clause>;
