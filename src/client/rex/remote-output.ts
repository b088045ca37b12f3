// What a remote process has written, for whoever reads it at whatever pace.
//
// Events are kept up to a cap. A reader that is slower than that loses none of it and holds up nobody else on the same
// connection: what was not kept is fetched again, by offset, when the reader comes to it.

export type StreamName = 'stdout' | 'stderr';

export type OutputTotals = Readonly<Record<StreamName, number>>;

export interface OutputChunk {
  readonly stream: StreamName;
  readonly bytes: Buffer;
}

/** Bytes of `stream` from `offset` on: at least one, at most what fits an answer. */
export type FetchOutput = (stream: StreamName, offset: number) => Promise<Buffer>;

/** What is kept of the output of one process before its reader has come to it. */
export const MAX_KEPT_BYTES = 4 * 1024 * 1024;

interface Kept extends OutputChunk {
  readonly offset: number;
}

interface Progress {
  /** Bytes that events have brought. */
  arrived: number;
  /** Bytes that the reader has. */
  read: number;
  /** Bytes there will ever be. */
  total: number;
}

export class RemoteOutput implements AsyncIterable<OutputChunk> {
  readonly #fetch: FetchOutput;
  readonly #maxKeptBytes: number;
  readonly #progress: Readonly<Record<StreamName, Progress>> = {
    stdout: newProgress(),
    stderr: newProgress(),
  };
  #kept: Kept[] = [];
  #keptBytes = 0;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  #taken = false;

  constructor(fetch: FetchOutput, maxKeptBytes: number = MAX_KEPT_BYTES) {
    this.#fetch = fetch;
    this.#maxKeptBytes = maxKeptBytes;
  }

  get keptBytes(): number {
    return this.#keptBytes;
  }

  push(stream: StreamName, bytes: Buffer): void {
    const progress = this.#progress[stream];
    const offset = progress.arrived;
    progress.arrived += bytes.length;
    // After the first chunk that was not kept, nothing is until the reader has caught up: order within a stream.
    const complete = this.#arrivedBy(stream) === offset;
    if (complete && this.#keptBytes + bytes.length <= this.#maxKeptBytes) {
      this.#kept.push({ stream, bytes, offset });
      this.#keptBytes += bytes.length;
    }
    this.#notify();
  }

  /** The process has ended, having written this much; what has arrived, when nobody said. */
  end(totals?: OutputTotals): void {
    for (const stream of STREAMS) {
      const progress = this.#progress[stream];
      progress.total = totals?.[stream] ?? progress.arrived;
    }
    this.#notify();
  }

  /** Nothing more will come, and not because it was all. What arrived can still be read. */
  fail(reason: Error): void {
    this.#failure ??= reason;
    this.#notify();
  }

  /** Once only: what is read is gone. */
  [Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void> {
    if (this.#taken) throw new TypeError('the output of a process can be read once');
    this.#taken = true;
    return this.#read();
  }

  async *#read(): AsyncGenerator<OutputChunk, void> {
    for (;;) {
      const kept = this.#kept.shift();
      if (kept !== undefined) {
        this.#keptBytes -= kept.bytes.length;
        this.#progress[kept.stream].read += kept.bytes.length;
        yield { stream: kept.stream, bytes: kept.bytes };
        continue;
      }
      const behind = STREAMS.find((stream) => this.#known(stream) > this.#progress[stream].read);
      if (behind !== undefined) {
        const bytes = await this.#fetch(behind, this.#progress[behind].read);
        this.#progress[behind].read += bytes.length;
        yield { stream: behind, bytes };
      } else if (STREAMS.every((stream) => this.#progress[stream].read >= this.#progress[stream].total)) {
        return;
      } else if (this.#failure !== undefined) {
        throw this.#failure;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  /** How far a stream is known to reach: by its events, or by what the end of the process said. */
  #known(stream: StreamName): number {
    const { arrived, total } = this.#progress[stream];
    return Number.isFinite(total) ? Math.max(arrived, total) : arrived;
  }

  /** Up to where the stream is with the reader or kept for it. */
  #arrivedBy(stream: StreamName): number {
    const last = this.#kept.findLast((kept) => kept.stream === stream);
    return last === undefined ? this.#progress[stream].read : last.offset + last.bytes.length;
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

const STREAMS = ['stdout', 'stderr'] as const;

function newProgress(): Progress {
  return { arrived: 0, read: 0, total: Number.POSITIVE_INFINITY };
}
