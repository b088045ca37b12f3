// Bytes in, whole lines out: pure, capped, and linear however the bytes are cut into chunks.

/** Longest line taken unless told otherwise. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Where one line lies: `bytes[start, end)`, without its "\n" (a "\r" before it is kept: bytes are never changed).
 * It is a range and not a view because making a Buffer costs four times what finding the newline does; take
 * `bytes.toString('utf8', start, end)` or `bytes.subarray(start, end)`. Unless `readAtOnce` was said, the splitter never
 * writes to these bytes again, so a view may be kept; it pins the whole chunk it lies in.
 */
export type LineSink = (bytes: Buffer, start: number, end: number) => void;

/** `beginning` has up to OVERSIZE_BEGINNING_BYTES of the line, valid during the call. */
export type OversizeSink = (bytesSoFar: number, beginning: Buffer) => void;
/** Of a line that is too long, what its refusal may still need: most messages begin with their id. */
export const OVERSIZE_BEGINNING_BYTES = 1024;

export interface LineSplitterOptions {
  readonly maxLineBytes?: number;
  /**
   * A line longer than the cap: called once for it, with how much of it had come by then, and how it begins. The rest is
   * dropped up to the next newline, and the lines after it come as usual.
   */
  readonly onOversize?: OversizeSink;
  /**
   * Whoever takes a line has read it when the sink returns, and keeps no view. Then the same memory serves for all long lines,
   * and a chunk is free again after `push`: a megabyte a line, new each time, keeps the collector busy.
   */
  readonly readAtOnce?: boolean;
}

/** Parts smaller than this are copied together, so that a line that trickles in costs its bytes, not its chunks. */
const PACK_BELOW_BYTES = 4096;
const PACK_BLOCK_BYTES = 16 * 1024;
/** With `readAtOnce`: what is kept for the next long line of anybody. The memory of a longer one is given back. */
export const KEPT_LINE_BYTES = 2 * 1024 * 1024;
const NO_BYTES = Buffer.alloc(0);

export class LineSplitter {
  readonly #onLine: LineSink;
  readonly #onOversize: OversizeSink | undefined;
  readonly #maxLineBytes: number;
  readonly #readAtOnce: boolean;
  /** The line so far, in order; what lies in the open block comes after these. */
  #parts: Buffer[] = [];
  #held = 0;
  /** An oversize line is being dropped: nothing is held until its newline. */
  #dropping = false;
  #block: Buffer = NO_BYTES;
  #blockStart = 0;
  #blockEnd = 0;

  /** The sinks must not throw: the rest of the chunk would be lost. */
  constructor(onLine: LineSink, options: LineSplitterOptions = {}) {
    this.#onLine = onLine;
    this.#onOversize = options.onOversize;
    this.#maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
    this.#readAtOnce = options.readAtOnce === true;
  }

  /** Bytes of the unfinished line; never more than the cap. */
  get heldBytes(): number {
    return this.#held;
  }

  /** The chunk must not be overwritten afterwards, unless with `readAtOnce`: large parts of it are held as they are. */
  push(chunk: Buffer): void {
    let newline = chunk.indexOf(10);
    if (newline === -1) {
      this.#hold(chunk, 0, chunk.length);
      return;
    }
    let start = 0;
    if (this.#held > 0 || this.#dropping) {
      this.#hold(chunk, 0, newline);
      this.#finishHeld();
      start = newline + 1;
      newline = start === chunk.length ? -1 : chunk.indexOf(10, start);
    }
    const length = chunk.length;
    const max = this.#maxLineBytes;
    const onLine = this.#onLine;
    while (newline !== -1) {
      if (newline - start > max) this.#onOversize?.(newline - start, beginningOf([chunk.subarray(start)]));
      else onLine(chunk, start, newline);
      start = newline + 1;
      if (start === length) return; // the usual end of a chunk that is one message
      newline = chunk.indexOf(10, start);
    }
    this.#hold(chunk, start, chunk.length);
  }

