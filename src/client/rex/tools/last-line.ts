// The last line that a command has written so far, for people who wait.

import { stripVTControlCharacters } from 'node:util';

/** Of a line, as much as is shown. */
export const MAX_LAST_LINE_CHARS = 200;
/** Bytes of output that are looked at for it. */
const MAX_HELD_BYTES = 4096;

export class LastLine {
  #held: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#held =
      chunk.length >= MAX_HELD_BYTES
        ? Buffer.from(chunk.subarray(-MAX_HELD_BYTES))
        : Buffer.concat([this.#held, chunk]).subarray(-MAX_HELD_BYTES);
  }

  /** Progress bars write one line over and over: what stands there now is what counts. */
  get text(): string {
    const lines = stripVTControlCharacters(this.#held.toString('utf8')).split(/[\n\r]+/);
    const last = lines.map((line) => line.trim()).findLast((line) => line !== '');
    return last?.slice(0, MAX_LAST_LINE_CHARS) ?? '';
  }
}
