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
  'rexd/ground/forged-mark': {
    text: 'whatever mark a program below a detached one gives itself, it ends with it; with that of a session it ends with that one too, and takes nobody along but its own',
    source: SAFE,
  },
  'rexd/ground/forged-name': {
    text: 'a program named like the line of another process is ended in its own place, and the other goes on',
    source: SAFE,
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
  'rexd/ground/signal': {
    text: 'any signal reaches a detached process that has cleared its environment',
    source: 'rexd-v1 "exec.kill"',
  },
  'rexd/ground/close': {
    text: 'session.close answers what waits for a detached process at once, and nothing is told of it afterwards',
    source: 'rexd-v1 "session.close", "Event ordering"',
  },
  'rexd/ground/close-while-starting': {
    text: 'a detached process whose start is answered by an error because the session was closed does not run',
    source: 'rexd-v1 "session.close"',
  },
  'rexd/ground/exceeded': {
    text: 'output_limit_exceeded is true only for a process that has exceeded it, also for a later session',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/ground/swept': {
    text: 'the output of a detached process that is no longer kept is process_not_found',
    source: 'rexd-v1 "Error Model"',
  },
  'rexd/ground/shortage': {
    text: 'a detached process is not taken for dead because the server has no descriptor left to look at it',
    source: 'hawser "rexd disconnect"',
  },
  'rexd/ground/watches': {
    text: 'of a detached process that has ended nothing is watched any more',
    source: 'hawser "caps everywhere"',
  },
} as const satisfies Record<string, Clause>;
