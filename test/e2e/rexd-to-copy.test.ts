// dist/rexd.cjs, copied alone to a host that has Node and nothing of ours.

import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Alone } from '../helpers/alone.js';
import { testAlone } from '../helpers/alone-tests.js';
import { run } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

const FILE = fileURLToPath(new URL('../../dist/rexd.cjs', import.meta.url));
const MAX_FILE_BYTES = 3_000_000;

testAlone(() => new Alone(FILE, [process.execPath]));

test('is one file below 3 MB that can be started by its name', async () => {
  expect(statSync(FILE).size).toBeLessThan(MAX_FILE_BYTES);
  expect(await run([FILE, '--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^rexd \d/),
  });
});

test('has the path of no machine in it', () => {
  expect(readFileSync(FILE, 'utf8')).not.toContain(fileURLToPath(new URL('../..', import.meta.url)));
});

test('says what it needs when Node is too old for it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-old-'));
  const pretend = join(folder, 'old.cjs');
  writeFileSync(
    pretend,
    'Object.defineProperty(process.versions, "node", { value: "18.20.8" }); Object.defineProperty(process, "version", { value: "v18.20.8" });',
  );
  const { code, stderr } = await run([process.execPath, '--require', pretend, FILE, '--version']);
  expect([code, stderr]).toEqual([2, 'rexd.cjs: needs Node 20 or newer, and this is v18.20.8\n']);
  removeFolder(folder);
});
