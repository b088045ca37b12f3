// Counts the bytes of an event stream's lines and events as they arrive, so that neither can grow without end.

import { LocalError } from '../../base/errors.js';

/** One `data:` line carries a whole JSON value: 10 MiB and its escapes. */
export const MAX_SSE_LINE_BYTES = 16 * 1024 * 1024;
/** All lines of one event: the longest there may be, and as much again for the others. */
export const MAX_SSE_EVENT_BYTES = 32 * 1024 * 1024;

export interface SseLimits {
  readonly maxLineBytes: number;
  readonly maxEventBytes: number;
}

export class SseLimitError extends LocalError {
  override readonly name = 'SseLimitError';

  constructor(what: 'line' | 'event', limit: number) {
    super(`sse_${what}_too_large`, `a server-sent ${what} exceeds ${limit} bytes`, { facts: { limit } });
  }
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/** An event's size is that of its lines without their ends. Comments belong to no event: they may go on for ever. */
export class SizeMeter {
  readonly #limits: SseLimits;
  #line = 0;
  #event = 0;
  #inComment = false;
  #afterCr = false;
  #exceeded: SseLimitError | undefined;

  constructor(limits: Partial<SseLimits>) {
    this.#limits = {
      maxLineBytes: limits.maxLineBytes ?? MAX_SSE_LINE_BYTES,
      maxEventBytes: limits.maxEventBytes ?? MAX_SSE_EVENT_BYTES,
    };
  }

  get exceeded(): SseLimitError | undefined {
    return this.#exceeded;
  }

  /** How many bytes of `chunk` come before a cap is passed: all of them, as a rule. */
  measure(chunk: Uint8Array): number {
    let at = this.#afterCr && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#afterCr = false;
    let lf = -1;
    let cr = -1;
    while (at < chunk.length) {
      // Each kind of line end is searched for only once its last find is behind us: never twice over the same bytes.
      if (lf < at) lf = find(chunk, LF, at);
      if (cr < at) cr = find(chunk, CR, at);
      const end = Math.min(lf, cr);
      const room = this.#take(chunk[at], end - at);
      if (room !== undefined) return at + room;
      if (end === chunk.length) break;
      this.#endLine();
      at = end + 1;
      if (end !== cr) continue;
      if (at === chunk.length) this.#afterCr = true;
      else if (chunk[at] === LF) at += 1;
    }
    return chunk.length;
  }

  /** Counts `bytes` more of the current line; gives the room there was when that is too many. */
  #take(first: number | undefined, bytes: number): number | undefined {
    if (this.#line === 0) this.#inComment = bytes > 0 && first === COLON;
    const { maxLineBytes, maxEventBytes } = this.#limits;
    const lineRoom = maxLineBytes - this.#line;
    const eventRoom = this.#inComment ? Infinity : maxEventBytes - this.#event;
    if (bytes > Math.min(lineRoom, eventRoom)) {
      this.#exceeded =
        lineRoom <= eventRoom
          ? new SseLimitError('line', maxLineBytes)
          : new SseLimitError('event', maxEventBytes);
      return Math.min(lineRoom, eventRoom);
    }
    this.#line += bytes;
    if (!this.#inComment) this.#event += bytes;
    return undefined;
  }

  #endLine(): void {
    if (this.#line === 0) this.#event = 0; // a blank line ends the event
    this.#line = 0;
  }
}

function find(chunk: Uint8Array, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}
