// The limits of REXD v1 with the defaults its specification recommends.

import { MAX_TIMER_MS } from '../base/deadline.js';
import type { LimitTable } from '../guard/limits.js';

const MIB = 1024 * 1024;
/** A read is answered in one message, so it must fit a string with room for its escapes. */
const MAX_READ_BYTES = 64 * MIB;

export type RexdLimit =
  | 'default_timeout_ms'
  | 'hard_timeout_ms'
  | 'max_output_bytes'
  | 'max_file_read_bytes'
  | 'max_processes_per_session'
  | 'max_concurrent_sessions';

export const REXD_LIMITS: LimitTable<RexdLimit> = {
  default_timeout_ms: {
    default: 30_000,
    unit: 'ms',
    max: MAX_TIMER_MS,
    atMost: 'hard_timeout_ms',
    summary: 'How long a process may run when the request does not say.',
  },
  hard_timeout_ms: {
    default: 300_000,
    unit: 'ms',
    max: MAX_TIMER_MS,
    summary:
      'How long a process may run whatever the request says. One on a terminal or detached is held to it when it is set, not when it is the default.',
  },
  max_output_bytes: {
    default: MIB,
    unit: 'bytes',
    summary: 'How much a process may write to stdout and stderr together.',
  },
  max_file_read_bytes: {
    default: MIB,
    unit: 'bytes',
    max: MAX_READ_BYTES,
    summary: 'How much of a file one read gives.',
  },
  max_processes_per_session: {
    default: 8,
    unit: 'count',
    summary: 'How many processes of a session may run at the same time.',
  },
  max_concurrent_sessions: {
    default: 16,
    unit: 'count',
    summary: 'How many sessions may be open at the same time.',
  },
};
