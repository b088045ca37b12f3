// pty.*: programs on a terminal, and their events.

import * as z from 'zod/mini';
import { defineEvent, defineMethod } from '../../wire/jsonrpc/method.js';
import { Amount, Encoding, Ok, ProcessId, ProgramParams, PtyId, SessionId, SessionParams } from './fields.js';

const Size = z.int().check(z.gte(1), z.lte(65_535));
const PtyParams = { ...SessionParams, pty_id: PtyId };

export const PtyOpen = defineMethod({
  name: 'pty.open',
  summary: 'Start a program on a terminal; what it shows arrives as pty.output, its end as pty.exit.',
  params: z.object({
    ...SessionParams,
    ...ProgramParams,
    cols: z._default(Size, 120),
    rows: z._default(Size, 32),
    timeout_ms: z.optional(Amount),
  }),
  result: z.object({ pty_id: PtyId, process_id: ProcessId }),
  errors: ['unauthorized', 'forbidden_path', 'process_not_found', 'unsupported_capability', 'resource_limit'],
});

export const PtyInput = defineMethod({
  name: 'pty.input',
  summary: 'Type into the terminal.',
  params: z.object({ ...PtyParams, data: z.string(), encoding: z._default(Encoding, 'utf8') }),
  result: z.object({ accepted_bytes: z.int() }),
  errors: ['process_not_found', 'timeout', 'resource_limit'],
});

export const PtyResize = defineMethod({
  name: 'pty.resize',
  summary: 'Give the terminal another size.',
  params: z.object({ ...PtyParams, cols: Size, rows: Size }),
  result: Ok,
  errors: ['process_not_found'],
});

export const PtyClose = defineMethod({
  name: 'pty.close',
  summary:
    'Close the terminal; what runs on it is hung up, then ended. With kill: false it is only hung up (SIGHUP) and may go on without a terminal, until it ends by itself, by exec.kill or with its session.',
  params: z.object({ ...PtyParams, kill: z._default(z.boolean(), true) }),
  result: Ok,
  errors: ['process_not_found'],
});

const EventParams = { session_id: SessionId, pty_id: PtyId, process_id: ProcessId };

export const PtyOutput = defineEvent({
  name: 'pty.output',
  summary: 'What the terminal shows, as it comes.',
  params: z.object({ ...EventParams, seq: z.int(), data: z.string(), encoding: Encoding }),
});

export const PtyExit = defineEvent({
  name: 'pty.exit',
  summary: 'The program on the terminal has ended; its last event.',
  params: z.object({
    ...EventParams,
    exit_code: z.int(),
    signal: z.nullable(z.string()),
    timed_out: z.boolean(),
    duration_ms: z.int(),
  }),
});
