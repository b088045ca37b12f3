// Answers a first request that plainly opens a session, while the server itself is not loaded yet. All else it leaves alone.

import { newId } from '../base/ids.js';
import { decodeLine } from '../wire/jsonrpc/decode.js';
import { encodeResult } from '../wire/jsonrpc/encode.js';
import { describeSession, grantSession } from './grant-session.js';
import { SESSION_OPEN } from './protocol/open-bounds.js';
import { openPlainly } from './protocol/open-plainly.js';
import type { RexdServerOptions } from './server.js';
import type { SessionFacts } from './sessions.js';

/** A first line that is longer is read by the server. */
export const MAX_PLAIN_LINE_BYTES = 4096;
const NEWLINE = 10;

export interface FirstAnswer {
  /** One line, with its end. */
  readonly line: string;
  /** What the server is to open, under the id that was told. */
  readonly opened: SessionFacts & { readonly id: string };
  /** What came behind the request. */
  readonly rest: Buffer;
}

/** Undefined when it is for the server, also whatever is refused. */
export function answerFirst(
  first: Buffer,
  { facts: server, audit }: Pick<RexdServerOptions, 'facts' | 'audit'>,
): FirstAnswer | undefined {
  if (audit !== undefined) return undefined; // the server tells it of every call
  const end = first.indexOf(NEWLINE);
  if (end === -1 || end > MAX_PLAIN_LINE_BYTES) return undefined;
  if (!isPlainText(first, end)) return undefined;
  const message = decodeLine(first.toString('latin1', 0, end), 0);
  if (message.kind !== 'request' || message.method !== SESSION_OPEN) return undefined;
  const params = openPlainly(message.params);
  // What outlives the connection, or changes its bytes, takes the connection itself.
  if (params === undefined || params.resumable === true || params.compression !== undefined) return undefined;
  try {
    const opened = { ...grantSession(params, server), id: newId('s') };
    const line = encodeResult(message.rawId, describeSession(opened, server));
    return typeof line === 'string'
      ? { line: `${line}\n`, opened, rest: first.subarray(end + 1) }
      : undefined;
  } catch {
    return undefined; // the server says why
  }
}

/** What has one meaning in every encoding. */
function isPlainText(bytes: Buffer, end: number): boolean {
  for (let at = 0; at < end; at++) if ((bytes[at] ?? 0) > 0x7e) return false;
  return true;
}
