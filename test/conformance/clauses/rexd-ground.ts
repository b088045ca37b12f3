// The clauses of REXD v1 about the ground that detached processes stand on: what watches over them is out of reach.

import type { Clause } from './clause.js';

const SAFE = 'rexd-v1 "Safe by default"';

export const rexdGround = {
  'rexd/ground/supervisor': {
    text: 'what watches over a detached process runs nothing from a file and has nothing of the environment that a client sent',
    source: SAFE,
  },
  'rexd/ground/environment': {
    text: 'every variable reaches a detached process as it was sent, whatever it is to a shell, in a sandbox and without',
    source: 'rexd-v1 "exec.start"',
  },
  'rexd/ground/timeout-unmarked': {
    text: 'timeout_ms ends a detached process that has cleared its environment, also when the server is gone',
    source: 'rexd-v1 "exec.start"; hawser "rexd disconnect"',
  },
  'rexd/ground/interpreter': {
    text: 'a script whose interpreter is missing is refused with detach as without',
    source: 'rexd-v1 "exec.start"',
  },
  'rexd/ground/withheld': {
    text: 'the folders of the server itself are outside of every root: for files, as a working directory, and in what is listed, copied or moved',
    source: SAFE,
  },
  'rexd/ground/sandboxed-state': {
    text: 'a command in the sandbox sees none of them, and where it could put others in their place nothing is detached',
    source: SAFE,
  },
  'rexd/ground/check': {
    text: '--check says where detached processes are kept, and whether that is in a root',
    source: 'hawser "rexd check"',
  },
} as const satisfies Record<string, Clause>;
