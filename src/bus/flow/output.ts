// Everything on its way to one destination: gathered in blocks, one write under way at a time, counted in bytes.

import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { copyBytes } from './copy.js';
import type { Flusher } from './flusher.js';
import { giveSlab, type Slab, takeSlab } from './slab.js';

/** Blocks handed to the system in one call. */
export const MAX_GATHERED_BLOCKS = 64;
const FRAME_HEAD_BYTES = 4;
const NOTHING = Buffer.alloc(0);

export interface OutputOwner {
  /** Some of what was queued has been taken. */
  drained(): void;
  broken(error: Error): void;
}

interface Block {
  readonly slab: Slab;
  readonly length: number;
}

export class Output {
  /** Each message goes as a frame: four bytes of length, big-endian, and no line's end. */
  readonly framed: boolean;
  /** Appended and not yet taken by the system. */
  queuedBytes = 0;
  /** Somebody waits for room: `drained` is called also when everything is taken at once. */
  watched = false;
  /** All that was ever appended. */
  totalBytes = 0;
  readonly #stream: Writable;
  readonly #flusher: Flusher;
  readonly #owner: OutputOwner;
  /** A socket has sent its bytes when it has nothing queued; another stream may hand them on as they are. */
  readonly #reusable: boolean;
  #gathered: Slab | undefined;
  #length = 0;
  #marked = false;
  #lastSource: unknown;
  #backlog: Block[] = [];
  #underWay: Block[] = [];
  #closed = false;
  #onEmpty: (() => void)[] = [];
  readonly #written = (error?: Error | null): void => this.#onWritten(error ?? undefined);

  readonly #tellDrained = (): void => {
    this.watched = false;
    if (!this.#closed) this.#owner.drained();
  };

  constructor(stream: Writable, flusher: Flusher, owner: OutputOwner, framed = false) {
    this.#stream = stream;
    this.#flusher = flusher;
    this.#owner = owner;
    this.framed = framed;
    this.#reusable = stream.constructor === Socket;
    stream.on('error', (error: Error) => owner.broken(error));
  }

  /** Copies. `source` is who it comes from: see Flusher. */
  append(bytes: Buffer, start: number, end: number, source: unknown): void {
    if (this.#closed) return;
    const length = end - start;
    const slab = this.#room(length);
    copyBytes(bytes, start, end, slab.bytes, this.#length);
    this.#length += length;
    this.#count(length, source);
  }

  /** One message without its line's end, as a frame. */
  appendFrame(bytes: Buffer, start: number, end: number, source: unknown): void {
    if (this.#closed) return;
    const length = end - start;
    const slab = this.#room(length + FRAME_HEAD_BYTES);
    slab.bytes.writeUInt32BE(length, this.#length);
    copyBytes(bytes, start, end, slab.bytes, this.#length + FRAME_HEAD_BYTES);
    this.#length += length + FRAME_HEAD_BYTES;
    this.#count(length + FRAME_HEAD_BYTES, source);
  }

  /** A whole message of our own. */
  appendLine(text: string): void {
    const bytes = Buffer.from(`${text}\n`);
    if (this.framed) this.appendFrame(bytes, 0, bytes.length - 1, undefined);
    else this.append(bytes, 0, bytes.length, undefined);
  }

  flush(): void {
    this.#marked = false;
    const slab = this.#gathered;
    if (slab === undefined) return;
    const length = this.#length;
    this.#gathered = undefined;
    this.#length = 0;
    if (this.#closed) giveSlab(slab);
    else if (this.#underWay.length > 0) this.#backlog.push({ slab, length });
    else this.#write(slab, length);
  }

  /** Resolves when nothing is queued, or nothing ever will be taken again. */
  empty(): Promise<void> {
    if (this.queuedBytes === 0 || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  /** Writes what is queued, then ends the stream. */
  async end(): Promise<void> {
    await this.empty();
    if (this.#closed || this.#stream.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#stream.once('close', resolve);
      this.#stream.end(() => resolve());
    });
  }

  /** Nothing more is taken or written; what is queued is lost. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#backlog = [];
    this.queuedBytes = 0;
    this.#settleEmpty();
  }

  #room(length: number): Slab {
    if (this.#gathered !== undefined && this.#length + length <= this.#gathered.bytes.length) {
      return this.#gathered;
    }
    if (this.#gathered !== undefined) {
      const marked = this.#marked;
      this.flush();
      this.#marked = marked;
    }
    this.#gathered = takeSlab(length);
    return this.#gathered;
  }

  #count(length: number, source: unknown): void {
    this.queuedBytes += length;
    this.totalBytes += length;
    if (this.#marked) return;
    this.#marked = true;
    this.#flusher.mark(this, this.#lastSource === source);
    this.#lastSource = source;
  }

  /** Almost always the system takes everything at once: that way makes nothing that has to be collected later. */
  #write(slab: Slab, length: number): void {
    const stream = this.#stream;
    const bytes = length === slab.bytes.length ? slab.bytes : slab.bytes.subarray(0, length);
    if (this.#reusable) {
      // A callback costs a turn of the tick queue also when nothing is left: so only what is left over has one, behind it.
      stream.write(bytes);
      if (stream.writableLength > 0) {
        this.#underWay.push({ slab, length });
        stream.write(NOTHING, this.#written);
        return;
      }
      giveSlab(slab);
    } else {
      this.#underWay.push({ slab, length });
      stream.write(bytes, this.#written);
      if (stream.writableLength > 0) return;
      this.#underWay = [];
    }
    this.queuedBytes -= length;
    if (this.queuedBytes <= 0) this.#settleEmpty();
    else this.#writeBacklog(); // a stream in this process may have asked for more while it was written to
    if (this.watched) setImmediate(this.#tellDrained);
  }

  #onWritten(error: Error | undefined): void {
    if (error !== undefined || this.#closed) return; // 'error' tells the owner
    if (this.#underWay.length === 0 || this.#stream.writableLength > 0) return;
    this.#taken();
    this.#writeBacklog();
    this.#tellDrained();
  }

  #taken(): void {
    for (const { slab, length } of this.#underWay) {
      this.queuedBytes -= length;
      if (this.#reusable) giveSlab(slab);
    }
    this.#underWay = [];
    if (this.queuedBytes <= 0) this.#settleEmpty();
  }

  #writeBacklog(): void {
    if (this.#backlog.length === 0 || this.#closed) return;
    const blocks = this.#backlog.splice(0, MAX_GATHERED_BLOCKS);
    this.#underWay = blocks;
    this.#stream.cork();
    for (const { slab, length } of blocks) this.#stream.write(slab.bytes.subarray(0, length), this.#written);
    this.#stream.uncork();
  }

  #settleEmpty(): void {
    if (this.#onEmpty.length > 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}
