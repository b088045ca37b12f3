// The output of a process that somebody else, or somebody earlier, has started: read by offset, as it comes.

import type { OutputChunk, StreamName } from './remote-output.js';
import type { RexParams, RexResult } from './rex-methods.js';

/** Where each stream is read from. */
export type OutputOffsets = Readonly<Record<StreamName, number>>;

export type ReadOutput = (
  params: Omit<RexParams<'exec.read'>, 'process_id'>,
  signal: AbortSignal,
) => Promise<RexResult<'exec.read'>>;

/** One question; when nothing has come by then it is asked again. */
const WAIT_MS = 30_000;
const STREAMS = ['stdout', 'stderr'] as const;

interface Piece extends OutputChunk {
  readonly next: number;
  readonly over: boolean;
}

export class FollowedOutput implements AsyncIterable<OutputChunk> {
  readonly #read: ReadOutput;
  readonly #offsets: OutputOffsets;

  constructor(read: ReadOutput, offsets: Partial<OutputOffsets> = {}) {
    this.#read = read;
    this.#offsets = { stdout: offsets.stdout ?? 0, stderr: offsets.stderr ?? 0 };
  }

  /** Ends with the process. Of each stream one piece is asked for ahead, and no more: the rest waits at the server. */
  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void> {
    const left = new AbortController();
    const pending = new Map<StreamName, Promise<Piece>>();
    const ask = (stream: StreamName, offset: number): void => {
      const piece = this.#ask(stream, offset, left.signal);
      piece.catch(() => {}); // told when its turn comes, if it ever does
      pending.set(stream, piece);
    };
    try {
      for (const stream of STREAMS) ask(stream, this.#offsets[stream]);
      while (pending.size > 0) {
        const { stream, bytes, next, over } = await Promise.race(pending.values());
        pending.delete(stream);
        if (!over) ask(stream, next);
        if (bytes.length > 0) yield { stream, bytes };
      }
    } finally {
      left.abort();
    }
  }

  async #ask(stream: StreamName, offset: number, signal: AbortSignal): Promise<Piece> {
    const read = await this.#read({ stream, offset, encoding: 'base64', wait_ms: WAIT_MS }, signal);
    const bytes = Buffer.from(read.data, 'base64');
    return { stream, bytes, next: offset + bytes.length, over: read.eof };
  }
}
