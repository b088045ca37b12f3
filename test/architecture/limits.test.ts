// Every cap in the code says why it is there and is reached by a test. docs/limits.md is written from this.

import { expect, test } from 'vitest';
import { findCaps } from '../../scripts/limits-page.js';

const caps = findCaps();

test('there are caps to judge', () => {
  expect(caps.length).toBeGreaterThan(30);
});

test('every cap has a comment that says why', () => {
  expect(caps.filter(({ why }) => why === '').map(({ file, name }) => `${file} ${name}`)).toEqual([]);
});

test('every cap is named by a test', () => {
  expect(caps.filter(({ tests }) => tests.length === 0).map(({ file, name }) => `${file} ${name}`)).toEqual(
    [],
  );
});
