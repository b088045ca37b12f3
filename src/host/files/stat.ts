// What is known of a path without opening it. A link is described, not followed.

import { lstatSync, type Stats } from 'node:fs';
import { type EntryType, NotADirectoryError, NotFoundError, typedError } from './errors.js';
import { entryOf } from './held-directories.js';
import { cleanPath, readLinkText } from './names.js';
import { typeOf } from './pin.js';
import { locate } from './place.js';
import type { RootSet } from './root-set.js';
import { pin } from './walk.js';

interface FileFacts {
  readonly path: string;
  readonly exists: true;
  readonly type: EntryType;
  readonly size: number;
  /** Whole milliseconds since 1970. */
  readonly mtimeMs: number;
  /** As the kernel has it: the type in the high bits, permissions in the low twelve. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly symlinkTarget?: string;
}

export type StatResult = FileFacts | { readonly path: string; readonly exists: false };

export function statPath(set: RootSet, path: string): StatResult {
  const asked = cleanPath(path);
  try {
    const stat = lookAt(set, asked);
    if (stat === undefined) return { path: asked, exists: false };
    return stat.isSymbolicLink() ? statLink(set, asked) : describe(asked, stat);
  } catch (error) {
    // Below a file there is nothing either.
    if (error instanceof NotFoundError || error instanceof NotADirectoryError) {
      return { path: asked, exists: false };
    }
    throw typedError(error, asked);
  }
}

function lookAt(set: RootSet, asked: string): Stats | undefined {
  const entry = entryOf(set, asked);
  if (entry !== undefined) return lstatSync(entry, ABSENT_IS_NONE);
  const held = pin(set, asked, { keepLastLink: true });
  // Not `using`, which in the language of Node 20 costs as much as one of these calls.
  try {
    return held.stat();
  } finally {
    held[Symbol.dispose]();
  }
}

const ABSENT_IS_NONE = { throwIfNoEntry: false } as const;

/** The text of a link cannot be read off its pin, only off its name: once more, from the pinned directory. */
function statLink(set: RootSet, asked: string): StatResult {
  using place = locate(set, asked);
  const stat = place.look();
  if (stat === undefined) throw new NotFoundError(asked);
  if (!stat.isSymbolicLink()) return describe(asked, stat);
  return { ...describe(asked, stat), symlinkTarget: readLinkText(place.path) };
}

function describe(path: string, stat: Stats): FileFacts {
  return {
    path,
    exists: true,
    type: typeOf(stat),
    size: stat.size,
    mtimeMs: Math.floor(stat.mtimeMs),
    mode: stat.mode,
    uid: stat.uid,
    gid: stat.gid,
  };
}
