// The clauses of REXD v1 about ends: of an input, of whoever would like to have none, and what is not a server's to end.

import type { Clause } from './clause.js';

export const rexdEnds = {
  'rexd/exec.input/eof-in-order': {
    text: 'eof comes right behind the data of its request: nothing sent later gets in between, and nobody loses it',
    source: 'rexd-v1 "exec.input"',
  },
  'rexd/lifetime/no-escape': {
    text: 'no command makes itself a detached process by what it writes in its environment',
    source: 'rexd-v1 "Process lifetime across disconnects"',
  },
  'rexd/lifetime/not-ours': {
    text: 'whatever lies in the folder for temporary files and is not the server’s own is left alone',
    source: 'rexd-v1 "Security"',
  },
} as const satisfies Record<string, Clause>;
