// Where output is kept for a while, and what is done about the leftovers of servers that were killed.

import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sweepPrivateDirs } from '../../../src/host/process/private-dir.js';
import { spoolDir } from '../../../src/rexd/spool-dir.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'hawser-spool-'));
});
afterEach(() => removeFolder(place));

test('the name cannot be guessed, says whose it is, and nothing is made before it is needed', () => {
  const path = spoolDir();
  expect(spoolDir()).toBe(path);
  expect(dirname(path)).toBe(tmpdir());
  expect(path).toMatch(new RegExp(`/hawser-${process.pid}\\.\\d+\\.\\d+-spool_[0-9a-z]{26}$`));
  expect(existsSync(path)).toBe(false);
});

test('the folder of a server that was killed is swept, that of one that lives is not', () => {
  const mine = join(place, spoolDir().slice(tmpdir().length + 1));
  const dead = mine.replace(/\.\d+\./, '.1.'); // our pid, but somebody's before us
  for (const folder of [mine, dead]) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'output'), 'x');
  }
  expect(sweepPrivateDirs([place])).toBe(1);
  expect(existsSync(mine)).toBe(true);
  expect(existsSync(dead)).toBe(false);
});
