// Links over standard streams: this process's own, or those of a child that someone else has started.

import { fstatSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { closePair } from './close-stream.js';
import { earlyLink } from './early-stdio.js';
import type { Link, StreamLink } from './link.js';

const STDOUT = 1;

/**
 * The one who started this process is the other side. Nothing else may write to stdout from here on. With the `first`
 * bytes (see readFirstBytes), they can be answered before Node's streams are loaded.
 */
export function processLink(first?: Buffer): Link {
  let streams: StreamLink | undefined;
  const open = (): StreamLink => (streams ??= pairLink(process.stdin, process.stdout, 'stdio'));
  const link = first === undefined ? open() : earlyLink(first, open);
  // A stream over a pipe or a socket puts it into non-blocking mode; before there is one, a write could wait.
  const isPipe = isPipeOrSocket(STDOUT);
  return { ...link, writeNow: (bytes) => (isPipe && streams !== undefined ? writeToStdout(bytes) : 0) };
}

/** A file or a terminal is left as it is, and written to by the stream alone. */
function isPipeOrSocket(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

/** How much the reader had room for. Whatever goes wrong is the stream's to find out, and to tell. */
function writeToStdout(bytes: Uint8Array): number {
  try {
    return writeSync(STDOUT, bytes);
  } catch {
    return 0;
  }
}

/** The other side is a child; its life is the business of whoever spawned it. */
export function childLink(
  child: { readonly stdin: Writable; readonly stdout: Readable },
  name = 'child',
): StreamLink {
  return pairLink(child.stdout, child.stdin, name);
}

function pairLink(input: Readable, output: Writable, name: string): StreamLink {
  // A reader that went away is an event for the writer, never an uncaught EPIPE.
  output.on('error', () => {});
  // Remembered, because Node takes it back: process.stdout forgets that it was ended as soon as it has closed.
  let outputOver = false;
  output.once('finish', () => (outputOver = true));
  output.once('error', () => (outputOver = true));
  let closing: Promise<void> | undefined;
  return { input, output, name, close: () => (closing ??= closePair(input, output, outputOver)) };
}
