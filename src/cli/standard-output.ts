// Standard output, at the pace of whoever reads it; nobody reading any more is no failure.

import { errnoOf, LocalError, toError } from '../base/errors.js';

/** Whoever has seen enough (`… | head`) has ended it on purpose. The same errno of a connection is another matter. */
export class ReaderGoneError extends LocalError {
  override readonly name = 'ReaderGoneError';

  constructor(cause: Error) {
    super('reader_gone', 'nobody reads our output any more', { cause });
  }
}

/** Resolves when the stream has taken it. Rejects with a ReaderGoneError when nobody reads. */
export async function writeTo(stream: NodeJS.WriteStream, bytes: string | Uint8Array): Promise<void> {
  if (!watched.has(stream)) stream.on('error', ignore); // the callback is told as well, a moment earlier
  watched.add(stream);
  await new Promise<void>((resolve, reject) => {
    stream.write(bytes, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(explainWrite(error));
    });
  });
}

/** What a write that failed comes to. */
export function explainWrite(thrown: unknown): Error {
  const error = toError(thrown);
  return GONE.has(codeOf(error)) ? new ReaderGoneError(error) : error;
}

/** Whether all that was written is with the system: then nothing is lost by leaving at once. */
export function isAllWritten(): boolean {
  return [...watched].every((stream) => stream.writableLength === 0);
}

const GONE = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);
const watched = new Set<NodeJS.WriteStream>();

function ignore(): void {}

function codeOf(error: Error): string {
  return errnoOf(error) ?? ('code' in error && typeof error.code === 'string' ? error.code : '');
}
