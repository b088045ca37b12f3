// Standard input and output under Bun, as streams that make their writers wait: its own take all that comes into memory.

import type { Readable, Writable } from 'node:stream';
import { bun, type BunSink } from './bun.js';
import { BunReader } from './bun-reader.js';

const STDIN = 0;
const STDOUT = 1;
/** What a pipe holds. */
const CHUNK_BYTES = 64 * 1024;

type Done = (error?: Error | null) => void;

interface StandardStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Undefined under Node, whose own are as they should be. */
export const openStandardStreams: (() => StandardStreams) | undefined =
  bun === undefined ? undefined : () => ({ input: openInput(), output: openOutput() });

/** node:stream is asked for here and not above: the first answer goes out before there are streams. */
function openInput(): Readable {
  let reader: BunReader | undefined;
  const input = new (process.getBuiltinModule('node:stream').Readable)({
    read: () => {
      if (reader !== undefined) return reader.resume();
      reader = new BunReader(STDIN, {
        chunkBytes: CHUNK_BYTES,
        keepOpen: true,
        data: (chunk) => input.push(chunk),
        end: () => void input.push(null),
      });
    },
    destroy: (error, done) => {
      reader?.destroy();
      done(error);
    },
  });
  return input;
}

function openOutput(): Writable {
  const sink = bun?.file(STDOUT).writer();
  /** The next write waits until the system has all of this one. */
  const put = async (chunks: readonly Buffer[], done: Done): Promise<void> => {
    try {
      for (const chunk of chunks) Promise.resolve(sink?.write(chunk)).catch(() => {}); // `flush` tells
      await sink?.flush();
    } catch (error) {
      return done(error as Error);
    }
    done();
  };
  return new (process.getBuiltinModule('node:stream').Writable)({
    write: (chunk: Buffer, _encoding, done) => void put([chunk], done),
    writev: (chunks: { readonly chunk: Buffer }[], done) =>
      void put(
        chunks.map(({ chunk }) => chunk),
        done,
      ),
    destroy: (error, done) => {
      void endQuietly(sink); // it has a descriptor of its own, which shall not outlive us
      done(error);
    },
  });
}

async function endQuietly(sink: BunSink | undefined): Promise<void> {
  try {
    await sink?.end();
  } catch {
    // Whoever wrote has been told.
  }
}
