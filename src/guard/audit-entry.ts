// One request as one line of the audit log.

import { redact } from './redact.js';
import { redactText } from './redact-text.js';

/** A longer entry loses its params and its result, in this order, until it fits. */
export const MAX_LINE_BYTES = 64 * 1024;
/** Of a method, a session or a client, as an entry names it. */
export const MAX_NAME_CHARS = 256;
/** Of an error's message. */
export const MAX_MESSAGE_CHARS = 1024;

export interface AuditEntry {
  readonly method: string;
  /** When the request came, in milliseconds since 1970; now, when absent. */
  readonly timeMs?: number;
  readonly sessionId?: string | undefined;
  readonly clientName?: string | undefined;
  /** As they came: redaction happens here, so that no caller can forget it. */
  readonly params?: unknown;
  /** What came out, in short; redacted too. */
  readonly result?: unknown;
  /** Names of fields of the result, beside the usual ones, whose text is counted and not shown. */
  readonly contents?: readonly string[];
  readonly exitCode?: number | null | undefined;
  readonly error?: { readonly code: number | string; readonly message: string } | undefined;
  readonly durationMs?: number | undefined;
}

/** JSON on one line with its line feed. Never throws, whatever the entry holds. */
export function toAuditLine(entry: AuditEntry): string {
  const params = redact(entry.params);
  const result = redact(entry.result, { contents: entry.contents ?? [] });
  const line = write(entry, params, result);
  if (fits(line)) return line;
  const shorter = write(entry, '[too long]', result);
  return fits(shorter) ? shorter : write(entry, '[too long]', '[too long]');
}

function write(entry: AuditEntry, params: unknown, result: unknown): string {
  const { sessionId, clientName, exitCode, error, durationMs } = entry;
  const json = JSON.stringify({
    timestamp: toTimestamp(entry.timeMs),
    ...(sessionId !== undefined && { session_id: shorten(sessionId) }),
    ...(clientName !== undefined && { client_name: shorten(clientName) }),
    method: shorten(entry.method),
    ...(params !== undefined && { params }),
    ...(result !== undefined && { result }),
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(error !== undefined && {
      error: { code: error.code, message: redactText(error.message, MAX_MESSAGE_CHARS) },
    }),
    ...(durationMs !== undefined && { duration_ms: Math.round(durationMs * 1000) / 1000 }),
  });
  // JSON leaves these as they are, but some readers of lines take them for the end of one.
  return `${json.replaceAll(/[\u0085\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

function toTimestamp(timeMs: number | undefined): string {
  const date = new Date(timeMs ?? Date.now());
  return (Number.isNaN(date.getTime()) ? new Date() : date).toISOString();
}

function shorten(text: string): string {
  return redactText(text, MAX_NAME_CHARS);
}

function fits(line: string): boolean {
  return line.length <= MAX_LINE_BYTES && Buffer.byteLength(line) <= MAX_LINE_BYTES;
}
