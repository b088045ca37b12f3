// Finds the frames in what is read: four bytes of length, big-endian, and a body. Between bus and client only.

import { copyBytes } from './copy.js';
import type { MessageReader, MessageSink } from './line-reader.js';
import { giveSlab, type Slab, takeSlab } from './slab.js';

const HEAD_BYTES = 4;

export class FrameReader implements MessageReader {
  maxBytes: number;
  readonly #sink: MessageSink;
  #head = 0;
  #headBytes = 0;
  #body: Slab | undefined;
  #read = 0;
  #closed = false;

  constructor(sink: MessageSink, maxBytes: number) {
    this.#sink = sink;
    this.maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#headBytes + this.#read;
  }

  push(slab: Slab, length: number): void {
    let p = 0;
    while (p < length && !this.#closed) {
      if (this.#headBytes < HEAD_BYTES) {
        this.#head = this.#head * 256 + slab.bytes[p]!;
        this.#headBytes += 1;
        p += 1;
        if (this.#headBytes === HEAD_BYTES) this.#beginBody();
      } else p += this.#readBody(slab, p, length);
    }
    this.#sink.commit();
  }

  close(): void {
    this.#closed = true;
    this.#endBody();
  }

  #beginBody(): void {
    if (this.#head > this.maxBytes) {
      const none = takeSlab();
      none.bytes[0] = 10;
      this.#sink.tooLong(none, 0, 0); // where a frame ends that is not read is nobody's guess: no more from here
      giveSlab(none);
      this.close();
    } else if (this.#head === 0) this.#endBody();
    else this.#body = takeSlab(this.#head + 1);
  }

  /** Returns how much was taken. */
  #readBody(slab: Slab, from: number, length: number): number {
    const body = this.#body;
    if (body === undefined) return length;
    const count = Math.min(this.#head - this.#read, length - from);
    copyBytes(slab.bytes, from, from + count, body.bytes, this.#read);
    this.#read += count;
    if (this.#read < this.#head) return count;
    oneLine(body.bytes, this.#head);
    const go = this.#sink.message(body, 0, this.#head);
    this.#sink.commit();
    this.#endBody();
    if (!go) this.close();
    return count;
  }

  #endBody(): void {
    if (this.#body !== undefined) giveSlab(this.#body);
    this.#body = undefined;
    this.#head = 0;
    this.#headBytes = 0;
    this.#read = 0;
  }
}

/**
 * A frame may hold line feeds, as space between tokens; to a worker each message is a line. A carriage return is space too,
 * and no more allowed inside a string than the line feed was.
 */
function oneLine(bytes: Buffer, length: number): void {
  bytes[length] = 10;
  for (let p = bytes.indexOf(10, 0); p < length; p = bytes.indexOf(10, p + 1)) bytes[p] = 13;
}
