// Ids that sort by time of birth and cannot be guessed: `s_0k3v9q2c7m8t5x1f6h4j2n0p9r`.

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'; // Crockford's base 32: sorts as it counts, no i l o u
const TIME_CHARS = 10; // 50 bits of milliseconds: until the year 37648
const RANDOM_CHARS = 16; // 80 bits
const POOL_BYTES = RANDOM_CHARS * 64;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;
let lastMs = 0;

/** `prefix_` + time + 80 random bits. Within one process, ids never sort before an earlier one by a clock step back. */
export function newId(prefix: string, nowMs: number = Date.now()): string {
  lastMs = Math.max(lastMs, nowMs);
  return `${prefix}_${encodeTime(lastMs)}${randomChars()}`;
}

function encodeTime(ms: number): string {
  let text = '';
  let rest = ms;
  for (let i = 0; i < TIME_CHARS; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function randomChars(): string {
  if (used === POOL_BYTES) {
    fillFromKernel(pool);
    used = 0;
  }
  let text = '';
  for (const end = used + RANDOM_CHARS; used < end; used++) text += ALPHABET.charAt((pool[used] ?? 0) & 31);
  return text;
}

/** What node:crypto would give too, but loading it takes 3 ms, and a server's first answer has an id in it. */
function fillFromKernel(bytes: Buffer): void {
  const { closeSync, openSync, readSync } = process.getBuiltinModule('node:fs');
  const source = openSync('/dev/urandom', 'r');
  try {
    if (readSync(source, bytes, 0, bytes.length, null) !== bytes.length)
      throw new Error('/dev/urandom gave less than it was asked for');
  } finally {
    closeSync(source);
  }
}
