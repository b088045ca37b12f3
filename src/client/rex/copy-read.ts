// The bytes of a remote file, in order, with some requests on their way: the reader never waits for one round trip at a time.

import type { RexClient } from './rex-client.js';

/** One read: what a server gives at most unless it is configured otherwise. */
export const READ_CHUNK_BYTES = 1024 * 1024;
/** Reads on their way at once. What is asked for and not yet taken is bounded by this many chunks. */
export const MAX_READS_AHEAD = 4;

export interface FileRange {
  readonly offset?: number;
  /** Where to stop, from the beginning of the file; its end when absent. */
  readonly end?: number;
  readonly signal?: AbortSignal;
}

export interface FileFacts {
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
}

export interface RemoteFile {
  readonly facts: FileFacts;
  /** Ends at the size the file had when it was opened, or where it ends by now. */
  readonly chunks: AsyncGenerator<Buffer, void>;
}

/** Rejects with what the server says of the path. */
export async function openRemoteFile(
  client: RexClient,
  path: string,
  range: FileRange = {},
): Promise<RemoteFile> {
  const { offset = 0, end = Number.MAX_SAFE_INTEGER } = range;
  const step = chunkBytes(client);
  const first = await readChunk(
    client,
    path,
    offset,
    Math.min(step, Math.max(end - offset, 1)),
    range.signal,
  );
  const { size, mtime, path: real } = first;
  const stop = Math.min(end, size);
  return { facts: { path: real, size, mtime }, chunks: readOn() };

  async function* readOn(): AsyncGenerator<Buffer, void> {
    const bytes = first.bytes.subarray(0, Math.max(0, stop - offset));
    if (bytes.length > 0) yield bytes;
    if (bytes.length === 0) return;
    yield* readAhead(client, path, { offset: offset + bytes.length, end: stop, step, signal: range.signal });
  }
}

interface Stretch {
  readonly offset: number;
  readonly end: number;
  readonly step: number;
  readonly signal: AbortSignal | undefined;
}

async function* readAhead(client: RexClient, path: string, stretch: Stretch): AsyncGenerator<Buffer, void> {
  const { end, step, signal } = stretch;
  const ahead: { at: number; length: number; read: Promise<{ bytes: Buffer }> }[] = [];
  let next = stretch.offset;
  try {
    for (;;) {
      for (; ahead.length < MAX_READS_AHEAD && next < end; next += step) {
        const length = Math.min(step, end - next);
        const read = readChunk(client, path, next, length, signal);
        read.catch(() => {}); // told when its turn comes
        ahead.push({ at: next, length, read });
      }
      const one = ahead.shift();
      if (one === undefined) return;
      const { bytes } = await one.read;
      if (bytes.length > 0) yield bytes;
      if (bytes.length === one.length) continue;
      // A server may give less than was asked for; then what was asked for beyond is asked for again.
      await Promise.allSettled(ahead.splice(0).map(({ read }) => read));
      if (bytes.length === 0) return; // it has become shorter
      next = one.at + bytes.length;
    }
  } finally {
    await Promise.allSettled(ahead.map(({ read }) => read));
  }
}

async function readChunk(
  client: RexClient,
  path: string,
  offset: number,
  length: number,
  signal: AbortSignal | undefined,
): Promise<FileFacts & { bytes: Buffer }> {
  const params = { path, offset, length, encoding: 'base64' } as const;
  const options = signal === undefined ? undefined : { signal };
  const { content, size, mtime, path: real } = await client.request('fs.read', params, options);
  return { path: real, size, mtime, bytes: Buffer.from(content, 'base64') };
}

function chunkBytes({ session }: RexClient): number {
  const { max_file_read_bytes: limit } = session.limits as { max_file_read_bytes?: number };
  return Math.max(1, Math.min(limit ?? READ_CHUNK_BYTES, READ_CHUNK_BYTES));
}
