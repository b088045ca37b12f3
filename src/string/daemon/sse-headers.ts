// The headers of every event stream, beside its type.

import type { ServerResponse } from 'node:http';

const KEPT = { 'Cache-Control': 'no-cache', Connection: 'keep-alive', 'X-Accel-Buffering': 'no' };
const CLOSED = { ...KEPT, Connection: 'close' };

/** `Connection: keep-alive` as the protocol has it, unless the client asked for the opposite. */
export function streamHeaders({ shouldKeepAlive }: ServerResponse): Record<string, string> {
  return shouldKeepAlive ? KEPT : CLOSED;
}
