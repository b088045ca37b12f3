// Output kept for later: the beginning in memory, the rest on disk, all of it readable by offset at any time.

import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { ClosedError, Resource } from '../../base/resource.js';
import { makeFolders } from '../make-folders.js';

/** Kept in memory: the output of most commands is shorter, and then no file is made at all. */
export const INLINE_BYTES = 64 * 1024;
/** Kept of one output in all, so that a program that never stops writing cannot fill the disk. */
export const MAX_SPOOL_BYTES = 256 * 1024 * 1024;
/** Read at once at most; a caller who wants more reads again. */
export const MAX_SPOOL_READ_BYTES = 1024 * 1024;
/** Written to disk together: a write of its own for every chunk costs more than the chunk. */
const BATCH_BYTES = 256 * 1024;
/** Not yet on disk; beyond it `append` asks its caller to wait. */
export const MAX_UNWRITTEN_BYTES = 1024 * 1024;

export interface SpoolOptions {
  /** Where the file goes; made (0700) when it is missing. Nothing is made while the output fits in memory. */
  readonly dir: string;
  readonly inlineBytes?: number;
  readonly maxBytes?: number;
}

/** What is missing: always from one offset to the end. */
export interface SpoolLoss {
  readonly offset: number;
  readonly bytes: number;
  readonly reason: 'size_limit' | 'disk_error';
  /** Of a disk error: ENOSPC, EACCES, … */
  readonly errno?: string;
}

export class OutputSpool extends Resource {
  #path: string | undefined;
  readonly #dir: string;
  readonly #inlineBytes: number;
  readonly #maxBytes: number;
  #head: Buffer = Buffer.alloc(0);
  #headBytes = 0;
  /** Accepted and not yet handed to the disk, in order, from `#flushed` on. */
  #pending: Uint8Array[] = [];
  #unwritten = 0;
  /** Everything before this offset is on disk (or in memory, for the beginning). */
  #flushed: number;
  #flushing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #size = 0;
  #accepted = 0;
  #failure: { readonly errno: string | undefined } | undefined;

  constructor(options: SpoolOptions) {
    super();
    this.#dir = options.dir;
    this.#maxBytes = options.maxBytes ?? MAX_SPOOL_BYTES;
    this.#inlineBytes = Math.min(options.inlineBytes ?? INLINE_BYTES, this.#maxBytes);
    this.#flushed = this.#inlineBytes;
  }

  /** Most outputs never need one. */
  get path(): string {
    this.#path ??= join(this.#dir, newId('spool'));
    return this.#path;
  }

  /** All bytes ever appended, also those that were dropped. */
  get size(): number {
    return this.#size;
  }

  /** Bytes that can be read: everything from 0 up to here. */
  get kept(): number {
    return this.#failure === undefined ? this.#accepted : Math.min(this.#accepted, this.#flushed);
  }

  get loss(): SpoolLoss | undefined {
    const offset = this.kept;
    const bytes = this.#size - offset;
    if (bytes === 0) return undefined;
    if (this.#failure === undefined) return { offset, bytes, reason: 'size_limit' };
    const { errno } = this.#failure;
    return { offset, bytes, reason: 'disk_error', ...(errno !== undefined && { errno }) };
  }

  /**
   * Takes over the bytes; do not change them afterwards. Never fails: what cannot be kept is counted in `loss`.
   * Gives a promise when the disk does not keep up; wait for it before appending more.
   */
  append(bytes: Uint8Array): Promise<void> | undefined {
    if (this.closing) return undefined;
    this.#size += bytes.length;
    if (this.#failure !== undefined) return undefined;
    const room = Math.min(bytes.length, this.#maxBytes - this.#accepted);
    const inline = Math.min(room, this.#inlineBytes - this.#headBytes);
    if (inline > 0) this.#keepInline(bytes.subarray(0, inline));
    if (room > inline) this.#queue(bytes.subarray(inline, room));
    this.#accepted += room;
    return this.#unwritten > MAX_UNWRITTEN_BYTES ? this.#caughtUp() : undefined;
  }

  /** Up to `length` bytes from `offset` on; shorter at the end of what there is, empty past it. */
  async read(offset: number, length: number): Promise<Buffer> {
    if (this.closing) throw new ClosedError('output spool');
    const from = Math.max(0, offset);
    const wanted = from + Math.max(0, Math.min(length, MAX_SPOOL_READ_BYTES));
    await this.#written(Math.min(wanted, this.#accepted));
    const to = Math.min(wanted, this.kept);
    if (from >= to) return Buffer.alloc(0);
    const head = Buffer.from(this.#head.subarray(from, Math.min(to, this.#headBytes)));
    if (to <= this.#headBytes) return head;
    const rest = await this.#readFile(Math.max(from, this.#headBytes), to);
    return head.length === 0 ? rest : Buffer.concat([head, rest]);
  }

  /** Closes the file and removes it. */
  protected async release(): Promise<void> {
    await this.#written(this.#accepted);
    await this.#flushing;
    await this.#file?.close();
    if (this.#file !== undefined) await unlink(this.path).catch(() => {});
  }

  #keepInline(bytes: Uint8Array): void {
    const needed = this.#headBytes + bytes.length;
    if (needed > this.#head.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#inlineBytes, Math.max(needed, this.#head.length * 2)));
      this.#head.copy(grown, 0, 0, this.#headBytes);
      this.#head = grown;
    }
    this.#head.set(bytes, this.#headBytes);
    this.#headBytes = needed;
  }

  #queue(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#unwritten += bytes.length;
    if (this.#unwritten >= BATCH_BYTES) this.#flushing ??= this.#flush();
  }

  /** One write at a time, of all that has come together since the last one. */
  async #flush(): Promise<void> {
    try {
      this.#file ??= await this.#create();
      const batch = this.#pending;
      this.#pending = [];
      if (batch.length > 0) await this.#writeBatch(this.#file, batch);
    } catch (error) {
      this.#failure = { errno: errnoOf(error) };
      this.#pending = [];
      this.#unwritten = 0;
    }
    this.#flushing = this.#unwritten >= BATCH_BYTES ? this.#flush() : undefined;
  }

  async #writeBatch(file: FileHandle, batch: readonly Uint8Array[]): Promise<void> {
    const size = batch.reduce((sum, { length }) => sum + length, 0);
    for (let rest = batch, done = 0; done < size; rest = [Buffer.concat(batch).subarray(done)]) {
      const { bytesWritten } = await file.writev(rest, this.#flushed);
      done += bytesWritten;
      this.#flushed += bytesWritten;
    }
    this.#unwritten -= size;
  }

  /** A byte has the same place in the file as in the output; what is in memory is a hole at the beginning. */
  async #create(): Promise<FileHandle> {
    makeFolders(this.#dir);
    return await open(this.path, 'wx+', 0o600);
  }

  async #readFile(from: number, to: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(to - from);
    let length = 0;
    while (this.#file !== undefined && length < bytes.length) {
      const { bytesRead } = await this.#file.read(bytes, length, bytes.length - length, from + length);
      if (bytesRead === 0) break; // someone has cut the file short
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  }

  /** Waits only for what is wanted, so that a busy writer cannot keep a reader waiting for ever. */
  async #written(offset: number): Promise<void> {
    while (this.#flushed < offset && this.#unwritten > 0) await (this.#flushing ??= this.#flush());
  }

  async #caughtUp(): Promise<void> {
    while (this.#unwritten > MAX_UNWRITTEN_BYTES && this.#flushing !== undefined) await this.#flushing;
  }
}
