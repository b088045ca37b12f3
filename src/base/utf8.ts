// Cutting bytes without cutting characters.

const MAX_TAIL = 3; // an incomplete character is at most three bytes of four

/**
 * How many bytes at the end of `bytes` are the start of a character that is not all there yet (0 to 3). Bytes that
 * can never become a character count as 0: they are not worth waiting for.
 */
export function incompleteTail(bytes: Uint8Array): number {
  const length = bytes.length;
  for (let back = 1; back <= Math.min(MAX_TAIL, length); back++) {
    const byte = bytes[length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // a continuation byte: its lead is further back
    return sequenceLength(byte) > back && canContinue(bytes, length - back, back) ? back : 0;
  }
  return 0;
}

/** The longest prefix of at most `max` bytes that does not end inside a character. */
export function cutAtCharacter(bytes: Uint8Array, max: number): Uint8Array {
  if (bytes.length <= max) return bytes;
  const head = bytes.subarray(0, max);
  return head.subarray(0, max - incompleteTail(head));
}

/** `text` cut to at most `maxBytes` bytes of UTF-8, whole characters only. */
export function truncateUtf8(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text; // no UTF-16 unit takes more than three bytes
  // Every unit takes a byte at least: what lies past `maxBytes` units cannot fit, and need not be encoded.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1), 'utf8');
  if (bytes.length <= maxBytes) return text;
  return Buffer.from(cutAtCharacter(bytes, maxBytes)).toString('utf8');
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  return 1;
}

/** The second byte rules out overlong forms, surrogates and code points past U+10FFFF. */
function canContinue(bytes: Uint8Array, at: number, have: number): boolean {
  if (have < 2) return true;
  const second = bytes[at + 1] ?? 0;
  switch (bytes[at]) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second <= 0x9f;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second <= 0x8f;
    default:
      return true;
  }
}
