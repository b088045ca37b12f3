// How hard to compress, from how long compressing and sending take: hard where the link is slow, not at all where it is
// faster than we compress.

/** Plain, or a level of deflate. */
export type DeflateLevel = 0 | 1 | 6;

/** A link that takes this much is faster than a core compresses and whoever reads uncompresses. */
export const FAST_LINK_BYTES_PER_S = 24 * 1024 * 1024;
/** What is between us and the link (pipes, the window of ssh, sockets) takes some of it at once, and proves nothing. */
export const PROOF_BYTES = 4 * 1024 * 1024;
/** Before this much was measured the level stays. */
const WINDOW_BYTES = 512 * 1024;

export interface DeflatedBlock {
  readonly rawBytes: number;
  readonly sentBytes: number;
  readonly deflateMs: number;
  /** Until the next one could be sent. */
  readonly sendMs: number;
}

export class DeflatePace {
  readonly #mayStop: boolean;
  #level: DeflateLevel = 1;
  #window = newTotals();
  /** Sent since the link last made us wait. */
  #free = newTotals();

  /** Without `mayStop` it is always compressed, however fast the link is. */
  constructor(mayStop: boolean) {
    this.#mayStop = mayStop;
  }

  get level(): DeflateLevel {
    return this.#level;
  }

  noteDeflated(block: DeflatedBlock): void {
    add(this.#window, block);
    add(this.#free, block);
    const { rawBytes, deflateMs, sendMs } = this.#window;
    if (rawBytes < WINDOW_BYTES) return;
    this.#window = newTotals();
    if (sendMs > deflateMs / 4) this.#free = newTotals();
    if (sendMs > 3 * deflateMs) this.#level = 6;
    else if (sendMs < deflateMs) this.#level = 1;
    if (this.#mayStop && isProvenFast(this.#free)) this.#become(0);
  }

  notePlain(bytes: number, sendMs: number): void {
    const window = this.#window;
    window.sentBytes += bytes;
    window.sendMs += sendMs;
    if (window.sentBytes < 2 * WINDOW_BYTES) return;
    this.#window = newTotals();
    if (perSecond(window.sentBytes, window.sendMs) < FAST_LINK_BYTES_PER_S) this.#become(1);
  }

  #become(level: DeflateLevel): void {
    this.#level = level;
    this.#window = newTotals();
    this.#free = newTotals();
  }
}

type Totals = { -readonly [Key in keyof DeflatedBlock]: number };

function newTotals(): Totals {
  return { rawBytes: 0, sentBytes: 0, deflateMs: 0, sendMs: 0 };
}

function add(totals: Totals, block: DeflatedBlock): void {
  totals.rawBytes += block.rawBytes;
  totals.sentBytes += block.sentBytes;
  totals.deflateMs += block.deflateMs;
  totals.sendMs += block.sendMs;
}

/** A lot of compressed bytes, and quick: what compresses to almost nothing says little about the link. */
function isProvenFast({ sentBytes, deflateMs, sendMs }: Totals): boolean {
  return sentBytes >= PROOF_BYTES && perSecond(sentBytes, deflateMs + sendMs) >= FAST_LINK_BYTES_PER_S / 4;
}

function perSecond(bytes: number, ms: number): number {
  return ms <= 0 ? Number.POSITIVE_INFINITY : (bytes / ms) * 1000;
}
