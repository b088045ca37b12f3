// The clauses of REXD v1 about commands: exec.* and its events.

import type { Clause } from './clause.js';

export const rexdExec = {
  'rexd/exec.start/result': {
    text: 'exec.start answers process_id and started_at, a timestamp',
    source: 'rexd-v1 "exec.start"',
  },
  'rexd/exec.start/argv': {
    text: 'argv is run as it is, with no shell between; without it, or with command alone, -32602',
    source: 'rexd-v1 "exec.start", "Command execution policy"',
  },
  'rexd/exec.start/shell': {
    text: 'command is read by a shell when shell is true, and only then; login asks for a login shell',
    source: 'rexd-v1 "exec.start"',
  },
  'rexd/exec.start/shell-disabled': {
    text: 'with allow_shell = false a shell command is refused as unsupported_capability, naming the shell',
    source: 'rexd-v1 "Command execution policy", "Standard error codes"',
  },
  'rexd/exec.start/cwd': {
    text: 'cwd is the first root, or what was asked for, relative to it',
    source: 'rexd-v1 "exec.start", "Allowlisted workspace roots"',
  },
  'rexd/exec.start/cwd-outside': {
    text: 'a cwd outside the roots, also through a symbolic link, is refused as forbidden_path with the allowed roots',
    source: 'rexd-v1 "Allowlisted workspace roots", "Errors"',
  },
  'rexd/exec.start/env': {
    text: 'env is merged over the usual variables; nothing else of the server reaches the command',
    source: 'hawser "secrets"',
  },
  'rexd/exec.start/stdin': {
    text: 'stdin, also the empty one, is all the input there is; absent, the input stays open for exec.input',
    source: 'rexd-v1 "exec.start"; hawser "rexd stdin"',
  },
  'rexd/exec.start/timeout': {
    text: 'timeout_ms, else default_timeout_ms, and never more than hard_timeout_ms, ends the process with its tree',
    source: 'rexd-v1 "exec.start", "Limits"',
  },
  'rexd/exec.start/max-output': {
    text: 'output up to max_output_bytes is delivered to the byte; one more ends the process, flagged, and not as timed out',
    source: 'rexd-v1 "exec.start", "Limits"',
  },
  'rexd/exec.start/max-output-downward': {
    text: 'a request can lower max_output_bytes and never raise it',
    source: 'rexd-v1 "Limits"',
  },
  'rexd/exec.start/max-processes': {
    text: 'one process more than max_processes_per_session is refused as resource_limit, with the limit and its value',
    source: 'rexd-v1 "Limits", "Standard error codes"',
  },
  'rexd/exec.start/detach': {
    text: 'detach is honoured, or refused as unsupported_capability where allow_detach = false, never ignored',
    source: 'rexd-v1 "exec.start"; hawser "rexd disconnect"',
  },
  'rexd/exec.start/real-pipes': {
    text: 'a command can open /dev/stdout and /dev/stderr',
    source: 'hawser "rexd traps"',
  },
  'rexd/exec.error/launch': {
    text: 'a program that cannot be started is answered with the reason, and exec.error tells of the same process_id',
    source: 'rexd-v1 "exec.start" events',
  },
  'rexd/exec.wait/result': {
    text: 'exec.wait answers status, exit_code, signal, bytes_stdout and bytes_stderr',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/exec.wait/running': {
    text: 'when its timeout_ms is over first, the status is running and exit_code null',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/exec.wait/poll': {
    text: 'exec.wait with a timeout of 0 says at once how the process stands',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/exec.wait/late': {
    text: 'how a process ended can be asked for after its end, by as many as like',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/exec.wait/statuses': {
    text: 'exited, killed and timed_out tell three ends apart, and no killed process has exit code 0',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/exec.kill/default': {
    text: 'exec.kill sends TERM to the process and all that descends from it, and KILL to who stays',
    source: 'rexd-v1 "exec.kill"',
  },
  'rexd/exec.kill/signals': {
    text: 'every signal has its name, with and without SIG; an unknown one is -32602 and sends nothing',
    source: 'rexd-v1 "exec.kill"',
  },
  'rexd/exec.input/data': {
    text: 'exec.input reaches the stdin of the process and answers the bytes taken; eof ends it',
    source: 'rexd-v1 "exec.input"',
  },
  'rexd/exec.input/closed': {
    text: 'input for a process that takes none is refused with a reason',
    source: 'rexd-v1 "exec.input"',
  },
  'rexd/exec.output/shape': {
    text: 'exec.stdout and exec.stderr carry session_id, process_id, seq, data and encoding',
    source: 'rexd-v1 "Event: exec.stdout"',
  },
  'rexd/exec.output/exact': {
    text: 'output arrives byte by byte as written: no newline added, no carriage return taken',
    source: 'rexd-v1 "Event: exec.stdout"',
  },
  'rexd/exec.output/prompt': {
    text: 'output without a newline arrives at once',
    source: 'rexd-v1 "exec.start" events',
  },
  'rexd/exec.output/binary': {
    text: 'what is not UTF-8 travels as base64; what is, is never cut inside a character',
    source: 'rexd-v1 "Open Questions" 1',
  },
  'rexd/exec.output/long-lines': {
    text: 'no line of the server reaches 1 MiB, however long the lines of the command are',
    source: 'rexd-v1 "Encoding"',
  },
  'rexd/exec.output/complete': {
    text: 'nothing is lost: many lines arrive whole and in order, in few events, and so do many commands',
    source: 'rexd-v1 "Event ordering"',
  },
  'rexd/exec.output/slow-reader': {
    text: 'a client that does not read slows the command down; the memory of the server stays flat and nothing is dropped',
    source: 'rexd-v1 "Safe by default"',
  },
  'rexd/events/seq': {
    text: 'seq counts from 1 without gaps for each stream of each process',
    source: 'rexd-v1 "Event ordering"',
  },
  'rexd/events/after-reply': {
    text: 'the answer that names a process comes before its first event',
    source: 'rexd-v1 "Start command"',
  },
  'rexd/exec.exit/shape': {
    text: 'exec.exit carries exit_code, signal, timed_out, duration_ms, bytes_stdout and bytes_stderr',
    source: 'rexd-v1 "Event: exec.exit"',
  },
  'rexd/exec.exit/terminal': {
    text: 'exec.exit comes exactly once and last, however the process ended',
    source: 'rexd-v1 "Event ordering"',
  },
  'rexd/exec.exit/background': {
    text: 'a background process that holds the output does not hold back exec.exit',
    source: 'rexd-v1 "Event ordering"',
  },
  'rexd/session.close/kills': {
    text: "closing a session ends its processes with their trees, and with no other session's",
    source: 'rexd-v1 "session.close"',
  },
  'rexd/session.info/processes': {
    text: 'session.info counts the processes that run',
    source: 'rexd-v1 "session.info"',
  },
  'rexd/lifetime/eof': {
    text: 'the end of the input ends the server and every process with its tree, those just being started too',
    source: 'rexd-v1 "Open Questions" 2',
  },
  'rexd/lifetime/sigterm': {
    text: 'SIGTERM ends the server and every process with its tree',
    source: 'rexd-v1 "Open Questions" 2',
  },
  'rexd/lifetime/sigkill': {
    text: 'a server that is killed leaves no process behind for longer than 5 s',
    source: 'rexd-v1 "Open Questions" 2',
  },
  'rexd/exec/isolation': {
    text: 'no session can wait for, kill, feed or read the process of another: -32005',
    source: 'rexd-v1 "Session Model", "Standard error codes"',
  },
  'rexd/exec/concurrent': {
    text: 'a request that waits keeps no other waiting: exec.kill behind exec.wait is served at once',
    source: 'rexd-v1 "exec.wait"',
  },
  'rexd/exec.read/range': {
    text: 'any part of the output can be read by offset, while the process runs and after',
    source: 'hawser "rexd disconnect"',
  },
  'rexd/example/start-command': {
    text: 'the second of the minimal API examples works as printed',
    source: 'rexd-v1 "Minimal API Examples" 2',
  },
} as const satisfies Record<string, Clause>;
