// Answers nobody asked to be long stay short enough for clients that take no line of 1 MiB.

/**
 * Of what an answer carries. 1 MiB is where known clients hang up; the rest is for the
 * envelope, its id and a path of the longest kind.
 */
export const MAX_UNASKED_ANSWER_BYTES = 1024 * 1024 - 32_768;

/** As many of the items as fit, in order. */
export function takeFitting<T>(items: readonly T[], maxBytes = MAX_UNASKED_ANSWER_BYTES): T[] {
  const fits = answerRoom(maxBytes);
  const end = items.findIndex((item) => !fits(item));
  return end === -1 ? [...items] : items.slice(0, end);
}

/** Whether there is room for one more item, measured as the JSON it becomes, with its comma. */
export function answerRoom(maxBytes = MAX_UNASKED_ANSWER_BYTES): (item: unknown) => boolean {
  let left = maxBytes;
  return (item) => {
    left -= Buffer.byteLength(JSON.stringify(item)) + 1;
    return left >= 0;
  };
}

/** How many bytes of text, whole characters all of them, stay within the limit once they are escaped. */
export function fittingTextBytes(text: Uint8Array, maxBytes = MAX_UNASKED_ANSWER_BYTES): number {
  let left = maxBytes;
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if ((byte & 0xc0) !== 0x80) end = at; // a character begins: everything before it fits
    left -= escapedBytes(byte);
    if (left < 0) return end;
  }
  return text.length;
}

function escapedBytes(byte: number): number {
  if (byte === 0x22 || byte === 0x5c) return 2;
  if (byte >= 0x20) return 1;
  return (byte >= 0x08 && byte <= 0x0a) || byte === 0x0c || byte === 0x0d ? 2 : 6;
}
