// What a worker prints on stderr, line by line: cut where a line is too long, thinned out where there are too many.

import { LineSplitter } from '../../wire/ndjson/line-splitter.js';

/** Of one line; what is longer is cut, and says so. */
export const MAX_STDERR_LINE_BYTES = 16 * 1024;
/** Of one worker in one second; what is more is left out and counted: a worker that raves must not stop the bus. */
export const MAX_STDERR_BYTES = 256 * 1024;
const SECOND_MS = 1000;

export type StderrSink = (line: string) => void;

/** Reads `stderr` to its end, and gives its lines to `sink`. */
export async function passOnStderr(stderr: AsyncIterable<Buffer>, sink: StderrSink): Promise<void> {
  const thinned = new Thinner(sink);
  const splitter = new LineSplitter(
    (bytes, start, end) => thinned.put(bytes.toString('utf8', start, bytes[end - 1] === CR ? end - 1 : end)),
    {
      maxLineBytes: MAX_STDERR_LINE_BYTES,
      onOversize: (_, beginning) =>
        thinned.put(`${beginning.toString('utf8')}… (a line that is too long was cut)`),
    },
  );
  for await (const chunk of stderr) splitter.push(chunk);
  if (splitter.heldBytes > 0) splitter.push(Buffer.from('\n')); // a last line without its end
  thinned.end();
}

const CR = 13;

class Thinner {
  readonly #sink: StderrSink;
  #sinceMs = 0;
  #bytes = 0;
  #left = 0;

  constructor(sink: StderrSink) {
    this.#sink = sink;
  }

  put(line: string): void {
    const now = performance.now();
    if (now - this.#sinceMs >= SECOND_MS) {
      this.end();
      this.#sinceMs = now;
      this.#bytes = 0;
    }
    this.#bytes += line.length + 1;
    if (this.#bytes > MAX_STDERR_BYTES) this.#left += 1;
    else this.#sink(line);
  }

  end(): void {
    if (this.#left > 0) this.#sink(`… ${this.#left} lines were left out: too many in one second`);
    this.#left = 0;
  }
}
