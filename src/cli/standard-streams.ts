// Whether there is anybody at the other end of our standard streams, as far as can be told before the first byte.

import { fstatSync, readFileSync } from 'node:fs';
import { errnoOf } from '../base/errors.js';
import { UsageError } from './flags.js';

const [STDIN, STDOUT] = [0, 1];
const O_ACCMODE = 3;
const O_RDWR = 2;
/** /dev/null on Linux: major 1, minor 3. */
const NULL_DEVICE = 0x103;

/** Throws UsageError for streams that cannot carry a conversation. */
export function assertServable(): void {
  const input = fstatSync(STDIN);
  if (input.isDirectory()) throw new UsageError('standard input is a directory; a client is to be there');
  if (isStandIn(STDIN)) throw new UsageError('standard input is closed: there is no client to serve');
  if (isStandIn(STDOUT)) throw new UsageError('standard output is closed: no client could be answered');
}

/**
 * In place of a closed stream Node opens /dev/null before it runs any of our code: for reading and writing, which nobody
 * does who redirects a stream.
 */
function isStandIn(fd: number): boolean {
  const stat = fstatSync(fd);
  if (!stat.isCharacterDevice() || stat.rdev !== NULL_DEVICE) return false;
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & O_ACCMODE) === O_RDWR;
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return false; // no /proc: then it is simply the end of the input
  }
}
