// Links over standard streams: this process's own, or those of a child that someone else has started.

import type { Readable, Writable } from 'node:stream';
import { closePair } from './close-stream.js';
import type { Link } from './link.js';

/** The one who started this process is the other side. Nothing else may write to stdout from here on. */
export function processLink(): Link {
  return pairLink(process.stdin, process.stdout, 'stdio');
}

/** The other side is a child; its life is the business of whoever spawned it. */
export function childLink(
  child: { readonly stdin: Writable; readonly stdout: Readable },
  name = 'child',
): Link {
  return pairLink(child.stdout, child.stdin, name);
}

function pairLink(input: Readable, output: Writable, name: string): Link {
  // A reader that went away is an event for the writer, never an uncaught EPIPE.
  output.on('error', () => {});
  // Remembered, because Node takes it back: process.stdout forgets that it was ended as soon as it has closed.
  let outputOver = false;
  output.once('finish', () => (outputOver = true));
  output.once('error', () => (outputOver = true));
  let closing: Promise<void> | undefined;
  return { input, output, name, close: () => (closing ??= closePair(input, output, outputOver)) };
}
