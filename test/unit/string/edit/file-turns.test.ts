// Edits of one file take turns; those of others do not wait.

import { expect, test } from 'vitest';
import { LaneFullError } from '../../../../src/base/lane.js';
import { FileTurns, MAX_WAITING_EDITS } from '../../../../src/string/edit/file-turns.js';

/** One for each: a signal that many listen to is warned of. */
const signal = (): AbortSignal => new AbortController().signal;

function held(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve: () => resolve() };
}

test('one after the other for one file, side by side for two', async () => {
  const turns = new FileTurns();
  const seen: string[] = [];
  const first = held();
  const one = turns.inTurn('/a', () => first.promise.then(() => void seen.push('one')), signal());
  const two = turns.inTurn('/a', () => Promise.resolve(void seen.push('two')), signal());
  await turns.inTurn('/b', () => Promise.resolve(void seen.push('other')), signal());
  first.resolve();
  await Promise.all([one, two]);
  expect(seen).toEqual(['other', 'one', 'two']);
});

test('no more wait than MAX_WAITING_EDITS', async () => {
  const turns = new FileTurns();
  const first = held();
  const all = Array.from({ length: MAX_WAITING_EDITS + 1 }, () =>
    turns.inTurn('/a', () => first.promise, signal()),
  );
  await expect(turns.inTurn('/a', () => first.promise, signal())).rejects.toBeInstanceOf(LaneFullError);
  first.resolve();
  await Promise.all(all);
});
