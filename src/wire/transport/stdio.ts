// Links over standard streams: this process's own, or those of a child that someone else has started.

import { fstatSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { closePair } from './close-stream.js';
import { EagerReads, readAtOnce } from './eager-reads.js';
import { earlyLink } from './early-stdio.js';
import type { Link, StreamLink } from './link.js';

const STDIN = 0;
const STDOUT = 1;

/** For a runtime whose own standard streams are not to be used. */
type OpenStreams = () => { readonly input: Readable; readonly output: Writable };

const nodeStreams: OpenStreams = () => ({ input: process.stdin, output: process.stdout });

/**
 * The one who started this process is the other side. Nothing else may write to stdout from here on. With the `first`
 * bytes (see readFirstBytes), they can be answered before Node's streams are loaded.
 */
export function processLink(first?: Buffer, openStreams: OpenStreams = nodeStreams): Link {
  let streams: StreamLink | undefined;
  const open = (): StreamLink => {
    if (streams !== undefined) return streams;
    const { input, output } = openStreams();
    return (streams = pairLink(input, output, 'stdio'));
  };
  const link = first === undefined ? open() : earlyLink(first, open);
  // A stream over a pipe or a socket puts it into non-blocking mode; before there is one, a write could wait.
  const isPipe = isPipeOrSocket(STDOUT);
  let mayLook: boolean | undefined;
  let eager: EagerReads | undefined;
  const writeNow = (bytes: Uint8Array): number => {
    if (!isPipe || streams === undefined) return 0;
    const taken = writeToStdout(bytes);
    mayLook ??= openStreams === nodeStreams && isPipeOrSocket(STDIN) && isOneOfSeveral();
    if (mayLook && taken === bytes.length) {
      eager ??= new EagerReads(streams.input, () => readAtOnce(STDIN));
      eager.answered();
    }
    return taken;
  };
  return { ...link, writeNow };
}

/** With a single processor, looking would only keep the client from running. Nor is looked where the descriptor may block. */
function isOneOfSeveral(): boolean {
  return process.getBuiltinModule('node:os').availableParallelism() > 1;
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
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // "no room yet" is an exception, and to write down where it came from takes long
  try {
    return writeSync(STDOUT, bytes);
  } catch {
    return 0;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
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
