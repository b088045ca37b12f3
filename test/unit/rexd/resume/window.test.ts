// server.resume_window_ms: how long a session may wait for its client.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfigFile } from '../../../../src/rexd/config-file.js';
import { MAX_RESUME_WINDOW_MS } from '../../../../src/rexd/settings.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

test('the window is a minute unless told otherwise, and MAX_RESUME_WINDOW_MS at most', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'rexd-window-'));
  const file = join(dir, 'config.toml');
  const read = async (value: string): Promise<number> => {
    writeFileSync(file, `[server]\n${value}\n`);
    return (await readConfigFile(file)).server.resume_window_ms;
  };
  expect(await read('')).toBe(60_000);
  expect(await read('resume_window_ms = 0')).toBe(0);
  expect(await read(`resume_window_ms = ${MAX_RESUME_WINDOW_MS}`)).toBe(MAX_RESUME_WINDOW_MS);
  await expect(read(`resume_window_ms = ${MAX_RESUME_WINDOW_MS + 1}`)).rejects.toThrow('resume_window_ms');
  await expect(read('resume_window_ms = -1')).rejects.toThrow('resume_window_ms');
  removeFolder(dir);
});
