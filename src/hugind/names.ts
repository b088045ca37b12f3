// Names that come from outside and become parts of paths: what is not plainly a name is refused before anything is touched.

import * as z from 'zod/mini';

/** Of a config or an agent; with an ending it is still a file name everywhere. */
export const MAX_NAME_CHARS = 128;
/** Of a user or a repository; the hub itself allows 96. */
export const MAX_REPO_PART_CHARS = 96;
/** Of a file within a repository, folders included. */
export const MAX_FILE_NAME_CHARS = 1024;
/** Folders within a repository. */
export const MAX_FILE_DEPTH = 8;
/** Of a path that a client names, as the system has it. */
export const MAX_PATH_CHARS = 4096;

/** A dot first would hide it, or lead up. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
const NAME_RULE = 'expected a name of letters, digits, ".", "_" and "-" that does not begin with "."';
const PLAIN_SEGMENT = /^[^/\\\p{Cc}\p{Cs}]+$/u;
const MAX_SEGMENT_BYTES = 240; // with what we put around it, of the 255 that file systems allow

export const nameSchema = z
  .string()
  .check(z.minLength(1), z.maxLength(MAX_NAME_CHARS), z.refine(isName, { error: NAME_RULE }));

export const repoSchema = z.string().check(z.refine(isRepo, { error: 'expected "user/repository"' }));

export const fileSchema = z
  .string()
  .check(
    z.minLength(1),
    z.maxLength(MAX_FILE_NAME_CHARS),
    z.refine(isFileName, { error: 'expected the name of a file within the repository' }),
  );

export const pathSchema = z.string().check(
  z.minLength(1),
  z.maxLength(MAX_PATH_CHARS),
  z.refine((path) => !path.includes('\0'), { error: 'a path has no NUL in it' }),
);

export function isName(text: string): boolean {
  return text.length <= MAX_NAME_CHARS && NAME.test(text) && !text.includes('..');
}

export function isRepo(text: string): boolean {
  const parts = text.split('/');
  return (
    parts.length === 2 &&
    parts.every((part) => part.length <= MAX_REPO_PART_CHARS && NAME.test(part) && !part.includes('..'))
  );
}

/** Hidden names are ours: unfinished downloads, locks. */
export function isFileName(text: string): boolean {
  const segments = text.split('/');
  return (
    text.length <= MAX_FILE_NAME_CHARS &&
    segments.length <= MAX_FILE_DEPTH + 1 &&
    segments.every(
      (segment) =>
        PLAIN_SEGMENT.test(segment) &&
        !segment.startsWith('.') &&
        Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES,
    )
  );
}
