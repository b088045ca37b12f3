// The bytes of a file as a string in a line of JSON, made chunk by chunk while the chunks before are on their way.

import type { LongPiece } from '../../wire/ndjson/pieces.js';
import { escapeInto, MAX_ESCAPED_RATIO } from '../../wire/jsonrpc/json-string.js';

/** About what a pipe takes at once. */
const CHUNK_BYTES = 64 * 1024;
/** Escaped at once, with room for the worst case: little enough for the processor to keep at hand. */
const TEXT_SLICE_BYTES = 8192;
/** A multiple of three: what base64 makes of the slices is then what it makes of the whole. */
const BASE64_SLICE_BYTES = 48 * 1024;
/** No character of a string takes more bytes. */
const MAX_CHARACTER_BYTES = 3;

export interface Content {
  /** Left alone until `onMade`. */
  readonly bytes: Buffer;
  readonly onMade?: () => void;
}

/** The bytes must be valid UTF-8; `head` and `tail` are JSON already. */
export function textPiece(head: string, content: Content, tail: string): LongPiece {
  return {
    length: head.length + content.bytes.length + tail.length,
    chunks: textChunks(head, content, tail),
  };
}

export function base64Piece(head: string, content: Content, tail: string): LongPiece {
  const length = head.length + Math.ceil(content.bytes.length / 3) * 4 + tail.length;
  return { length, chunks: base64Chunks(head, content, tail) };
}

function* textChunks(head: string, { bytes, onMade }: Content, tail: string): Generator<Buffer> {
  const most = TEXT_SLICE_BYTES * MAX_ESCAPED_RATIO;
  yield* filled(head, tail, most, bytes.length, TEXT_SLICE_BYTES, (from, chunk, at) =>
    escapeInto(bytes.subarray(from, from + TEXT_SLICE_BYTES), chunk, at),
  );
  onMade?.();
}

function* base64Chunks(head: string, { bytes, onMade }: Content, tail: string): Generator<Buffer> {
  yield* filled(head, tail, CHUNK_BYTES, bytes.length, BASE64_SLICE_BYTES, (from, chunk, at) => {
    const text = bytes.toString('base64', from, from + BASE64_SLICE_BYTES);
    return at + chunk.write(text, at, 'latin1');
  });
  onMade?.();
}

/** Left by the last that was made; a chunk is lent only until the next. */
let spare: Buffer | undefined;

/** One slice after the other into the same chunk, which is given away whenever it is full. A slice takes `most` at the most. */
function* filled(
  head: string,
  tail: string,
  most: number,
  length: number,
  sliceBytes: number,
  write: (from: number, chunk: Buffer, at: number) => number,
): Generator<Buffer> {
  const ends = (head.length + tail.length) * MAX_CHARACTER_BYTES;
  const room = CHUNK_BYTES + most + ends;
  const chunk = spare !== undefined && spare.length >= room ? spare : Buffer.allocUnsafeSlow(room);
  spare = undefined;
  let at = chunk.write(head, 0, 'utf8');
  for (let from = 0; from < length; from += sliceBytes) {
    at = write(from, chunk, at);
    if (at < CHUNK_BYTES) continue;
    yield chunk.subarray(0, at);
    at = 0;
  }
  at += chunk.write(tail, at, 'utf8');
  yield chunk.subarray(0, at);
  spare = chunk;
}
