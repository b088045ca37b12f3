// Server-sent events, out: one event or comment to its exact bytes.

import { LocalError } from '../../base/errors.js';

export interface SseEvent {
  /** The event's type. '' is the same as absent: both mean `message` to a reader. */
  readonly event?: string;
  /** What a reconnecting reader sends back as `Last-Event-ID`. '' is a value: it clears the reader's last id. */
  readonly id?: string;
  readonly data: string;
  /** How long a reader should wait before it reconnects, in milliseconds. */
  readonly retry?: number;
}

export class SseEncodeError extends LocalError {
  override readonly name = 'SseEncodeError';

  constructor(field: string, reason: string) {
    super('sse_unencodable', `an event's ${field} ${reason}`, { facts: { field } });
  }
}

const LINE_BREAK = /\r\n|\r|\n/;
const BREAKS_A_FIELD = /[\r\n\0]/; // a line break would start another field; readers ignore an id that holds NUL

/**
 * Line breaks in `data` are the format's own separators: `\r\n`, `\r` and `\n` all arrive as `\n`, and a lone surrogate
 * as U+FFFD. Everything else arrives as it was sent.
 */
export function encodeEvent(event: SseEvent): Buffer {
  let text = '';
  if (event.event !== undefined && event.event !== '') text += field('event', event.event);
  if (event.id !== undefined) text += field('id', event.id);
  if (event.retry !== undefined) text += `retry: ${checkRetry(event.retry)}\n`;
  for (const line of splitLines(event.data)) text += `data: ${line}\n`;
  return Buffer.from(`${text}\n`, 'utf8');
}

/** A line readers skip. Sent now and then, it keeps proxies from closing a quiet stream. */
export function encodeComment(comment: string): Buffer {
  const lines = splitLines(comment).map((line) => `: ${line}\n`);
  return Buffer.from(`${lines.join('')}\n`, 'utf8');
}

function field(name: 'event' | 'id', value: string): string {
  if (BREAKS_A_FIELD.test(value)) throw new SseEncodeError(name, 'holds a line break or NUL');
  return `${name}: ${value}\n`;
}

function checkRetry(ms: number): number {
  if (!Number.isSafeInteger(ms) || ms < 0) throw new SseEncodeError('retry', 'is not a whole number of ms');
  return ms;
}

function splitLines(text: string): string[] {
  return text.includes('\n') || text.includes('\r') ? text.split(LINE_BREAK) : [text];
}
