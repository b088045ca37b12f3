// The bytes of a file as a string in a line of JSON, in a buffer that is about as long as the line.

import { escapeInto, MAX_ESCAPED_RATIO } from '../../wire/jsonrpc/json-string.js';

/** Escaped at once, with room for the worst case: little enough for the processor to keep at hand. */
const TEXT_SLICE_BYTES = 8192;
const SLICE_ROOM_BYTES = TEXT_SLICE_BYTES * MAX_ESCAPED_RATIO;
/** A multiple of three: what base64 makes of the slices is then what it makes of the whole. */
const BASE64_SLICE_BYTES = 48 * 1024;
/** What source code grows by when its line ends and quotes are escaped, and a little more. */
const USUAL_GROWTH = 1.125;
/** No character of a string takes more bytes. */
const MAX_CHARACTER_BYTES = 3;

/** `text` must be valid UTF-8; `head` and `tail` are JSON already. */
export function textLine(head: string, text: Uint8Array, tail: string): Buffer {
  const ends = (head.length + tail.length) * MAX_CHARACTER_BYTES;
  let line = Buffer.allocUnsafeSlow(ends + Math.ceil(text.length * USUAL_GROWTH) + SLICE_ROOM_BYTES);
  let at = line.write(head, 0, 'utf8');
  for (let from = 0; from < text.length; from += TEXT_SLICE_BYTES) {
    if (line.length - at < SLICE_ROOM_BYTES + ends) {
      // As it has grown so far, so it will, or less: never more than twice as much as is needed is asked for.
      const rest = Math.ceil((text.length - from) * Math.min(MAX_ESCAPED_RATIO, (at / from) * USUAL_GROWTH));
      const longer = Buffer.allocUnsafeSlow(at + rest + SLICE_ROOM_BYTES + ends);
      line.copy(longer, 0, 0, at);
      line = longer;
    }
    at = escapeInto(text.subarray(from, from + TEXT_SLICE_BYTES), line, at);
  }
  return line.subarray(0, at + line.write(tail, at, 'utf8'));
}

/** The string of a slice is gone before the next is made; one of all the bytes would be there twice. */
export function base64Line(head: string, bytes: Buffer, tail: string): Buffer {
  const ends = (head.length + tail.length) * MAX_CHARACTER_BYTES;
  const line = Buffer.allocUnsafeSlow(ends + Math.ceil(bytes.length / 3) * 4);
  let at = line.write(head, 0, 'utf8');
  for (let from = 0; from < bytes.length; from += BASE64_SLICE_BYTES) {
    at += line.write(bytes.toString('base64', from, from + BASE64_SLICE_BYTES), at, 'latin1');
  }
  return line.subarray(0, at + line.write(tail, at, 'utf8'));
}
