// What is written about the configuration says all of it, and is so.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { listSettings, meaningOf } from '../../../scripts/config-page.js';
import { readConfigFile } from '../../../src/rexd/config-file.js';
import { REXD_LIMITS } from '../../../src/rexd/limits.js';
import { DEFAULTS } from '../../../src/rexd/settings.js';

const EXAMPLE = fileURLToPath(new URL('../../../docs/examples/rexd.toml', import.meta.url));

test('every key has a meaning', () => {
  const keys = listSettings().map(({ key }) => key);
  expect(keys.length).toBeGreaterThan(20);
  expect(keys.filter((key) => meaningOf(key) === undefined)).toEqual([]);
});

test('the example is read, and is the defaults but for its root', async () => {
  const {
    limits,
    policy: _policy,
    file: _file,
    lineOf: _lineOf,
    ...settings
  } = await readConfigFile(EXAMPLE);
  expect(settings).toEqual({
    ...DEFAULTS,
    security: { ...DEFAULTS.security, allowed_roots: [{ path: '/srv' }] },
  });
  expect(limits.clamped).toEqual([]);
  const written = (parse(readFileSync(EXAMPLE, 'utf8')) as Record<string, Record<string, unknown>>)['limits'];
  // The one that means more when it is written is there as a comment.
  expect(limits.toJSON()).toEqual({ ...written, hard_timeout_ms: REXD_LIMITS.hard_timeout_ms.default });
  expect(limits.chosen('hard_timeout_ms')).toBeUndefined();
});

test('the example names every key, those that have no default in a comment', () => {
  const text = readFileSync(EXAMPLE, 'utf8');
  const missing = listSettings().filter(({ key }) => {
    const name = key.split('.').at(-1) ?? '';
    return !new RegExp(`^(?:# )?${name} = `, 'm').test(text);
  });
  expect(missing).toEqual([]);
});
