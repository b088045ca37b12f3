// What every transport gives: bytes in, bytes out, and a way to end both.

import type { Readable, Writable } from 'node:stream';

/** What is asked of an input. Every Readable of Node is one; the other way round would tie each link to node:stream. */
export interface ByteSource {
  readonly destroyed: boolean;
  readonly readableEnded: boolean;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'end' | 'close', listener: () => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'end' | 'close', listener: () => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  isPaused(): boolean;
}

/** What is asked of an output. Every Writable of Node is one. */
export interface ByteSink {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  /** Bytes it has taken and not yet passed on. */
  readonly writableLength: number;
  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
  cork(): void;
  uncork(): void;
  end(): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'finish' | 'close', listener: () => void): unknown;
}

export interface Link {
  readonly input: ByteSource;
  /** May be the same duplex stream as `input`. */
  readonly output: ByteSink;
  /**
   * Past `output`, for whoever knows that it has nothing of its own to write: takes what there is room for right now
   * and says how much that was.
   */
  readonly writeNow?: (bytes: Uint8Array) => number;
  /** It carries lines, each by itself, and no other bytes: nothing of it can be compressed as a stream. */
  readonly linesOnly?: boolean;
  /** For the log: `stdio`, `unix:/run/x.sock`, `tcp:127.0.0.1:4000`, `memory`. */
  readonly name: string;
  /**
   * Ends both directions and resolves when they are gone: what was written goes out first, unless that takes longer
   * than LINGER_MS. Idempotent, never rejects.
   */
  close(): Promise<void>;
}

/** A link over streams of Node, for those who want more of them than a peer does. */
export interface StreamLink extends Link {
  readonly input: Readable;
  readonly output: Writable;
}

/** How long a closing link waits for the other side to take the last bytes and to say goodbye. */
export const LINGER_MS = 1000;
