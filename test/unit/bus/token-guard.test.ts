// Clients that have yet to show the token.

import { expect, test } from 'vitest';
import { TOKEN_WAIT_MS, TokenGuard } from '../../../src/bus/listen/token-guard.js';
import { silentLog } from '../../../src/bus/silent-log.js';

function client() {
  let close = (_why: string): void => {};
  const closed = new Promise<string>((resolve) => {
    close = resolve;
  });
  return {
    number: 1,
    name: 'c',
    ended: new Promise<void>(() => {}),
    closed,
    close: (why: string) => close(why),
  };
}

test('who does not show the token in time is closed, who does is not', async () => {
  expect(TOKEN_WAIT_MS).toBeLessThanOrEqual(60_000);
  const [silent, known] = [client(), client()];
  const guard = new TokenGuard((given) => given === 'right');
  expect(guard.check('wrong')).toBe(false);
  expect(guard.check('right')).toBe(true);
  guard.watch(known, silentLog, 1);
  new TokenGuard(() => false).watch(silent, silentLog, 1);
  expect(await silent.closed).toBe('the token was not shown in time');
  const first = await Promise.race([
    known.closed,
    new Promise((resolve) => setTimeout(resolve, 20, 'still there')),
  ]);
  expect(first).toBe('still there');
});
