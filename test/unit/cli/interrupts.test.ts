// Ctrl-C before and after somebody has taken it.

import { expect, test, vi } from 'vitest';
import { InterruptedError, Interrupts } from '../../../src/cli/interrupts.js';

test("a signal that came before there was a handler is the handler's too, once", () => {
  using interrupts = new Interrupts();
  process.emit('SIGTERM', 'SIGTERM');
  expect(interrupts.signal.reason).toBeInstanceOf(InterruptedError);
  const first = vi.fn<(signal: string) => void>();
  interrupts.take(first);
  const second = vi.fn<(signal: string) => void>();
  interrupts.take(second);
  process.emit('SIGINT', 'SIGINT');
  expect(first.mock.calls).toEqual([['SIGTERM']]);
  expect(second.mock.calls).toEqual([['SIGINT']]);
});

test('the end for another reason is no signal', () => {
  using interrupts = new Interrupts();
  interrupts.end(new Error('its time was up'));
  const handler = vi.fn<(signal: string) => void>();
  interrupts.take(handler);
  expect(handler).not.toHaveBeenCalled();
});
