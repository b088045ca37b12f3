import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newAbort } from '../../../src/base/abort.js';
import { deadline, MAX_TIMER_MS, TimeoutError, withSignal } from '../../../src/base/deadline.js';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('aborts when its time is up, with an error that says how long that was', () => {
    using limit = deadline(50);
    vi.advanceTimersByTime(49);
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(limit.signal.reason).toBeInstanceOf(TimeoutError);
    expect(limit.signal.reason).toMatchObject({
      code: 'timeout',
      message: 'timed out after 50 ms',
      facts: { ms: 50 },
    });
  });

  test('its reason may be made by the caller, and only when it is needed', () => {
    const reason = vi.fn<() => Error>(() => new Error('exec.wait took too long'));
    using limit = deadline(10, { reason });
    expect(reason).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10);
    expect(limit.signal.reason).toHaveProperty('message', 'exec.wait took too long');
    expect(reason).toHaveBeenCalledTimes(1);
  });

  test('follows another signal with that signal’s own reason', () => {
    const client = new AbortController();
    const server = new AbortController();
    using limit = deadline(1000, { also: [client.signal, server.signal] });
    server.abort(new Error('shutting down'));
    expect(limit.signal.reason).toHaveProperty('message', 'shutting down');
    client.abort(new Error('too late'));
    vi.advanceTimersByTime(2000);
    expect(limit.signal.reason).toHaveProperty('message', 'shutting down');
  });

  test('is aborted from the start when a followed signal is', () => {
    const gone = AbortSignal.abort(new Error('already gone'));
    using limit = deadline(1000, { also: [new AbortController().signal, gone] });
    expect(limit.signal.reason).toHaveProperty('message', 'already gone');
  });

  test('disposed, it keeps no timer and never aborts', () => {
    const limit = deadline(10);
    expect(vi.getTimerCount()).toBe(1);
    limit[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(100);
    expect(limit.signal.aborted).toBe(false);
    limit[Symbol.dispose](); // twice does no harm
  });

  test("a thousand deadlines at once on one resource's signal raise no warning", () => {
    const server = newAbort();
    const limits = Array.from({ length: 1000 }, () => deadline(1000, { also: [server.signal] }));
    server.abort(new Error('shutting down'));
    expect(limits.every((limit) => limit.signal.aborted)).toBe(true);
    for (const limit of limits) limit[Symbol.dispose]();
  });

  test('10,000 uses leave no listener on a long-lived signal', () => {
    const server = new AbortController();
    for (let i = 0; i < 10_000; i++) {
      using limit = deadline(1000, { also: [server.signal] });
      expect(limit.signal.aborted).toBe(false);
    }
    expect(listeners(server.signal)).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('no listener is left behind either when it was the time that ended it', () => {
    const server = new AbortController();
    {
      using limit = deadline(10, { also: [server.signal] });
      vi.advanceTimersByTime(10);
      expect(limit.signal.aborted).toBe(true);
    }
    expect(listeners(server.signal)).toBe(0);
  });

  test.each([MAX_TIMER_MS, MAX_TIMER_MS + 1, 2 ** 40, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
    'a delay of %d ms, as much as a timer can hold or more, does not fire at once',
    (ms) => {
      using limit = deadline(ms);
      vi.advanceTimersByTime(24 * 60 * 60 * 1000);
      expect(limit.signal.aborted).toBe(false);
    },
  );

  test('a delay of 0 is a deadline at the next turn, not none', () => {
    using limit = deadline(0);
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(limit.signal.aborted).toBe(true);
  });
});

test('a real delay past 2^31 raises no warning and does not fire', async () => {
  using limit = deadline(2 ** 33);
  await new Promise((resolve) => setImmediate(resolve));
  expect(limit.signal.aborted).toBe(false);
});

describe('withSignal', () => {
  test('gives the value, or the error, of work that is first', async () => {
    const { signal } = new AbortController();
    await expect(withSignal(Promise.resolve(0), signal)).resolves.toBe(0);
    await expect(withSignal(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
    expect(listeners(signal)).toBe(0);
  });

  test('gives the reason of the signal when that is first, and forgets the work', async () => {
    const gone = new AbortController();
    let fail: (error: Error) => void = () => {};
    const work = new Promise<never>((_, reject) => (fail = reject));
    const result = withSignal(work, gone.signal);
    gone.abort(new Error('the client left'));
    await expect(result).rejects.toThrow('the client left');
    const unhandled = vi.fn<() => void>();
    process.on('unhandledRejection', unhandled);
    fail(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('a signal that is aborted already wins over work that is still to come', async () => {
    const work = new Promise<never>(() => {});
    await expect(withSignal(work, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  test('a reason that is no error is passed on as it is', async () => {
    await expect(withSignal(new Promise(() => {}), AbortSignal.abort('why'))).rejects.toBe('why');
  });

  test('10,000 uses leave no listener on a long-lived signal, however the work ended', async () => {
    const server = new AbortController();
    for (let i = 0; i < 10_000; i++) {
      const work = i % 2 === 0 ? Promise.resolve(i) : Promise.reject(new Error('no'));
      await withSignal(work, server.signal).catch(() => {});
    }
    expect(listeners(server.signal)).toBe(0);
  });

  test('whatever comes first is the outcome', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), async (s, fails) => {
        const order: string[] = [];
        const gone = new AbortController();
        const work = s.schedule(Promise.resolve(), 'work').then(() => {
          order.push('work');
          if (fails) throw new Error('work');
          return 'work';
        });
        const aborting = async (): Promise<void> => {
          await s.schedule(Promise.resolve(), 'abort');
          order.push('abort');
          gone.abort(new Error('abort'));
        };
        void aborting();
        const outcome = withSignal(work, gone.signal).catch((error: Error) => error.message);
        await s.waitAll();
        expect(await outcome).toBe(order[0]);
        expect(listeners(gone.signal)).toBe(0);
      }),
    );
  });
});
