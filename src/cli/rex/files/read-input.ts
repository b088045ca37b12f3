// What a command is given to write: on the command line, in a file of this machine, or on standard input.

import { createReadStream } from 'node:fs';
import { errnoOf, toError } from '../../../base/errors.js';
import { UsageError } from '../../flags.js';
import { FailedError } from '../../failed-error.js';

/** Bytes in the order they come. `-` is standard input. */
export async function* inputFrom(file: string): AsyncGenerator<Buffer, void> {
  const source = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const bytes of source as AsyncIterable<Buffer | string>) yield Buffer.from(bytes);
  } catch (thrown) {
    const why = errnoOf(thrown) === 'ENOENT' ? 'no such file' : toError(thrown).message;
    throw new FailedError(`${file === '-' ? 'standard input' : file}: ${why}`);
  }
}

/** All of it, up to a cap. */
export async function readInput(file: string, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let held = 0;
  for await (const bytes of inputFrom(file)) {
    held += bytes.length;
    if (held > maxBytes) throw new UsageError(`${file}: more than ${maxBytes} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}
