// Ending a stream for good: the last bytes go out, nothing waits for ever, nothing is thrown.

import type { Duplex, Readable, Writable } from 'node:stream';
import { LINGER_MS } from './link.js';

/**
 * Ends a duplex stream. It reads on until the other side ends too: a socket closed over unread bytes is reset, and a
 * reset may destroy bytes of ours that the other side has not read yet.
 */
export async function closeDuplex(stream: Duplex): Promise<void> {
  stream.on('error', ignore);
  if (!stream.destroyed) {
    stream.end();
    stream.resume();
    await waitForClose(stream);
  }
}

/** Ends a one-way pair, such as the stdin and stdout of a child. */
export async function closePair(input: Readable, output: Writable, outputOver: boolean): Promise<void> {
  input.on('error', ignore);
  output.on('error', ignore);
  if (!outputOver) await endOutput(output);
  input.destroy();
}

async function endOutput(output: Writable): Promise<void> {
  if (output.destroyed || output.writableFinished) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, LINGER_MS);
    function done(): void {
      clearTimeout(timer);
      resolve();
    }
    output.once('finish', done);
    output.once('close', done);
    output.once('error', done);
    output.end();
  });
  output.destroy();
}

async function waitForClose(stream: Duplex): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => stream.destroy(), LINGER_MS);
    stream.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function ignore(): void {}
