import { closeSync, fstatSync, openSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_AHEAD_MS, moveMtimeOn } from '../../../../src/host/files/put-bytes.js';
import { makeSandbox } from './sandbox.js';

test('a time is moved on from one a little ahead of the clock, not from one far ahead', () => {
  using box = makeSandbox();
  const path = box.file('file', 'x');
  const moved = (aheadMs: number): number => {
    const now = Math.floor(Date.now());
    utimesSync(path, 0, (now + aheadMs + 0.5) / 1000);
    const fd = openSync(path, 'r+');
    try {
      const before = fstatSync(fd);
      utimesSync(path, 0, now / 1000); // as a write has it
      return Math.floor(moveMtimeOn(fd, before).mtimeMs) - Math.floor(before.mtimeMs);
    } finally {
      closeSync(fd);
    }
  };
  expect(moved(0)).toBe(1);
  expect(moved(MAX_AHEAD_MS - 10)).toBe(1);
  expect(moved(MAX_AHEAD_MS + 10)).toBeLessThan(-MAX_AHEAD_MS);
});
