// A path, as every method takes it.

import * as z from 'zod/mini';

/** Longest path taken; the kernel's own limit. */
export const MAX_PATH_CHARS = 4096;

export const Path = z.string().check(z.minLength(1), z.maxLength(MAX_PATH_CHARS));
