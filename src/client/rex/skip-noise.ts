// What a login prints before the protocol begins: banners, greetings, complaints of rc files. Tolerated, and remembered.

import { Transform, type TransformCallback } from 'node:stream';
import { LocalError } from '../../base/errors.js';

/** Noise before the first line of protocol; past it, something else is talking. */
export const MAX_NOISE_BYTES = 64 * 1024;
const MAX_SHOWN_CHARS = 400;
const NEWLINE = 0x0a;

export class NoiseError extends LocalError {
  override readonly name = 'NoiseError';
  readonly noise: string;

  constructor(noise: string, why: string) {
    const shown = noise.trim().slice(0, MAX_SHOWN_CHARS);
    super('noise', shown === '' ? why : `${why}; it printed: ${JSON.stringify(shown)}`);
    this.noise = noise;
  }
}

/** Passes everything on from the first line that is a JSON-RPC message; what came before is in `noise`. */
export class SkipNoise extends Transform {
  #held: Buffer = Buffer.alloc(0);
  #noise = '';
  #begun = false;

  get noise(): string {
    return this.#noise;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#begun) {
      done(null, chunk);
      return;
    }
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let end = this.#held.indexOf(NEWLINE); end !== -1; end = this.#held.indexOf(NEWLINE)) {
      const line = this.#held.subarray(0, end + 1);
      if (isMessage(line)) {
        this.#begun = true;
        done(null, this.#held);
        this.#held = Buffer.alloc(0);
        return;
      }
      this.#noise += line.toString('utf8');
      this.#held = this.#held.subarray(end + 1);
    }
    const tooMuch =
      this.#noise.length + this.#held.length > MAX_NOISE_BYTES && !startsLikeMessage(this.#held);
    done(tooMuch ? this.#giveUp('the other side does not speak REXD') : null);
  }

  override _flush(done: TransformCallback): void {
    done(this.#begun ? null : this.#giveUp('the connection ended before the first answer'));
  }

  #giveUp(why: string): NoiseError {
    this.#noise += this.#held.toString('utf8');
    return new NoiseError(this.#noise, why);
  }
}

/** A long first answer is no noise, however long it takes to end. */
function startsLikeMessage(bytes: Buffer): boolean {
  return bytes.subarray(0, 256).toString('utf8').trimStart().startsWith('{"jsonrpc"');
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
