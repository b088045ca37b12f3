// The content of a write as bytes, in memory that serves for one long content after the other.

import { decodeBytes, type Encoding, readBase64 } from '../encoding.js';

/** A shorter content is not worth it. */
const LONG_CHARS = 64 * 1024;
/** What is kept for the next one. A longer content has memory of its own. */
export const KEPT_CONTENT_BYTES = 2 * 1024 * 1024;

/** Away while a write has it; those beside it have memory of their own. */
let spare: Buffer | undefined;

/** `work` keeps nothing of the bytes when it is done: they are written over by the next. A new megabyte for each keeps the collector busy. */
export async function withContent<T>(
  text: string,
  encoding: Encoding,
  field: string,
  work: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  const exact = encoding === 'base64' ? readBase64(text, field) : text;
  const size = text.length < LONG_CHARS ? 0 : Buffer.byteLength(exact, encoding);
  if (size < LONG_CHARS || size > KEPT_CONTENT_BYTES) return await work(decodeBytes(text, encoding, field));
  const room = takeRoom(size);
  try {
    return await work(room.subarray(0, room.write(exact, encoding)));
  } finally {
    if (room.length > (spare?.length ?? 0)) spare = room;
  }
}

function takeRoom(size: number): Buffer {
  const room = spare;
  if (room === undefined || room.length < size) return Buffer.allocUnsafeSlow(size);
  spare = undefined;
  return room;
}
