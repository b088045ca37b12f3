// Replacing a text in a file's bytes: exactly, and only where it is clear what is meant.

import { ByteFinder, Needle } from '../../host/files/byte-finder.js';
import { TooLargeError } from '../../host/files/errors.js';
import { Turns } from '../../host/files/turns.js';
import { MAX_WRITE_BYTES } from '../../host/files/write.js';
import { invalidParam } from '../errors.js';

export interface Replacement {
  readonly content: Buffer;
  readonly replacements: number;
}

export interface ReplaceOptions {
  readonly all: boolean;
  /** Of the file, to name it in errors. */
  readonly path: string;
  readonly signal?: AbortSignal;
}

/**
 * By bytes, so that a file in any encoding keeps what was not meant. `$&` and its like have no meaning here.
 *
 * Gone through twice, to count and to copy: places that are remembered may be sixty million.
 */
export async function replaceText(
  content: Buffer,
  oldText: string,
  newText: string,
  { all, path, signal }: ReplaceOptions,
): Promise<Replacement> {
  if (oldText === newText) throw invalidParam('new_string', 'is identical to old_string');
  const [wanted, instead] = [new Needle(Buffer.from(oldText)), Buffer.from(newText)];
  const turns = new Turns(signal);
  const growth = instead.length - wanted.bytes.length;
  let count = 0;
  await eachPlace(content, wanted, turns, () => {
    count += 1;
    const size = content.length + count * growth;
    if (growth > 0 && size > MAX_WRITE_BYTES) throw new TooLargeError(path, size, MAX_WRITE_BYTES);
    return all || count < 2;
  });
  if (count === 0) throw invalidParam('old_string', 'not found in the file');
  if (count > 1 && !all) {
    throw invalidParam('old_string', 'matched multiple locations; make it longer or set replace_all=true');
  }
  const result = Buffer.allocUnsafe(content.length + count * growth);
  let [from, to] = [0, 0];
  await eachPlace(content, wanted, turns, (at) => {
    to += copyInto(result, to, content, from, at);
    to += copyInto(result, to, instead, 0, instead.length);
    from = at + wanted.bytes.length;
    return all;
  });
  copyInto(result, to, content, from, content.length);
  return { content: result, replacements: count };
}

/** Places that do not overlap, from left to right, until `visit` has seen enough. */
async function eachPlace(
  content: Buffer,
  wanted: Needle,
  turns: Turns,
  visit: (at: number) => boolean,
): Promise<void> {
  const finder = new ByteFinder(content, wanted);
  for (let at = finder.next(); at !== undefined; at = finder.next()) {
    if (at === 'pause') {
      if (turns.isOver) await turns.pass();
    } else if (visit(at)) finder.seek(at + wanted.bytes.length);
    else return;
  }
}

/** By hand where it is little: a call of the system's own costs as much as fifty bytes. */
function copyInto(target: Buffer, to: number, source: Buffer, from: number, end: number): number {
  const length = end - from;
  if (length > 32) return source.copy(target, to, from, end);
  for (let i = 0; i < length; i++) target[to + i] = source[from + i] as number;
  return length;
}
