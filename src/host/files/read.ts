// Reading a file inside the roots, whole or a range of its bytes.

import { closeSync, constants, openSync, readSync, type Stats } from 'node:fs';
import { ForbiddenPathError, InvalidRangeError, NotAFileError, TooLargeError, typedError } from './errors.js';
import { cleanPath } from './names.js';
import { type Pin, typeOf } from './pin.js';
import type { RootSet } from './root-set.js';
import { Turns } from './turns.js';
import { pin } from './walk.js';

/** The most one read gives, whatever was asked for. */
export const MAX_READ_BYTES = 64 * 1024 * 1024;
/** Read at once, between two looks at the clock. */
export const READ_SLICE_BYTES = 1024 * 1024;
/** First room for a file that says its size is 0. */
const UNSIZED_BYTES = 4096;

export interface ReadOptions {
  /** First byte, 0 unless said. Past the end gives nothing. */
  readonly offset?: number;
  /** At most so many bytes. */
  readonly length?: number;
  /** The caller's own cap, at most MAX_READ_BYTES. */
  readonly maxBytes?: number;
  /** All or nothing: a file larger than the cap is a TooLargeError instead of a truncated result. */
  readonly whole?: boolean;
  readonly signal?: AbortSignal;
}

export interface ReadResult {
  readonly path: string;
  readonly data: Buffer;
  /** Of the file, before the first byte was read: a change during the read makes it stale, never too new. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  /** Bytes of the file follow after the last one given. */
  readonly truncated: boolean;
}

export async function readFile(set: RootSet, path: string, options: ReadOptions = {}): Promise<ReadResult> {
  const asked = cleanPath(path);
  const offset = byteCount(asked, options.offset ?? 0);
  const length = byteCount(asked, options.length ?? MAX_READ_BYTES);
  const turns = new Turns(options.signal);
  const { fd, stat } = openForReading(set, asked);
  try {
    const cap = Math.min(options.maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES);
    if (options.whole === true && stat.size > cap) throw new TooLargeError(asked, stat.size, cap);
    const data = await readRange(fd, offset, Math.min(length, cap), stat.size, turns);
    const truncated = offset + data.length < stat.size;
    return {
      path: asked,
      data,
      size: stat.size,
      mtimeMs: Math.floor(stat.mtimeMs),
      mode: stat.mode,
      truncated,
    };
  } catch (error) {
    throw typedError(error, asked);
  } finally {
    closeSync(fd);
  }
}

/**
 * `readFile` of as much as `room` takes, without a promise: the data lies in `room`. For parts of READ_SLICE_BYTES and
 * less, which nobody could call off anyway.
 */
export function readInto(set: RootSet, path: string, offset: number, room: Buffer): ReadResult {
  const asked = cleanPath(path);
  byteCount(asked, offset);
  const { fd, stat } = openForReading(set, asked);
  try {
    // Files of the kernel say size 0 and have content.
    const expected = stat.size === 0 ? room.length : Math.min(room.length, Math.max(0, stat.size - offset));
    let got = 0;
    while (got < expected) {
      const count = readSync(fd, room, got, expected - got, offset + got);
      if (count === 0) break;
      got += count;
    }
    return {
      path: asked,
      data: room.subarray(0, got),
      size: stat.size,
      mtimeMs: Math.floor(stat.mtimeMs),
      mode: stat.mode,
      truncated: offset + got < stat.size,
    };
  } catch (error) {
    throw typedError(error, asked);
  } finally {
    closeSync(fd);
  }
}

/** A descriptor on a regular file inside the roots, which the caller closes, and what was known of it before. */
function openForReading(set: RootSet, asked: string): { fd: number; stat: Stats } {
  const held = pin(set, asked);
  // Not `using`, which in the language of Node 20 costs as much as one of these calls.
  try {
    const stat = held.stat();
    return { fd: openPlainFile(set, held, stat, asked, constants.O_RDONLY), stat };
  } finally {
    held[Symbol.dispose]();
  }
}

/**
 * Opens the pinned thing itself, through its descriptor, only once it is known to be a regular file: opening a FIFO
 * would wait and opening a device may do anything. O_NONBLOCK for what is left to wait for, a lease on the file.
 */
export function openPinnedFile(set: RootSet, held: Pin, asked: string, flags: number): number {
  return openPlainFile(set, held, held.stat(), asked, flags);
}

function openPlainFile(set: RootSet, held: Pin, stat: Stats, asked: string, flags: number): number {
  assertPlainFile(set, stat, asked);
  try {
    return openSync(held.here, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    throw typedError(error, asked);
  }
}

export function assertPlainFile(set: RootSet, stat: Stats, asked: string): void {
  if (!stat.isFile()) throw new NotAFileError(asked, typeOf(stat));
  if (stat.nlink > 1 && set.hardLinks === 'refuse') {
    throw new ForbiddenPathError(asked, set.roots, 'hard_link');
  }
}

async function readRange(
  fd: number,
  offset: number,
  length: number,
  size: number,
  turns: Turns,
): Promise<Buffer> {
  // Files of the kernel say size 0 and have content: those are read to their end, into a buffer that grows.
  const expected =
    size === 0 ? Math.min(length, UNSIZED_BYTES) : Math.min(length, Math.max(0, size - offset));
  let data = Buffer.allocUnsafe(expected);
  let got = 0;
  while (got < data.length) {
    const count = readSync(fd, data, got, Math.min(READ_SLICE_BYTES, data.length - got), offset + got);
    if (count === 0) break;
    got += count;
    if (size === 0 && got === data.length && got < length) data = grow(data, length);
    if (turns.isOver && got < data.length) await turns.pass();
  }
  return data.subarray(0, got);
}

function grow(data: Uint8Array, most: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(Math.min(data.length * 2, most));
  larger.set(data);
  return larger;
}

function byteCount(path: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidRangeError(path, value);
  return value;
}
