import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { loadPackedAddon, MAX_ADDON_BYTES } from '../../../../src/host/pty/unpack-addon.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'hawser-unpack-'));
afterAll(() => removeFolder(folder));

const require = createRequire(createRequire(import.meta.url).resolve('@lydell/node-pty'));
const binary = readFileSync(require.resolve(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`));
const pack = (bytes: Buffer): string => gzipSync(bytes).toString('base64');

test('an add-on is loaded out of a text, from the first place that lets it, and leaves no file', () => {
  const addon = loadPackedAddon(pack(binary), ['/proc/no such place', folder]);
  expect(addon).toMatchObject({ open: expect.any(Function), resize: expect.any(Function) });
  expect(readdirSync(folder)).toEqual([]);
});

test('a text that is no add-on is refused with what the system says of it, and leaves no file', () => {
  expect(() => loadPackedAddon(pack(Buffer.from('not code')), [folder])).toThrow(/pty\.node/);
  expect(readdirSync(folder)).toEqual([]);
});

test('without any place for it there is a reason', () => {
  expect(() => loadPackedAddon(pack(binary), [])).toThrow('there is no folder for temporary files');
});

test('a text that unpacks to more than MAX_ADDON_BYTES is not unpacked', () => {
  expect(() => loadPackedAddon(pack(Buffer.alloc(MAX_ADDON_BYTES + 1)), [folder])).toThrow(RangeError);
});
