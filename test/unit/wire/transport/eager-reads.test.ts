import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import {
  EagerReads,
  LOOK_MICROSECONDS,
  MAX_ANSWERS_SKIPPED,
  MAX_FOUND_IN_A_ROW,
} from '../../../../src/wire/transport/eager-reads.js';

/** A stream somebody listens to, and what is taken past it; `waiting` is what the client has sent. */
function listen() {
  const stream = new PassThrough();
  const seen: string[] = [];
  const waiting: string[] = [];
  let looks = 0;
  stream.on('data', (chunk: Buffer) => seen.push(chunk.toString()));
  const eager = new EagerReads(stream, () => {
    looks += 1;
    const next = waiting.shift();
    return next === undefined ? undefined : Buffer.from(next);
  });
  return { stream, seen, waiting, eager, looks: () => looks };
}

test('the next request is taken right after an answer, before the loop turns', async () => {
  const { eager, seen, waiting } = listen();
  waiting.push('a');
  eager.answered();
  eager.answered();
  expect(seen).toEqual([]);
  await Promise.resolve();
  expect(seen).toEqual(['a']);
});

test(`nobody else waits for more than ${MAX_FOUND_IN_A_ROW} requests in a row`, async () => {
  const { eager, seen, waiting } = listen();
  waiting.push(...Array.from({ length: MAX_FOUND_IN_A_ROW + 5 }, () => 'x'));
  for (let answers = 0; answers < MAX_FOUND_IN_A_ROW + 1; answers++) {
    eager.answered();
    await Promise.resolve();
  }
  expect(seen).toHaveLength(MAX_FOUND_IN_A_ROW);
  eager.answered();
  await Promise.resolve();
  expect(seen).toHaveLength(MAX_FOUND_IN_A_ROW + 1);
});

test(`who finds nothing looks ever more seldom, down to once in ${MAX_ANSWERS_SKIPPED} answers`, async () => {
  const { eager, looks } = listen();
  const lookedAt: number[] = [];
  for (let answer = 0; lookedAt.length < 14; answer++) {
    const before = looks();
    eager.answered();
    await Promise.resolve();
    if (looks() > before) lookedAt.push(answer);
  }
  const gaps = lookedAt.slice(1).map((at, i) => at - (lookedAt[i] ?? 0) - 1);
  expect(gaps.slice(0, 4)).toEqual([1, 2, 4, 8]);
  expect(gaps.slice(-2)).toEqual([MAX_ANSWERS_SKIPPED, MAX_ANSWERS_SKIPPED]);
});

test('a look that finds nothing is over soon', async () => {
  const { eager, looks } = listen();
  const started = performance.now();
  eager.answered();
  await Promise.resolve();
  expect(looks()).toBeGreaterThan(0);
  expect(performance.now() - started).toBeGreaterThanOrEqual(LOOK_MICROSECONDS / 1000);
});

test('nothing is taken past a stream that is paused, has bytes of its own, or is gone', async () => {
  for (const stop of [
    (stream: PassThrough) => stream.pause(),
    (stream: PassThrough) => stream.pause().write('first'),
    (stream: PassThrough) => stream.destroy(),
  ]) {
    const { eager, stream, seen, waiting } = listen();
    waiting.push('late');
    stop(stream);
    eager.answered();
    await Promise.resolve();
    expect(seen).toEqual([]);
    expect(waiting).toEqual(['late']);
  }
});
