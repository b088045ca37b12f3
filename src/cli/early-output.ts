// Output before there are streams: the first of it is written by plain calls, which is what Node's streams for pipes and
// files come to; where that would not do, and for more, the streams are opened.

import { writeSync } from 'node:fs';
import { errnoOf } from '../base/errors.js';
import { explainWrite, writeTo } from './standard-output.js';

/** Written without streams. A pipe takes this much whole, so that a reader that is slow is waited for with streams. */
export const MAX_PLAIN_BYTES = 64 * 1024;

const FDS = { stdout: 1, stderr: 2 } as const;

export class EarlyOutput {
  #plain = MAX_PLAIN_BYTES;

  /** Undefined when it is written. Throws, or rejects, with a ReaderGoneError when nobody reads. */
  write(stream: 'stdout' | 'stderr', bytes: Buffer): Promise<void> | undefined {
    const taken = bytes.length <= this.#plain ? writeAtOnce(FDS[stream], bytes) : 0;
    this.#plain = taken === bytes.length ? this.#plain - taken : -1; // once streams have begun they go on
    return taken === bytes.length ? undefined : writeTo(process[stream], bytes.subarray(taken));
  }
}

/** A last word, for people. */
export function sayAtOnce(text: string): void {
  try {
    writeSync(FDS.stderr, `${text}\n`);
  } catch {
    // nobody to tell
  }
}

/** How much of it was taken. */
function writeAtOnce(fd: number, bytes: Buffer): number {
  let taken = 0;
  try {
    while (taken < bytes.length) taken += writeSync(fd, bytes, taken);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EAGAIN') throw explainWrite(thrown);
  }
  return taken;
}
