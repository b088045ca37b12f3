// The times the daemon keeps, with the protocol's own values; a test that cannot wait for them gives shorter ones.

import { PROGRESS_BEAT_MS } from '../../mcp/beat.js';
import { QUEUE_WAIT_TIMEOUT_MS, STREAM_PING_MS } from '../protocol.js';

/** A command that takes longer than this gets its answer begun, and a comment as often, so that nobody gives up on it. */
export const EXEC_KEEP_ALIVE_MS = 15_000;

export interface Waits {
  readonly queueMs: number;
  readonly execKeepAliveMs: number;
  readonly progressBeatMs: number;
  readonly streamPingMs: number;
}

export const WAITS: Waits = {
  queueMs: QUEUE_WAIT_TIMEOUT_MS,
  execKeepAliveMs: EXEC_KEEP_ALIVE_MS,
  progressBeatMs: PROGRESS_BEAT_MS,
  streamPingMs: STREAM_PING_MS,
};
