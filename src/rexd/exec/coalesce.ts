// Chunks that come in a hurry, joined: the first is given at once, what follows within moments travels together.

/**
 * After a piece has gone out, the next waits this long for company. Short enough that nobody sees it, long enough that a
 * program that prints line by line makes hundreds of events a second instead of a hundred thousand.
 */
export const COALESCE_MS = 5;
/**
 * The longer a program goes on, the longer its pieces wait: after so many, so many milliseconds. Clients keep a few
 * thousand events of a command (4096, one of them), and nobody watches every line of what prints without end.
 */
export const PATIENCE: readonly (readonly [pieces: number, ms: number])[] = [
  [512, 20],
  [1024, 50],
  [2048, 100],
  [3072, 250],
];
/** A piece this large is company enough; its line stays below 1 MiB whatever has to be escaped. */
export const COALESCE_BYTES = 56 * 1024;

export interface ChunkSource {
  /** The next chunk, or undefined at the end. One read at a time. */
  read(): Promise<Buffer | undefined>;
}

export async function* coalesce(source: ChunkSource): AsyncGenerator<Buffer, void, undefined> {
  let lastMs = Number.NEGATIVE_INFINITY;
  let pieces = 0;
  let reading = source.read();
  for (;;) {
    const first = await reading;
    if (first === undefined) return;
    reading = source.read();
    const parts = [first];
    let bytes = first.length;
    const waitMs = lastMs + patienceMs(pieces) - performance.now();
    if (waitMs > 0 && bytes < COALESCE_BYTES) {
      using pause = startPause(waitMs);
      while (bytes < COALESCE_BYTES) {
        const next = await Promise.race([reading, pause.over]);
        if (next === OVER) break;
        if (next === undefined) break; // `reading` has settled: the next turn of the loop ends
        parts.push(next);
        bytes += next.length;
        reading = source.read();
      }
    }
    yield parts.length === 1 ? first : Buffer.concat(parts, bytes);
    lastMs = performance.now();
    pieces += 1;
  }
}

/** How long the piece after so many waits for company. */
export function patienceMs(pieces: number): number {
  return PATIENCE.findLast(([after]) => pieces >= after)?.[1] ?? COALESCE_MS;
}

const OVER = Symbol('the pause is over');

function startPause(ms: number): Disposable & { readonly over: Promise<typeof OVER> } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<typeof OVER>((resolve) => {
    timer = setTimeout(() => resolve(OVER), ms);
  });
  return { over, [Symbol.dispose]: () => clearTimeout(timer) };
}
