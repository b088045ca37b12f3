// Where a child's output comes from: the reading end of a FIFO (see `fifo-reader.ts`), or the socket Node made for it.

import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * Less than the 64 KiB a pipe holds: what is made of a chunk (a frame with a head, some escapes) then still fits the
 * next pipe in one piece.
 */
export const CHUNK_BYTES = 56 * 1024;

export interface PipeSink {
  /** The chunk is the sink's to keep. False: no more for now, until `resume`. */
  data(chunk: Buffer): boolean;
  /** Once, when there is nothing more to come and the descriptor is closed. */
  end(): void;
}

export interface PipeSource {
  resume(): void;
  /** The leader has ended: what it wrote is all there. A source that would learn of that by itself need not look. */
  lookNow?(): void;
  /** What lies in the pipe at this moment, `maxBytes` of it at most. */
  takeRest(maxBytes: number): Buffer[];
  /** The event loop no longer stays alive for it. */
  unref(): void;
  destroy(): void;
}

/** One for all: it is filled and emptied again within one callback. */
export const scratch = Buffer.allocUnsafeSlow(CHUNK_BYTES);

export function readChildStream(stream: Readable, sink: PipeSink): PipeSource {
  stream.on('data', (chunk: Buffer) => {
    if (!sink.data(chunk)) stream.pause();
  });
  stream.on('error', () => {});
  stream.once('close', () => sink.end());
  return {
    resume: () => void stream.resume(),
    takeRest: (maxBytes) => {
      if (stream.destroyed) return [];
      const held = stream.read() as Buffer | null;
      const fd = descriptorOf(stream);
      return [...(held === null ? [] : [held]), ...(fd === undefined ? [] : readNow(fd, maxBytes))];
    },
    unref: () => void (stream as Partial<Socket>).unref?.(), // that of a child has none under Bun
    destroy: () => void stream.destroy(),
  };
}

/** The descriptor does not block, so this ends as soon as the pipe is empty. */
export function readNow(fd: number, maxBytes: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let total = 0; total < maxBytes; ) {
    let length: number;
    try {
      length = readSync(fd, scratch, 0, CHUNK_BYTES, null);
    } catch {
      break; // EAGAIN: empty for now
    }
    if (length === 0) break;
    chunks.push(Buffer.from(scratch.subarray(0, length)));
    total += length;
  }
  return chunks;
}

/** Node has no public way to it. */
function descriptorOf(stream: Readable): number | undefined {
  const fd = (Reflect.get(stream, '_handle') as { fd?: number } | null | undefined)?.fd;
  return fd === undefined || fd < 0 ? undefined : fd;
}
