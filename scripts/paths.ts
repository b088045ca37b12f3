// Where things are in this repository.

import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const DIST = `${ROOT}dist`;
export const LOCAL_BIN = `${ROOT}node_modules/.bin`;
