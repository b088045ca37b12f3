// The beginning and the end of an output of any length, for a reader that cannot take all of it.

import { incompleteTail } from '../../../base/utf8.js';

/** Of what a command wrote, as much as a model is given: how it began. */
export const MAX_HEAD_BYTES = 8 * 1024;
/** And how it ended, which mostly tells more. */
export const MAX_TAIL_BYTES = 16 * 1024;

export interface ExcerptText {
  readonly text: string;
  /** Bytes that the text leaves out; 0 when it is all there. */
  readonly cutBytes: number;
  /** Lines of the whole before what was left out, to go on from there. */
  readonly headLines: number;
}

export class Excerpt {
  readonly #maxHead: number;
  readonly #maxTail: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  constructor(maxHeadBytes: number = MAX_HEAD_BYTES, maxTailBytes: number = MAX_TAIL_BYTES) {
    this.#maxHead = maxHeadBytes;
    this.#maxTail = maxTailBytes;
  }

  /** All that was ever pushed. */
  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const room = this.#maxHead - this.#headBytes;
    const head = chunk.subarray(0, room);
    if (head.length > 0) this.#head.push(Buffer.from(head));
    this.#headBytes += head.length;
    if (chunk.length > room) this.#pushTail(chunk.subarray(room));
  }

  /** Cut where lines end, if one does near the cut; `note` stands for what was cut. */
  render(note: (excerpt: ExcerptText) => string): ExcerptText {
    const head = Buffer.concat(this.#head);
    const tail = lastBytes(Buffer.concat(this.#tail), this.#maxTail);
    if (head.length + tail.length === this.#bytes) {
      const text = Buffer.concat([head, tail]).toString('utf8');
      return { text, cutBytes: 0, headLines: 0 };
    }
    const first = endAtLine(head);
    const last = startAtLine(tail);
    const cutBytes = this.#bytes - first.length - last.length;
    const facts = { text: '', cutBytes, headLines: countLines(first) };
    const text = `${first.toString('utf8')}${note(facts)}${last.toString('utf8')}`;
    return { ...facts, text };
  }

  /** What lies further back than the tail reaches is dropped when it has become as much again. */
  #pushTail(chunk: Buffer): void {
    const kept = Buffer.from(chunk.subarray(Math.max(0, chunk.length - this.#maxTail)));
    this.#tail.push(kept);
    this.#tailBytes += kept.length;
    if (this.#tailBytes <= 2 * this.#maxTail && this.#tail.length < MAX_TAIL_PARTS) return;
    this.#tail = [lastBytes(Buffer.concat(this.#tail), this.#maxTail)];
    this.#tailBytes = this.#tail[0]?.length ?? 0;
  }
}

/** Single bytes may come in single chunks. */
const MAX_TAIL_PARTS = 1024;

function lastBytes(bytes: Buffer, max: number): Buffer {
  return bytes.length <= max ? bytes : bytes.subarray(bytes.length - max);
}

/** Up to the last newline of its second half, or else whole characters. */
function endAtLine(bytes: Buffer): Buffer {
  const newline = bytes.lastIndexOf(NEWLINE);
  if (newline >= bytes.length / 2) return bytes.subarray(0, newline + 1);
  return bytes.subarray(0, bytes.length - incompleteTail(bytes));
}

/** From the first newline of its first half on, or else whole characters. */
function startAtLine(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(NEWLINE);
  if (newline !== -1 && newline < bytes.length / 2) return bytes.subarray(newline + 1);
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

const NEWLINE = 0x0a;
