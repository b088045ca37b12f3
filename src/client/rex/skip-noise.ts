// What a login prints before the protocol begins: banners, greetings, complaints of rc files. Tolerated, and remembered.

import { Transform, type TransformCallback } from 'node:stream';
import { LocalError } from '../../base/errors.js';
import { MAX_LINE_BYTES } from '../../wire/ndjson/line-splitter.js';

/** Noise before the first line of protocol; past it, something else is talking. */
export const MAX_NOISE_BYTES = 64 * 1024;
const MAX_SHOWN_CHARS = 400;
const NEWLINE = 0x0a;
/** How our own server begins every message, and most others do. */
const BEGINNING = '{"jsonrpc"';

export class NoiseError extends LocalError {
  override readonly name = 'NoiseError';
  readonly noise: string;
  /** More than is tolerated; else the connection ended in it. */
  readonly tooMuch: boolean;

  constructor(noise: string, tooMuch: boolean) {
    const why = tooMuch
      ? 'the other side does not speak REXD'
      : 'the connection ended before the first answer';
    const shown = noise.trim().slice(0, MAX_SHOWN_CHARS);
    super('noise', shown === '' ? why : `${why}; it printed: ${JSON.stringify(shown)}`);
    this.noise = noise;
    this.tooMuch = tooMuch;
  }
}

/** Passes everything on from the first JSON-RPC message that ends a line; what came before is in `noise`. */
export class SkipNoise extends Transform {
  #held: Buffer = Buffer.alloc(0);
  #noise: Buffer[] = [];
  #noiseBytes = 0;
  #begun = false;

  get noise(): string {
    return Buffer.concat(this.#noise).toString('utf8');
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#begun) {
      done(null, chunk);
      return;
    }
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let end = this.#held.indexOf(NEWLINE); end !== -1; end = this.#held.indexOf(NEWLINE)) {
      const start = findMessage(this.#held.subarray(0, end + 1));
      this.#pass(start ?? end + 1);
      if (start !== undefined) {
        this.#begun = true;
        done(null, this.#held);
        this.#held = Buffer.alloc(0);
        return;
      }
    }
    const begins = this.#held.length <= MAX_LINE_BYTES && this.#held.includes(BEGINNING);
    const tooMuch = this.#noiseBytes + this.#held.length > MAX_NOISE_BYTES && !begins;
    done(tooMuch ? this.#giveUp(true) : null);
  }

  override _flush(done: TransformCallback): void {
    done(this.#begun ? null : this.#giveUp(false));
  }

  #giveUp(tooMuch: boolean): NoiseError {
    this.#pass(this.#held.length);
    return new NoiseError(this.noise, tooMuch);
  }

  #pass(bytes: number): void {
    if (bytes === 0) return;
    this.#noise.push(this.#held.subarray(0, bytes));
    this.#noiseBytes += bytes;
    this.#held = this.#held.subarray(bytes);
  }
}

/** Where in the line the message begins: a greeting without a newline may stand before it. */
function findMessage(line: Buffer): number | undefined {
  const starts = [0, line.indexOf(BEGINNING)];
  return starts.find((start) => start !== -1 && isMessage(line.subarray(start)));
}

function isMessage(line: Buffer): boolean {
  const text = line.toString('utf8').trim();
  if (!text.startsWith('{') && !text.startsWith('[')) return false;
  try {
    const value: unknown = JSON.parse(text);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'object' && first !== null && 'jsonrpc' in first && first.jsonrpc === '2.0';
  } catch {
    return false;
  }
}