  /** No more bytes will come: what is left is a line too. */
  end(): void {
    if (this.#held > 0 || this.#dropping) this.#finishHeld();
  }

  /** The held line is whole; one that is being dropped is over. */
  #finishHeld(): void {
    if (this.#dropping) {
      this.#dropping = false;
      return;
    }
    const size = this.#held;
    if (this.#readAtOnce) return this.#lendGathered(size);
    const parts = this.#parts;
    if (parts.length === 0) {
      // All of it lies in the block, as one piece: the usual case for a line cut by the end of a chunk.
      const start = this.#blockStart;
      this.#forget();
      this.#onLine(this.#block, start, start + size);
      return;
    }
    this.#closeBlock();
    this.#forget();
    const line = Buffer.concat(parts, size);
    parts.length = 0; // a long line is there twice until now, and whoever takes it makes a text of it
    this.#onLine(line, 0, size);
  }

  /** Taken out while it is being read: whatever comes meanwhile goes elsewhere. */
  #lendGathered(size: number): void {
    const line = this.#block;
    this.#dropBlock();
    this.#forget();
    this.#onLine(line, 0, size);
    if (line.length > PACK_BLOCK_BYTES) keepForNext(line);
    else if (this.#block === NO_BYTES) this.#block = line;
  }

  #hold(chunk: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#dropping || length === 0) return;
    const size = this.#held + length;
    if (size > this.#maxLineBytes) {
      this.#closeBlock();
      const beginning = beginningOf([
        ...this.#parts.slice(0, OVERSIZE_BEGINNING_BYTES),
        chunk.subarray(start, end),
      ]);
      this.#dropBlock();
      this.#forget();
      this.#dropping = true;
      this.#onOversize?.(size, beginning);
      return;
    }
    this.#held = size;
    if (this.#readAtOnce) {
      this.#gather(chunk, start, end);
    } else if (length < PACK_BELOW_BYTES) {
      this.#pack(chunk, start, end);
    } else {
      this.#closeBlock();
      this.#parts.push(chunk.subarray(start, end));
    }
  }

  /** All of the line in one piece that grows by doubling. */
  #gather(chunk: Buffer, start: number, end: number): void {
    const size = this.#held;
    if (size > this.#block.length) {
      const grown = makeRoom(Math.max(size, Math.min(2 * this.#block.length, this.#maxLineBytes)));
      this.#block.copy(grown, 0, 0, this.#blockEnd);
      this.#block = grown;
    }
    this.#blockEnd += chunk.copy(this.#block, this.#blockEnd, start, end);
  }

  #pack(chunk: Buffer, start: number, end: number): void {
    if (this.#blockEnd + end - start > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(PACK_BLOCK_BYTES);
      this.#blockStart = this.#blockEnd = 0;
    }
    this.#blockEnd += chunk.copy(this.#block, this.#blockEnd, start, end);
  }

  /** What was packed becomes a part. The block goes on being filled behind it: no byte is written twice. */
  #closeBlock(): void {
    if (this.#blockEnd === this.#blockStart) return;
    this.#parts.push(this.#block.subarray(this.#blockStart, this.#blockEnd));
    this.#blockStart = this.#blockEnd;
  }

  #dropBlock(): void {
    this.#block = NO_BYTES;
    this.#blockStart = this.#blockEnd = 0;
  }

  #forget(): void {
    if (this.#parts.length > 0) this.#parts = [];
    this.#held = 0;
    this.#blockStart = this.#blockEnd;
  }
}

/** One for all, lent to one line at a time. */
let spare: Buffer | undefined;

function makeRoom(bytes: number): Buffer {
  if (bytes <= PACK_BLOCK_BYTES || spare === undefined || spare.length < bytes) {
    return Buffer.allocUnsafeSlow(Math.max(bytes, PACK_BLOCK_BYTES));
  }
  const room = spare;
  spare = undefined;
  return room;
}

function keepForNext(room: Buffer): void {
  if (room.length <= KEPT_LINE_BYTES && room.length > (spare?.length ?? 0)) spare = room;
}

function beginningOf(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.map((part) => part.subarray(0, OVERSIZE_BEGINNING_BYTES))).subarray(
    0,
    OVERSIZE_BEGINNING_BYTES,
  );
}
