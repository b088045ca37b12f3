// The clauses of REXD v1 about processes that outlive their session: exec.start with detach.

import type { Clause } from './clause.js';

export const rexdDetach = {
  'rexd/detach/survives-close': {
    text: 'a detached process outlives session.close, and nothing else of the session does',
    source: 'rexd-v1 "session.close"; hawser "rexd disconnect"',
  },
  'rexd/detach/survives-server': {
    text: 'a detached process outlives the end of the input, SIGTERM and kill -9 of the server',
    source: 'hawser "rexd disconnect"',
  },
  'rexd/detach/events': {
    text: 'while its session lives a detached process is told of as any other: promptly, byte by byte, seq from 1, exit last',
    source: 'rexd-v1 "exec.start" events, "Event ordering"',
  },
  'rexd/detach/found': {
    text: 'a later session finds it by exec.list, reads all of its output to the byte, and learns how it ended',
    source: 'hawser "rexd disconnect"',
  },
  'rexd/detach/killed-later': {
    text: 'a later session can end it, with all that descends from it',
    source: 'hawser "rexd disconnect"',
  },
  'rexd/detach/roots': {
    text: 'a session sees only detached processes whose folder lies in its roots',
    source: 'rexd-v1 "Allowlisted workspace roots", "Session Model"',
  },
  'rexd/detach/timeout': {
    text: 'a detached process has no default timeout; one that was asked for holds, and so does hard_timeout_ms where it was set, also when the server is gone',
    source: 'rexd-v1 "exec.start"; hawser "rexd disconnect"',
  },
  'rexd/detach/max-output': {
    text: 'max_output_bytes holds for a detached process, delivered to the byte, and on the disk when the server is gone',
    source: 'rexd-v1 "Limits"; hawser "rexd disconnect"',
  },
  'rexd/detach/input': {
    text: 'a detached process has the stdin it was given, or none; an open one ends with the session',
    source: 'rexd-v1 "exec.start"; hawser "rexd stdin"',
  },
  'rexd/detach/program': {
    text: 'argv and env reach a detached process as they are, and a program that cannot be started is refused',
    source: 'rexd-v1 "exec.start"',
  },
  'rexd/detach/garbage': {
    text: 'what others put into the folder of detached processes is passed over',
    source: 'rexd-v1 "Safe by default"',
  },
} as const satisfies Record<string, Clause>;
