// Where a configuration is looked for, and what counts as none.

import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/rexd/config.js';
import { standardPlaces } from '../../../src/rexd/standard-places.js';
import { ConfigError } from '../../../src/rexd/settings.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const NOBODY = 65_534;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hawser-places-'));
});
afterEach(() => removeFolder(folder));

test("the user's place comes first, then the machine's", () => {
  expect(standardPlaces({ HOME: '/home/me' })).toEqual([
    '/home/me/.config/rexd/config.toml',
    '/etc/rexd/config.toml',
  ]);
  expect(standardPlaces({ HOME: '/home/me', XDG_CONFIG_HOME: '/cfg' })[0]).toBe('/cfg/rexd/config.toml');
  for (const XDG_CONFIG_HOME of ['', 'relative'])
    expect(standardPlaces({ HOME: '/home/me', XDG_CONFIG_HOME })[0]).toBe(
      '/home/me/.config/rexd/config.toml',
    );
});

test('the first place that has one counts, and without any the defaults hold', async () => {
  const places = ['first', 'second'].map((name) => join(folder, name));
  expect(await loadConfig(undefined, {}, places)).toMatchObject({ file: undefined });
  writeFileSync(places[1] ?? '', '[security]\nallow_shell = false\n');
  expect(await loadConfig(undefined, {}, places)).toMatchObject({
    file: places[1],
    security: { allow_shell: false },
  });
  writeFileSync(places[0] ?? '', '');
  expect(await loadConfig(undefined, {}, places)).toMatchObject({ file: places[0] });
  expect(await loadConfig(places[1], {}, places), 'a named one before all').toMatchObject({
    file: places[1],
  });
});

test('a file in the way of a folder means that there is none', async () => {
  writeFileSync(join(folder, 'rexd'), '');
  expect(await loadConfig(undefined, {}, [join(folder, 'rexd/config.toml')])).toMatchObject({
    file: undefined,
  });
});

test('one that cannot be reached is not taken for none', async () => {
  symlinkSync('loop', join(folder, 'loop'));
  await expect(loadConfig(undefined, {}, [join(folder, 'loop/config.toml')])).rejects.toThrow(
    `${join(folder, 'loop/config.toml')}: cannot be reached (ELOOP)`,
  );
});

test('nor is one behind a folder that we may not enter', async () => {
  const closed = join(folder, 'closed');
  mkdirSync(closed);
  writeFileSync(join(closed, 'config.toml'), '');
  chmodSync(folder, 0o755);
  chmodSync(closed, 0o600);
  using _ = asNobody();
  await expect(loadConfig(undefined, {}, [join(closed, 'config.toml')])).rejects.toThrow(ConfigError);
});

/** Root may enter everything, so until the end of the test we are somebody else. */
function asNobody(): Disposable {
  const before = process.geteuid?.() ?? NOBODY;
  if (before === 0) process.seteuid?.(NOBODY);
  return { [Symbol.dispose]: () => process.seteuid?.(before) };
}
