// A text on standard output, whole, and the exit code that goes with it.

import { writeSync } from 'node:fs';
import { LocalError } from '../base/errors.js';
import { EXIT } from './exit-codes.js';

export async function printLine(text: string): Promise<number> {
  const bytes = Buffer.from(`${text}\n`);
  const taken = writeNow(bytes);
  if (taken === bytes.length) return EXIT.ok;
  return await new Promise((resolve, reject) => {
    process.stdout.once('error', () => {}); // the callback is told as well
    process.stdout.write(bytes.subarray(taken), (error) => {
      if (error === undefined || error === null) resolve(EXIT.ok);
      else reject(new LocalError('output_lost', `cannot write: ${error.message}`));
    });
  });
}

/** A plain system call, which is done before Node's streams are loaded. What it cannot write is for them. */
function writeNow(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch {
    return 0;
  }
}
