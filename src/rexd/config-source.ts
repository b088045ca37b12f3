// The text of a configuration file.

import { readFileSync, statSync } from 'node:fs';
import { errnoOf } from '../base/errors.js';
import { ConfigError } from './settings.js';

/** A configuration is a page of text; whatever is larger is some other file. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

/** Throws ConfigError. */
export function readSource(file: string): string {
  try {
    const stat = statSync(file);
    // A FIFO would keep us waiting and a device would never end.
    if (!stat.isFile()) throw new ConfigError(file, 'is not a regular file');
    const source = stat.size > MAX_CONFIG_BYTES ? undefined : readFileSync(file, 'utf8');
    if (source !== undefined && source.length <= MAX_CONFIG_BYTES) return source;
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw thrown;
    const errno = errnoOf(thrown);
    throw new ConfigError(file, errno === 'ENOENT' ? 'no such file' : `cannot be read (${errno})`, thrown);
  }
  throw new ConfigError(file, `is larger than ${MAX_CONFIG_BYTES} bytes`);
}
