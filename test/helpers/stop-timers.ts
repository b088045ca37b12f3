// Timers that stand still: where two things race, a pause of this process then decides nothing.

import { vi } from 'vitest';

type Faked = NonNullable<NonNullable<Parameters<typeof vi.useFakeTimers>[0]>['toFake']>;

/** Real again at the end of the block, which must come before anything that waits, such as what runs after a test. */
export function stopTimers(toFake: Faked = ['setTimeout', 'clearTimeout']): Disposable {
  vi.useFakeTimers({ toFake });
  return { [Symbol.dispose]: () => void vi.useRealTimers() };
}
