// Outputs that were too long to be shown, kept for a while under a name that `read` understands.

/** Of one output; the rest of a longer one is gone. */
export const MAX_KEPT_OUTPUT_BYTES = 2 * 1024 * 1024;
/** Of all that are kept; the oldest goes first. */
export const MAX_ALL_OUTPUT_BYTES = 16 * 1024 * 1024;

const NAME = /^output:(\d+)$/;

export class KeptOutputs {
  readonly #kept = new Map<string, Buffer>();
  #bytes = 0;
  #count = 0;

  /** Begins one; nothing is kept until `keep`. */
  collect(): OutputCollector {
    return new OutputCollector((bytes) => this.#keep(bytes));
  }

  /** Undefined when the name is none of ours. */
  find(name: string): Buffer | 'gone' | undefined {
    if (!NAME.test(name)) return undefined;
    return this.#kept.get(name) ?? 'gone';
  }

  #keep(bytes: Buffer): string {
    this.#count += 1;
    const name = `output:${this.#count}`;
    this.#kept.set(name, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= MAX_ALL_OUTPUT_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
    return name;
  }
}

export class OutputCollector {
  readonly #keep: (bytes: Buffer) => string;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(keep: (bytes: Buffer) => string) {
    this.#keep = keep;
  }

  push(chunk: Buffer): void {
    const taken = chunk.subarray(0, MAX_KEPT_OUTPUT_BYTES - this.#bytes);
    if (taken.length === 0) return;
    this.#chunks.push(taken);
    this.#bytes += taken.length;
  }

  /** The name it can be read by from now on. */
  keep(): string {
    return this.#keep(Buffer.concat(this.#chunks));
  }
}
