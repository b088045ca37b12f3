import { expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.js';

test('ids carry their prefix, sort by time of birth and do not repeat', () => {
  const ids = Array.from({ length: 1000 }, (_, i) => newId('s', 1_700_000_000_000 + i * 1000));
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(1000);
  expect(ids[0]).toMatch(/^s_[0-9a-hjkmnp-tv-z]{26}$/);
});
