// The first line that comes over a socket; what follows it stays in the socket.

import type { Readable } from 'node:stream';
import { LocalError } from '../../../base/errors.js';

/** Of the first line of either side: a key has all the variables of its caller in it. */
export const MAX_GREETING_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Rejects when the socket ends before there is one, or it is too long. */
export function readFirstLine(socket: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0);
    const settle = (): void => {
      socket.off('data', onData).off('close', onClose).off('error', onClose);
      socket.pause();
    };
    const onClose = (): void => {
      settle();
      reject(new LocalError('no_greeting', 'the connection ended before a word was said'));
    };
    const onData = (chunk: Buffer): void => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = held.indexOf(NEWLINE);
      if (end === -1 && held.length <= MAX_GREETING_BYTES) return;
      settle();
      if (end === -1 || end > MAX_GREETING_BYTES) {
        reject(new LocalError('no_greeting', 'a first line that is too long'));
        return;
      }
      if (end + 1 < held.length) socket.unshift(held.subarray(end + 1));
      resolve(held.toString('utf8', 0, end));
    };
    socket.on('data', onData).on('close', onClose).on('error', onClose);
    socket.resume(); // it is paused when a line was read from it before
  });
}
