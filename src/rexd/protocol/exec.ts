// exec.*: commands without a terminal, and their events.

import * as z from 'zod/mini';
import { defineEvent, defineMethod } from '../../wire/jsonrpc/method.js';
import {
  Amount,
  Encoding,
  MAX_ID_CHARS,
  Ok,
  ProcessId,
  ProcessParams,
  ProgramParams,
  SessionId,
  SessionParams,
} from './fields.js';

export const ExecStart = defineMethod({
  name: 'exec.start',
  summary: 'Start a command; its output arrives as exec.stdout and exec.stderr, its end as exec.exit.',
  params: z.object({
    ...SessionParams,
    ...ProgramParams,
    stdin: z.optional(z.string()),
    stdin_encoding: z._default(Encoding, 'utf8'),
    stdin_open: z._default(z.boolean(), false),
    timeout_ms: z.optional(Amount),
    max_output_bytes: z.optional(Amount),
    detach: z._default(z.boolean(), false),
    /** Chosen by the client: however often it is sent with the same params, the command runs at most once. */
    request_id: z.optional(z.string().check(z.minLength(1), z.maxLength(MAX_ID_CHARS))),
  }),
  result: z.object({
    process_id: ProcessId,
    started_at: z.string(),
    pid: z.int(),
    /** It was started before, by a request with the same request_id. */
    existing: z.optional(z.literal(true)),
  }),
  errors: ['unauthorized', 'forbidden_path', 'process_not_found', 'unsupported_capability', 'resource_limit'],
});

/** `timed_out`: its time was up, whatever ended it then. `killed`: a signal ended it, ours or another's. */
export const ProcessStatus = z.enum(['running', 'exited', 'killed', 'timed_out']);

const ProcessState = {
  status: ProcessStatus,
  exit_code: z.nullable(z.int()),
  signal: z.nullable(z.string()),
  bytes_stdout: z.int(),
  bytes_stderr: z.int(),
  /** Of a program on a terminal, where it can be known: whether it waits for something to be typed. */
  waiting_for_input: z.optional(z.boolean()),
  /** The end was seen, but not how: what watched over it was killed. exit_code is 255 then. */
  exit_code_unknown: z.optional(z.boolean()),
};

export const ExecWait = defineMethod({
  name: 'exec.wait',
  summary:
    'Wait for the end of a process, at most timeout_ms (0: do not wait; absent: default_timeout_ms; never longer than hard_timeout_ms); when the time is up first, the answer says that it is running.',
  params: z.object({ ...ProcessParams, timeout_ms: z.optional(Amount) }),
  result: z.object({
    ...ProcessState,
    timed_out: z.boolean(),
    output_limit_exceeded: z.boolean(),
    duration_ms: z.number(),
  }),
  errors: ['process_not_found'],
});

export const ExecKill = defineMethod({
  name: 'exec.kill',
  summary:
    'Send a signal to a process and all that descends from it; TERM is followed by KILL after a grace.',
  params: z.object({ ...ProcessParams, signal: z._default(z.string(), 'TERM') }),
  result: Ok,
  errors: ['process_not_found'],
});

export const ExecInput = defineMethod({
  name: 'exec.input',
  summary: 'Write to the standard input of a process.',
  params: z.object({
    ...ProcessParams,
    data: z._default(z.string(), ''),
    encoding: z._default(Encoding, 'utf8'),
    eof: z._default(z.boolean(), false),
  }),
  result: z.object({ accepted_bytes: z.int() }),
  errors: ['process_not_found', 'timeout', 'resource_limit'],
});

export const ExecList = defineMethod({
  name: 'exec.list',
  summary: 'The processes of a session: those that run, and those that ended lately.',
  params: z.object({ ...SessionParams }),
  result: z.object({
    processes: z.array(
      z.object({
        process_id: ProcessId,
        argv: z.array(z.string()),
        cwd: z.string(),
        started_at: z.string(),
        detached: z.boolean(),
        pty: z.boolean(),
        ...ProcessState,
      }),
    ),
  }),
  errors: [],
});

export const ExecRead = defineMethod({
  name: 'exec.read',
  summary:
    'Any part of what a process has written, by offset, while it runs and after; waits up to wait_ms for more, so that output can be followed without polling.',
  params: z.object({
    ...ProcessParams,
    stream: z._default(z.enum(['stdout', 'stderr']), 'stdout'),
    offset: z._default(Amount, 0),
    length: z.optional(Amount),
    encoding: z.optional(Encoding),
    /** How long to wait for output from `offset` on when there is none yet; the end of the process ends the wait. */
    wait_ms: z._default(Amount, 0),
  }),
  result: z.object({
    offset: z.int(),
    size: z.int(),
    eof: z.boolean(),
    encoding: Encoding,
    data: z.string(),
  }),
  errors: ['process_not_found', 'output_limit_exceeded'],
});

const OutputParams = z.object({
  session_id: SessionId,
  process_id: ProcessId,
  seq: z.int(),
  data: z.string(),
  encoding: Encoding,
});

export const ExecStdout = defineEvent({
  name: 'exec.stdout',
  summary: 'What the process wrote to its stdout.',
  params: OutputParams,
});
export const ExecStderr = defineEvent({
  name: 'exec.stderr',
  summary: 'What the process wrote to its stderr.',
  params: OutputParams,
});

export const ExecExit = defineEvent({
  name: 'exec.exit',
  summary:
    'The process has ended; its last event. exit_code is 128 and the number of the signal when one ended it.',
  params: z.object({
    session_id: SessionId,
    process_id: ProcessId,
    exit_code: z.int(),
    signal: z.nullable(z.string()),
    timed_out: z.boolean(),
    duration_ms: z.int(),
    bytes_stdout: z.int(),
    bytes_stderr: z.int(),
    output_limit_exceeded: z.boolean(),
    exit_code_unknown: z.optional(z.boolean()),
  }),
});

export const ExecError = defineEvent({
  name: 'exec.error',
  summary: 'The program could not be started: the only event of a process_id that the error answer names.',
  params: z.object({
    session_id: SessionId,
    process_id: ProcessId,
    code: z.int(),
    message: z.string(),
    data: z.unknown(),
  }),
});
