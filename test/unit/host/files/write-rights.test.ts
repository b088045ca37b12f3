// Writing without the rights for it.

import { chmodSync, chownSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AccessDeniedError } from '../../../../src/host/files/errors.js';
import { writeFile } from '../../../../src/host/files/write.js';
import { asNobody, makeSandbox } from './sandbox.js';

const text = (content: string): Uint8Array => Buffer.from(content);
const isRoot = process.getuid?.() === 0;

describe('without rights', () => {
  test('a closed directory or file is denied, and nothing is left', async () => {
    using box = makeSandbox();
    box.file('closed/file', 'old');
    chmodSync(box.file('readonly', 'old'), 0o444);
    await asNobody(box, async () => {
      chmodSync(box.at('closed'), 0o500);
      await expect(writeFile(box.set, box.at('closed/file'), text('x'))).rejects.toThrow(AccessDeniedError);
      await expect(
        writeFile(box.set, box.at('closed/a/b'), text('x'), { mkdirParents: true }),
      ).rejects.toThrow(AccessDeniedError);
      await expect(writeFile(box.set, box.at('readonly'), text('x'), { mode: 'append' })).rejects.toThrow(
        AccessDeniedError,
      );
      // In place needs no right on the directory.
      await writeFile(box.set, box.at('closed/file'), text('new'), { atomic: false });
      chmodSync(box.at('closed'), 0o700);
    });
    expect(readFileSync(box.at('closed/file'), 'utf8')).toBe('new');
  });

  test.runIf(isRoot)('where the owner cannot be kept the mode is, but for the set-id bits', async () => {
    using box = makeSandbox();
    box.file('theirs', 'old');
    await asNobody(box, async () => {
      process.seteuid?.(0);
      chownSync(box.at('theirs'), 12_345, 12_345);
      chmodSync(box.at('theirs'), 0o6755);
      process.seteuid?.(65_534);
      await writeFile(box.set, box.at('theirs'), text('new'));
    });
    expect(statSync(box.at('theirs')).uid).toBe(65_534);
    expect(statSync(box.at('theirs')).mode & 0o7777).toBe(0o755);
  });

  test('a directory that may be written but not read is written to', async () => {
    using box = makeSandbox();
    mkdirSync(box.at('drop'));
    await asNobody(box, async () => {
      chmodSync(box.at('drop'), 0o300);
      await writeFile(box.set, box.at('drop/file'), text('x'));
      chmodSync(box.at('drop'), 0o700);
    });
    expect(readFileSync(box.at('drop/file'), 'utf8')).toBe('x');
  });
});
