import { expect, test } from 'vitest';
import { ClosedError, Resource } from '../../../src/base/resource.js';

class Held extends Resource {
  releases = 0;
  reason: Error | undefined;
  readonly #onRelease: (self: Held) => Promise<void> | void;

  constructor(onRelease: (self: Held) => Promise<void> | void = () => {}) {
    super();
    this.#onRelease = onRelease;
  }

  protected override async release(reason: Error): Promise<void> {
    this.releases += 1;
    this.reason = reason;
    await this.#onRelease(this);
  }
}

test('close releases once, and the signal carries the reason', async () => {
  const held = new Held();
  const why = new Error('the client left');
  expect(held.signal.aborted).toBe(false);
  await held.close(why);
  expect(held.releases).toBe(1);
  expect(held.reason).toBe(why);
  expect(held.signal.reason).toBe(why);
});

test('without a reason the signal says that the resource is closed', async () => {
  const held = new Held();
  await held.close();
  expect(held.signal.reason).toBeInstanceOf(ClosedError);
  expect(new ClosedError('the audit log').message).toBe('the audit log is closed');
});

test('callers that close at the same time await one teardown, and the first reason stands', async () => {
  let finish = (): void => {};
  const held = new Held(() => new Promise((resolve) => (finish = resolve)));
  const first = held.close(new Error('first'));
  const second = held.close(new Error('second'));
  const third = held[Symbol.asyncDispose]();
  let done = 0;
  for (const closing of [first, second, third]) void closing.then(() => (done += 1));
  await Promise.resolve();
  expect(done).toBe(0);
  expect(held.signal.aborted).toBe(false); // gone means gone: not while teardown is under way
  finish();
  await Promise.all([first, second, third]);
  expect(held.releases).toBe(1);
  expect(held.signal.reason).toHaveProperty('message', 'first');
});

test('closing is true from the first call, also for what release itself calls', async () => {
  const seen: boolean[] = [];
  const held = new Held((self) => void seen.push(self.closing));
  expect(held.closing).toBe(false);
  const closing = held.close();
  expect(held.closing).toBe(true);
  await closing;
  expect(seen).toEqual([true]);
  expect(held.closing).toBe(true);
});

test('close called from within release does not release again', async () => {
  const held = new Held((self) => void self.close(new Error('again')));
  await held.close(new Error('once'));
  expect(held.releases).toBe(1);
  expect(held.signal.reason).toHaveProperty('message', 'once');
});

test('close called by a listener of the signal joins the same teardown', async () => {
  const held = new Held();
  let joined: Promise<void> | undefined;
  held.signal.addEventListener('abort', () => {
    joined = held.close();
  });
  await held.close();
  await joined;
  expect(held.releases).toBe(1);
});

test.each([
  ['rejects', () => Promise.reject(new Error('teardown failed'))],
  [
    'throws at once',
    () => {
      throw new Error('teardown failed');
    },
  ],
])('a release that %s still ends the signal, and every caller hears of it', async (_, onRelease) => {
  const held = new Held(onRelease);
  const why = new Error('the reason');
  const outcomes = await Promise.allSettled([held.close(why), held.close(), held[Symbol.asyncDispose]()]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect(held.close()).rejects.toThrow('teardown failed');
  expect(held.releases).toBe(1);
  expect(held.signal.reason).toBe(why);
});

test('await using closes at the end of the block', async () => {
  let outer: Held;
  {
    await using held = new Held();
    outer = held;
    expect(held.closing).toBe(false);
  }
  expect(outer.releases).toBe(1);
  expect(outer.signal.aborted).toBe(true);
});

test('a thousand listeners on the signal of one resource raise no warning', async () => {
  const held = new Held();
  let heard = 0;
  for (let i = 0; i < 1000; i++) held.signal.addEventListener('abort', () => (heard += 1), { once: true });
  await held.close();
  await new Promise((resolve) => setImmediate(resolve)); // a warning would come at the next tick and fail the test
  expect(heard).toBe(1000);
});
