// A pair of links inside one process: what one writes, the other reads, with back-pressure and no socket.

import { duplexPair, type Duplex } from 'node:stream';
import { closeDuplex } from './close-stream.js';
import type { StreamLink } from './link.js';

/** In src and not in test: a client in the same process as its server uses it too. */
export function linkedPair(): [StreamLink, StreamLink] {
  const [left, right] = duplexPair();
  tellWhenGone(left, right);
  tellWhenGone(right, left);
  return [memoryLink(left), memoryLink(right)];
}

function memoryLink(stream: Duplex): StreamLink {
  let closing: Promise<void> | undefined;
  return {
    input: stream,
    output: stream,
    name: 'memory',
    close: () => (closing ??= closeDuplex(stream)),
  };
}

/**
 * A duplexPair does not pass on that one side was destroyed, as a socket would: the other still reads what is there,
 * then the end, and its writes are over.
 */
function tellWhenGone(gone: Duplex, other: Duplex): void {
  gone.once('close', () => {
    if (other.destroyed) return;
    if (other.readableEnded) {
      other.destroy();
      return;
    }
    other.once('end', () => other.destroy());
    other.push(null);
  });
}
