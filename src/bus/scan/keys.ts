// Tells the few keys that matter from all others, by their bytes; a key spelled with escapes is decoded first.

export const OTHER_KEY = 0;
export const ID_KEY = 1;
export const SESSION_KEY = 2;
export const METHOD_KEY = 3;
export const PARAMS_KEY = 4;
export const RESULT_KEY = 5;
export const ERROR_KEY = 6;
export const POOL_KEY = 7;
export const REQUEST_ID_KEY = 8;

/** The key between the quotes is `bytes[start, end)`. */
export function keyAt(bytes: Uint8Array, start: number, end: number): number {
  switch (end - start) {
    case 2:
      return bytes[start] === 105 && bytes[start + 1] === 100 ? ID_KEY : OTHER_KEY;
    case 4:
      return bytes[start] === 112 && goesOn(bytes, start, 111, 111, 108) ? POOL_KEY : OTHER_KEY;
    case 5:
      return bytes[start] === 101 && bytes[start + 1] === 114 && goesOn(bytes, start + 1, 114, 111, 114)
        ? ERROR_KEY
        : OTHER_KEY;
    case 6:
      return keyOfSix(bytes, start);
    case 9:
      if (bytes[start] === 115) return matches(bytes, start, SESSION) ? SESSION_KEY : OTHER_KEY;
      return matches(bytes, start, REQUEST_ID) ? REQUEST_ID_KEY : OTHER_KEY;
    default:
      return OTHER_KEY;
  }
}

/** `method`, `params`, `result`: every message has one of them. */
function keyOfSix(bytes: Uint8Array, start: number): number {
  switch (bytes[start]) {
    case 109:
      return goesOn(bytes, start, 101, 116, 104) && bytes[start + 4] === 111 && bytes[start + 5] === 100
        ? METHOD_KEY
        : OTHER_KEY;
    case 112:
      return goesOn(bytes, start, 97, 114, 97) && bytes[start + 4] === 109 && bytes[start + 5] === 115
        ? PARAMS_KEY
        : OTHER_KEY;
    case 114:
      return goesOn(bytes, start, 101, 115, 117) && bytes[start + 4] === 108 && bytes[start + 5] === 116
        ? RESULT_KEY
        : OTHER_KEY;
    default:
      return OTHER_KEY;
  }
}

/** The three bytes behind the first. */
function goesOn(bytes: Uint8Array, start: number, second: number, third: number, fourth: number): boolean {
  return bytes[start + 1] === second && bytes[start + 2] === third && bytes[start + 3] === fourth;
}

/** The same for a key with escapes in it, which nobody writes but anybody may. */
export function escapedKeyAt(bytes: Buffer, start: number, end: number): number {
  const key = Buffer.from(JSON.parse(bytes.toString('latin1', start - 1, end + 1)) as string);
  return keyAt(key, 0, key.length);
}

const SESSION = Buffer.from('sessionId');
const REQUEST_ID = Buffer.from('requestId');

function matches(bytes: Uint8Array, start: number, word: Buffer): boolean {
  for (let i = word.length - 1; i >= 0; i -= 1) if (bytes[start + i] !== word[i]) return false;
  return true;
}
