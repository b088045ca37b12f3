// A path, as every method takes it.

import * as z from 'zod/mini';
import { MAX_PATH_CHARS } from './open-bounds.js';

export const Path = z.string().check(z.minLength(1), z.maxLength(MAX_PATH_CHARS));
