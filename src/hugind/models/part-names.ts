// What an unfinished download is called: hidden, beside the place it will have.

import { basename, dirname, join } from 'node:path';

export function partOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.part`);
}

/** What the part is a part of: the validator to go on with. */
export function noteOf(path: string): string {
  return `${partOf(path)}.json`;
}
