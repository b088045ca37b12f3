// Requests encoded once and sent many times: the client of a round-trip suite should cost next to nothing.

/** Ids of requests on their way must differ; this many are encoded once and used in turn, fewer if they are long. */
export const POOL_LINES = 4096;
/** Equal widths make the place of every line in the pool a multiplication. */
const FIRST_ID = 100_000;

/** The same request over and over, under ids that repeat only long after they were answered. */
export class RequestPool {
  readonly #bytes: Buffer;
  readonly #width: number;
  readonly #lines: number;
  #next = 0;

  constructor(method: string, params: unknown, lineCount: number = POOL_LINES) {
    this.#lines = lineCount;
    const lines = Array.from(
      { length: lineCount },
      (_, i) => `${JSON.stringify({ jsonrpc: '2.0', id: FIRST_ID + i, method, params })}\n`,
    );
    this.#bytes = Buffer.from(lines.join(''), 'utf8');
    this.#width = this.#bytes.length / lineCount;
  }

  /** The ids of the next `lines` requests. */
  peekIds(lines: number): number[] {
    return Array.from({ length: lines }, (_, i) => FIRST_ID + ((this.#next + i) % this.#lines));
  }

  /** The next `lines` requests: one piece, or two where the pool begins again. */
  take(lines: number): Buffer[] {
    if (lines > this.#lines) throw new RangeError(`at most ${this.#lines} requests at once`);
    const untilEnd = Math.min(lines, this.#lines - this.#next);
    const parts = [this.#slice(this.#next, untilEnd)];
    if (lines > untilEnd) parts.push(this.#slice(0, lines - untilEnd));
    this.#next = (this.#next + lines) % this.#lines;
    return parts;
  }

  #slice(first: number, lines: number): Buffer {
    return this.#bytes.subarray(first * this.#width, (first + lines) * this.#width);
  }
}
