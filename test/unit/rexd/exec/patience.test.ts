// How long pieces of output wait for company, the longer a program goes on.

import { expect, test } from 'vitest';
import { COALESCE_MS, PATIENCE, patienceMs } from '../../../../src/rexd/exec/coalesce.js';
import { REXD_LIMITS } from '../../../../src/rexd/limits.js';

test('patience begins at a few milliseconds and grows at each mark', () => {
  expect(patienceMs(0)).toBe(COALESCE_MS);
  for (const [pieces, ms] of PATIENCE) {
    expect(patienceMs(pieces)).toBe(ms);
    expect(patienceMs(pieces - 1)).toBeLessThan(ms);
  }
});

test('no program makes more events than clients keep in the time it has', () => {
  let total = 0;
  for (let pieces = 0; pieces < 4096; pieces++) total += patienceMs(pieces);
  expect(total).toBeGreaterThan(REXD_LIMITS.hard_timeout_ms.default);
});
