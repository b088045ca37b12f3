// What a write can be asked to do, and what it has done: shared by the two ways of writing.

import type { Expectation } from './expectation.js';

export interface WriteOptions {
  /** `create` fails if anything is there, a link included. `append` adds to the file itself. Default `replace`. */
  readonly mode?: 'replace' | 'create' | 'append';
  /** Readers see the old content or the new, never a part. Default true. An append is never atomic. */
  readonly atomic?: boolean;
  /** On the disk, content and name, before the promise resolves. Default true. */
  readonly durable?: boolean;
  readonly mkdirParents?: boolean;
  /** Write only if the file is still this one; else ConflictError. A file that is not there is a conflict. */
  readonly expect?: Expectation;
  /** Mode of a file that is new, exactly; default 0666 less the umask. A file that was there keeps its mode. */
  readonly permissions?: number;
  /** The caller's own cap, at most MAX_WRITE_BYTES. */
  readonly maxBytes?: number;
  /** Heeded until the content takes its place; then the write is done. */
  readonly signal?: AbortSignal;
}

/** `renamed`: a name of the directory now means another file, which is a change of the directory. */
export type Outcome = Written & { readonly renamed: boolean };

export interface Written {
  /** Of the whole file, afterwards. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly created: boolean;
}

/** For a file that is new, less the umask. */
export const NEW_FILE_MODE = 0o666;
