// A stream of values that ends with the reason of a signal, even while it waits for the next.

import { withSignal } from '../../base/deadline.js';

export async function* untilAborted<T>(
  values: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  const source = values[Symbol.asyncIterator]();
  for (;;) {
    const next = await withSignal(source.next(), signal);
    if (next.done === true) return;
    yield next.value;
  }
}
