// Text on the wire to bytes and back: UTF-8, or base64 where bytes are not text.

import { isUtf8 } from 'node:buffer';
import { RpcError } from '../base/errors.js';
import { INVALID_PARAMS } from '../wire/jsonrpc/message.js';

export type Encoding = 'utf8' | 'base64';

/** The standard alphabet or the one for URLs, padded or not; line breaks are allowed, anything else is not. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Rejects base64 that is none: Buffer would silently leave out what it does not know. */
export function decodeBytes(text: string, encoding: Encoding, field: string): Buffer {
  return encoding === 'utf8' ? Buffer.from(text, 'utf8') : Buffer.from(readBase64(text, field), 'base64');
}

/** Without its line breaks. Throws when it is none. */
export function readBase64(text: string, field: string): string {
  const compact = text.replaceAll(/[\r\n]/g, '');
  if (BASE64.test(compact) && compact.replace(/=+$/, '').length % 4 !== 1) return compact;
  const message = 'is not valid base64';
  throw new RpcError(INVALID_PARAMS, `params.${field}: ${message}`, {
    data: { issues: [{ path: field, message }] },
  });
}

/** In the encoding asked for; when none was, as text if it is text. */
export function encodeBytes(
  bytes: Buffer,
  asked: Encoding | undefined,
): { encoding: Encoding; text: string } {
  const encoding = asked ?? (isUtf8(bytes) ? 'utf8' : 'base64');
  return { encoding, text: bytes.toString(encoding) };
}
