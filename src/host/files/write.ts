// Writing a file inside the roots: replace, create or append, by default atomically and durably.

import { ConflictError, TooLargeError, typedError } from './errors.js';
import { currentVersion } from './expectation.js';
import { locate } from './place.js';
import { syncDirectory } from './put-bytes.js';
import type { RootSet } from './root-set.js';
import { Turns } from './turns.js';
import { writeAtomically } from './write-atomically.js';
import { writeInPlace } from './write-in-place.js';
import type { WriteOptions, Written } from './write-options.js';

/** The most one write takes. */
export const MAX_WRITE_BYTES = 64 * 1024 * 1024;

export interface WriteResult extends Written {
  readonly path: string;
  readonly bytesWritten: number;
}

/**
 * A link inside the roots is followed and stays a link; its target is what is written. Parents made for a write that
 * then fails are left behind, everything else is as it was (an append that fails half-way may have added a part).
 */
export async function writeFile(
  set: RootSet,
  path: string,
  data: Uint8Array,
  options: WriteOptions = {},
): Promise<WriteResult> {
  const cap = Math.min(options.maxBytes ?? MAX_WRITE_BYTES, MAX_WRITE_BYTES);
  if (data.length > cap) throw new TooLargeError(path, data.length, cap);
  const turns = new Turns(options.signal);
  const create = { made: 0 };
  using place = locate(set, path, {
    follow: options.mode !== 'create',
    ...(options.mkdirParents === true && { create }),
  });
  try {
    const write = options.mode === 'append' || options.atomic === false ? writeInPlace : writeAtomically;
    const written = await write(set, place, data, options, turns);
    if (options.durable !== false && (written.renamed || written.created || create.made > 0)) {
      await syncDirectory(place.parent, create.made);
    }
    const { size, mtimeMs, created } = written;
    return { path: place.asked, bytesWritten: data.length, size, mtimeMs, created };
  } catch (error) {
    if (!(error instanceof ConflictError)) throw typedError(error, place.asked);
    throw new ConflictError(place.asked, await currentVersion(set, place, turns));
  }
}
