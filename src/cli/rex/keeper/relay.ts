// Bytes between a call and the connection it was given, both ways, each at the pace of its reader.

import type { Socket } from 'node:net';
import type { Link } from '../../../wire/transport/link.js';

const NEWLINE = 10;

export type RelayEnd =
  /** The call is over, and left the connection at the end of a line. */
  | 'clean'
  /** The call ended in the middle of a line, or the connection did. */
  | 'broken';

/** Resolves when either side has ended; the connection is left paused, the socket destroyed as soon as all is written. */
export function relay(socket: Socket, { input, output }: Link): Promise<RelayEnd> {
  return new Promise((resolve) => {
    let atLineEnd = true;
    const fromCall = (chunk: Buffer): void => {
      atLineEnd = chunk.at(-1) === NEWLINE;
      if (!output.write(chunk, onOutputFree)) socket.pause();
    };
    const toCall = (chunk: Buffer): void => {
      if (!socket.write(chunk)) input.pause();
    };
    const onOutputFree = (): void => void socket.resume();
    const onSocketFree = (): void => void input.resume();
    const finish = (end: RelayEnd, leave = (): unknown => socket.destroy()): void => {
      socket.off('data', fromCall).off('drain', onSocketFree).off('end', callOver).off('close', callOver);
      input.off('data', toCall);
      input.off('error', linkOver);
      for (const event of ['end', 'close'] as const) input.off(event, linkOver);
      input.pause();
      leave();
      resolve(end);
    };
    const callOver = (): void => finish(atLineEnd ? 'clean' : 'broken');
    // What it said last is still to be read by the call.
    const linkOver = (): void => finish('broken', () => socket.destroySoon());
    socket.on('data', fromCall).on('drain', onSocketFree).on('end', callOver).on('close', callOver);
    input.on('data', toCall);
    input.on('error', linkOver);
    for (const event of ['end', 'close'] as const) input.on(event, linkOver);
    socket.resume();
    input.resume();
    if (input.readableEnded || input.destroyed) linkOver();
  });
}
