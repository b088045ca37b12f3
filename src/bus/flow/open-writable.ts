// A stream to write to: the one that is given, or one on a descriptor.

import { createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { toError } from '../../base/errors.js';

export function openWritable(to: number | Writable): Writable {
  if (typeof to !== 'number') return to;
  try {
    return new Socket({ fd: to, readable: false, writable: true });
  } catch (thrown) {
    if ((toError(thrown) as NodeJS.ErrnoException).code !== 'ERR_INVALID_FD_TYPE') throw thrown;
    return createWriteStream('', { fd: to }); // a file, where a pipe was meant to be
  }
}
