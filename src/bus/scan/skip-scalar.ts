// Passes over a JSON number or one of the three words, by the letter of the grammar.

/** `p` is at the first byte. Returns what is behind it, or −1. */
export function skipScalar(bytes: Uint8Array, p: number): number {
  const c = bytes[p]!;
  if (c === 45 || (c >= 48 && c <= 57)) return skipNumber(bytes, p);
  if (c === 116) return isWord(bytes, p, 114, 117, 101) ? p + 4 : -1;
  if (c === 110) return isWord(bytes, p, 117, 108, 108) ? p + 4 : -1;
  if (c === 102) return isWord(bytes, p, 97, 108, 115) && bytes[p + 4] === 101 ? p + 5 : -1;
  return -1;
}

export function skipNumber(bytes: Uint8Array, p: number): number {
  if (bytes[p] === 45) p += 1;
  if (bytes[p] === 48) p += 1;
  else if (isDigit(bytes[p]!)) p = skipDigits(bytes, p);
  else return -1;
  if (bytes[p] === 46) {
    if (!isDigit(bytes[p + 1]!)) return -1;
    p = skipDigits(bytes, p + 1);
  }
  const c = bytes[p];
  if (c === 101 || c === 69) {
    p += 1;
    if (bytes[p] === 43 || bytes[p] === 45) p += 1;
    if (!isDigit(bytes[p]!)) return -1;
    p = skipDigits(bytes, p);
  }
  return p;
}

function skipDigits(bytes: Uint8Array, p: number): number {
  while (isDigit(bytes[p]!)) p += 1;
  return p;
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}

function isWord(bytes: Uint8Array, p: number, second: number, third: number, fourth: number): boolean {
  return bytes[p + 1] === second && bytes[p + 2] === third && bytes[p + 3] === fourth;
}
