// What becomes of a process whose caller wants no more of it.

import { afterEach, expect, test, vi } from 'vitest';
import type { RexContext } from '../../../../src/cli/rex/context.js';
import type { Interrupt } from '../../../../src/cli/interrupts.js';
import { MAX_REPORT_BYTES, reportProcess } from '../../../../src/cli/rex/report-process.js';
import { LEAVE_MS, passSignalsOn } from '../../../../src/cli/rex/stream-process.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test.each([
  ['SIGTERM', 'TERM', 143],
  ['SIGHUP', 'HUP', 129],
] as const)('%s is passed on, and after LEAVE_MS without an end we go without it', (signal, passed, code) => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never);
  const kill = vi.fn<(signal?: string) => Promise<void>>(() => Promise.resolve());
  let interrupt: (signal: Interrupt) => void = () => {};
  passSignalsOn({ onInterrupt: (handler) => (interrupt = handler) }, { kill });
  interrupt(signal);
  expect(kill.mock.calls).toEqual([[passed]]);
  vi.advanceTimersByTime(LEAVE_MS - 1);
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(exit).toHaveBeenCalledWith(code);
});

test('one object holds MAX_REPORT_BYTES of output and not more', async () => {
  const half = Buffer.alloc(MAX_REPORT_BYTES / 2);
  const report = async (chunks: readonly Buffer[]): Promise<number> => {
    const exit = { exitCode: 0, signal: null, timedOut: false, outputLimitExceeded: false, durationMs: 1 };
    const running = {
      exit: Promise.resolve(exit),
      kill: () => Promise.resolve(),
      async *[Symbol.asyncIterator]() {
        for (const bytes of chunks) yield await Promise.resolve({ stream: 'stderr', bytes });
      },
    };
    const context = {
      onInterrupt: () => {},
      outJson: () => Promise.resolve(),
      fail: (message: string) => {
        throw new Error(message);
      },
    } as unknown as RexContext;
    return await reportProcess(context, running as never, { flow: undefined as never, events: false });
  };
  expect(await report([half, half])).toBe(0);
  await expect(report([half, half, Buffer.from('x')])).rejects.toThrow(`${MAX_REPORT_BYTES}`);
});
