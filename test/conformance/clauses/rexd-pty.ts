// The clauses of REXD v1 about terminals.

import type { Clause } from './clause.js';

export const rexdPty = {
  'rexd/pty/capability': {
    text: 'a server that opens terminals says so in its capabilities',
    source: 'rexd-v1 "PTY Support", "Protocol Version"',
  },
  'rexd/pty.open/result': {
    text: 'the answer has pty_id and process_id, and comes before every event of the terminal',
    source: 'rexd-v1 "pty.open"',
  },
  'rexd/pty.open/program': {
    text: 'argv, or command with shell: true, and nothing else, as in exec.start; login asks for a login shell',
    source: 'rexd-v1 "pty.open"',
  },
  'rexd/pty.open/terminal': {
    text: 'the program has a terminal: it is its controlling one, of a usable TERM and of the size asked for',
    source: 'rexd-v1 "pty.open", "PTY Support"',
  },
  'rexd/pty.open/term': {
    text: 'TERM is usable whatever the server itself has or has not; only env of the request changes it',
    source: 'rexd-v1 "pty.open", "SSH stdio"',
  },
  'rexd/pty.open/cwd': {
    text: 'the program runs in cwd, which must be within the allowed roots',
    source: 'rexd-v1 "pty.open", "Allowlisted workspace roots"',
  },
  'rexd/pty.open/env': {
    text: 'env is added to the environment and does not replace it',
    source: 'rexd-v1 "pty.open"',
  },
  'rexd/pty.open/timeout': {
    text: 'after timeout_ms, or hard_timeout_ms where it was set, all that runs on the terminal is ended, and pty.exit says why',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/pty.open/limit': {
    text: 'terminals count among max_processes_per_session',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/pty.open/fails': {
    text: 'a program that cannot be started is refused, and leaves no terminal behind',
    source: 'rexd-v1 "pty.open", "Errors"',
  },
  'rexd/pty.input/keys': {
    text: 'what is sent is typed into the terminal: lines, control keys, any bytes',
    source: 'rexd-v1 "pty.input"',
  },
  'rexd/pty.input/not-read': {
    text: 'keys that no program reads keep nobody waiting for ever, and more than can be held are refused',
    source: 'rexd-v1 "pty.input", "Standard error codes"',
  },
  'rexd/pty.resize/size': {
    text: 'the program is told of the new size; a size no terminal can have is refused',
    source: 'rexd-v1 "pty.resize"',
  },
  'rexd/pty.close/ends': {
    text: 'closing ends what runs on the terminal, and pty.exit is still sent',
    source: 'rexd-v1 "pty.close"',
  },
  'rexd/pty.close/keep': {
    text: 'with kill: false only the terminal is closed: the program is hung up and decides, and pty.exit tells its end',
    source: 'rexd-v1 "pty.close"',
  },
  'rexd/pty/signals': {
    text: 'exec.kill sends any signal to what runs on a terminal, and exit_code is a number whatever ended it',
    source: 'rexd-v1 "exec.kill", "PTY Events"',
  },
  'rexd/pty/drop-in': {
    text: 'the calls of clients that exist are understood: argv with env, command with shell, cols, rows and login',
    source: 'rexd-v1 "pty.open", "Runtime-agnostic"',
  },
  'rexd/pty/not-found': {
    text: 'a pty_id that is unknown, has ended or is of another session is answered process_not_found',
    source: 'rexd-v1 "Standard error codes"',
  },
  'rexd/pty.output/shape': {
    text: 'pty.output has session_id, pty_id, process_id, seq from 1 without gaps, data and encoding',
    source: 'rexd-v1 "PTY Events", "Event ordering"',
  },
  'rexd/pty.output/at-once': {
    text: 'output is sent as it comes, without waiting for the end of a line',
    source: 'rexd-v1 "PTY Events"',
  },
  'rexd/pty.output/exact': {
    text: 'every byte is delivered, in order: carriage returns, what is not text, the last words before the end',
    source: 'rexd-v1 "PTY Events"',
  },
  'rexd/pty.output/borders': {
    text: 'text is cut between characters, bytes that are no text travel as base64, and text after them as text again',
    source: 'rexd-v1 "PTY Events", "Character encoding"',
  },
  'rexd/pty.input/large': {
    text: 'a long paste arrives whole, however slowly the program reads',
    source: 'rexd-v1 "pty.input"',
  },
  'rexd/pty.output/slow-client': {
    text: 'a client that does not read makes the program wait; nothing is lost',
    source: 'rexd-v1 "PTY Events"',
  },
  'rexd/pty.exit/last': {
    text: 'pty.exit comes once and last, with a numeric exit_code, the signal if there was one and duration_ms',
    source: 'rexd-v1 "PTY Events", "Event ordering"',
  },
  'rexd/pty/process': {
    text: 'the process_id of a terminal is known to exec.list, exec.wait, exec.read, exec.input and exec.kill',
    source: 'rexd-v1 "pty.open", "exec.wait"',
  },
  'rexd/pty/waiting': {
    text: 'exec.wait and exec.list tell when the program waits for something to be typed, and only then',
    source: 'rexd-v1 "PTY Support"',
  },
  'rexd/pty/session-close': {
    text: 'terminals end with their session and with the connection',
    source: 'rexd-v1 "session.close"',
  },
  'rexd/pty/descriptors': {
    text: '500 terminals, one after the other and many at once, leave no descriptor and no process behind',
    source: 'rexd-v1 "Low remote footprint"',
  },
} as const satisfies Record<string, Clause>;
