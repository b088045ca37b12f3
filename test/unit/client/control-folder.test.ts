// Where shared connections have their sockets: short, private, or nowhere.

import { chmodSync, mkdirSync, mkdtempSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAX_CONTROL_FOLDER_BYTES, prepareControlFolder } from '../../../src/client/rex/control-folder.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let base: string;
beforeEach(() => (base = mkdtempSync(join(tmpdir(), 'c-'))));
afterEach(() => removeFolder(base));

test('the runtime folder of the user comes first, and what is made there is for the user alone', () => {
  const folder = prepareControlFolder({ env: { XDG_RUNTIME_DIR: base }, home: '/nowhere' });
  expect(folder).toBe(join(base, 'rex-ssh'));
  expect(statSync(folder ?? '').mode & 0o777).toBe(0o700);
});

test('a path that leaves no room for the name of a socket is passed over', () => {
  const long = join(base, 'x'.repeat(MAX_CONTROL_FOLDER_BYTES));
  const env = { XDG_RUNTIME_DIR: long, XDG_CACHE_HOME: base };
  expect(prepareControlFolder({ env })).toBe(join(base, 'rex-ssh'));
});

test("a folder that others may enter, that is a link, or that is somebody else's is not used", () => {
  const open = join(base, 'o');
  mkdirSync(join(open, 'rex-ssh'), { recursive: true });
  chmodSync(join(open, 'rex-ssh'), 0o755);
  const linked = join(base, 'l');
  mkdirSync(linked);
  symlinkSync(base, join(linked, 'rex-ssh'));
  for (const runtime of [open, linked]) {
    const env = { XDG_RUNTIME_DIR: runtime, XDG_CACHE_HOME: base };
    expect(prepareControlFolder({ env })).toBe(join(base, 'rex-ssh'));
  }
});
