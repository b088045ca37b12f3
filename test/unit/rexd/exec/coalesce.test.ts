import * as fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { coalesce, COALESCE_BYTES, COALESCE_MS } from '../../../../src/rexd/exec/coalesce.js';

/** Chunks as they are pushed; `read` waits for the next. */
class Pushed {
  readonly #chunks: (Buffer | undefined)[] = [];
  #reader: ((chunk: Buffer | undefined) => void) | undefined;

  push(chunk: Buffer | undefined): void {
    if (this.#reader === undefined) this.#chunks.push(chunk);
    else this.#reader(chunk);
    this.#reader = undefined;
  }

  read(): Promise<Buffer | undefined> {
    if (this.#chunks.length > 0) return Promise.resolve(this.#chunks.shift());
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }
}

/** From here on time passes only when the test says so. */
function holdClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

afterEach(() => {
  vi.useRealTimers();
});

test('the first chunk is given at once and alone', async () => {
  const source = new Pushed();
  const pieces = coalesce(source);
  source.push(Buffer.from('prompt? '));
  expect((await pieces.next()).value).toEqual(Buffer.from('prompt? '));
  source.push(undefined);
  expect((await pieces.next()).done).toBe(true);
});

test('what follows in a hurry travels together', async () => {
  holdClock(); // however busy the machine is, no time passes between these
  const source = new Pushed();
  const pieces = coalesce(source);
  for (const text of ['a', 'b', 'c', 'd']) source.push(Buffer.from(text));
  source.push(undefined);
  const texts: string[] = [];
  for await (const piece of pieces) texts.push(piece.toString());
  expect(texts).toEqual(['a', 'bcd']);
});

test('a chunk that nobody follows does not wait for the end', async () => {
  const source = new Pushed();
  const pieces = coalesce(source);
  source.push(Buffer.from('a'));
  await pieces.next();
  source.push(Buffer.from('b'));
  expect((await pieces.next()).value).toEqual(Buffer.from('b'));
  source.push(undefined);
  await pieces.next();
});

test('no more than COALESCE_BYTES and one chunk are ever held', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: COALESCE_BYTES }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const source = new Pushed();
      for (const length of lengths) source.push(Buffer.alloc(length));
      source.push(undefined);
      let total = 0;
      for await (const piece of coalesce(source)) {
        expect(piece.length).toBeLessThan(2 * COALESCE_BYTES);
        total += piece.length;
      }
      expect(total).toBe(lengths.reduce((sum, length) => sum + length, 0));
    }),
    { numRuns: 200 },
  );
});

test('after a piece the next waits COALESCE_MS for company, and not a moment longer', async () => {
  holdClock();
  const source = new Pushed();
  const pieces = coalesce(source);
  source.push(Buffer.from('a'));
  expect((await pieces.next()).value).toEqual(Buffer.from('a'));
  let got: Buffer | undefined;
  const second = pieces.next().then(({ value }) => {
    got = value ?? undefined;
    return value;
  });
  source.push(Buffer.from('b'));
  await vi.advanceTimersByTimeAsync(COALESCE_MS - 1);
  expect(got).toBeUndefined();
  source.push(Buffer.from('c'));
  await vi.advanceTimersByTimeAsync(1);
  expect(await second).toEqual(Buffer.from('bc'));
  // Whoever comes later than that has waited long enough already.
  const third = pieces.next();
  await vi.advanceTimersByTimeAsync(COALESCE_MS);
  source.push(Buffer.from('d'));
  expect((await third).value).toEqual(Buffer.from('d'));
  source.push(undefined);
  expect((await pieces.next()).done).toBe(true);
});
