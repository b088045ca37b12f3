// A link that is as slow as it is told to be, in both directions, with little room in between.

import { Transform, type TransformCallback } from 'node:stream';
import type { StreamLink } from '../../src/wire/transport/link.js';
import { childLink } from '../../src/wire/transport/stdio.js';

/** What a slow link takes before it makes the writer wait. */
const ROOM_BYTES = 64 * 1024;

/** So many bytes a second each way; as fast as the link itself when that is Infinity. */
export function slowLink(link: StreamLink, bytesPerS: number): StreamLink {
  if (bytesPerS === Number.POSITIVE_INFINITY) return link;
  const input = link.input.pipe(new Throttle(bytesPerS));
  link.input.once('error', (error) => input.destroy(error));
  const output = new Throttle(bytesPerS);
  output.pipe(link.output);
  return { ...childLink({ stdin: output, stdout: input }, link.name), close: () => link.close() };
}

class Throttle extends Transform {
  readonly #bytesPerMs: number;
  /** When what was passed on so far would have arrived. */
  #busyUntil = 0;

  constructor(bytesPerS: number) {
    super({ highWaterMark: ROOM_BYTES });
    this.#bytesPerMs = bytesPerS / 1000;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const now = performance.now();
    this.#busyUntil = Math.max(now, this.#busyUntil) + chunk.length / this.#bytesPerMs;
    setTimeout(() => done(null, chunk), Math.max(0, this.#busyUntil - now));
  }
}
