// One record for a message that passes, when somebody has asked for traces.

import type { Slab } from '../flow/slab.js';
import type { TraceRecord } from '../trace.js';
import type { Core } from './core.js';

/** Of a method or an id in a trace: both are somebody else's text, of any length. */
export const MAX_TRACED_CHARS = 128;

export function traceMessage(
  core: Core,
  slab: Slab,
  bytes: number,
  from: string,
  to: string,
  dropped?: string,
): void {
  const { fields } = core;
  const text = (start: number, end: number): string =>
    slab.bytes.toString('utf8', start, Math.min(end, start + MAX_TRACED_CHARS));
  core.hooks.trace?.({
    from,
    to,
    kind: kindOf(core),
    bytes,
    ...(fields.methodStart >= 0 && { method: text(fields.methodStart + 1, fields.methodEnd - 1) }),
    ...(fields.id.start >= 0 && { id: text(fields.id.start, fields.id.end) }),
    ...(dropped !== undefined && { dropped }),
  });
}

function kindOf({ fields }: Core): TraceRecord['kind'] {
  if (fields.hasError) return 'error';
  if (fields.hasResult) return 'response';
  return fields.id.start < 0 ? 'notification' : 'request';
}
