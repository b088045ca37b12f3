// Pages that were read a moment ago, and how many of them are kept.

import { expect, test } from 'vitest';
import { MAX_CACHED_CHARS, MAX_CACHED_PAGES, PageCache } from '../../../../src/string/document/page-cache.js';
import { parsePage } from '../../../../src/string/document/page.js';

test('MAX_CACHED_PAGES of MAX_CACHED_CHARS in all; the one not used for longest goes first', () => {
  const cache = new PageCache();
  const page = parsePage('x');
  for (let i = 0; i < MAX_CACHED_PAGES; i++) cache.set(`${i}`, { page, version: '' });
  cache.get('0');
  cache.set('new', { page, version: '' });
  expect([cache.get('0'), cache.get('new')]).not.toContain(undefined);
  expect(cache.get('1')).toBeUndefined();
  const original = 'x'.repeat(MAX_CACHED_CHARS - 1);
  cache.set('large', { page, original, version: '' });
  expect(cache.get('large')).toBeDefined();
  expect(cache.get('0')).toBeUndefined();
  cache.set('larger', { page, original: `${original}x`, version: '' });
  expect(cache.get('larger')).toBeUndefined();
});
