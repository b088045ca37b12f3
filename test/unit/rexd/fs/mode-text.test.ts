import { expect, test } from 'vitest';
import { modeText } from '../../../../src/rexd/fs/mode-text.js';

test.each([
  ['file', 0o100644, '-rw-r--r--'],
  ['dir', 0o040755, 'drwxr-xr-x'],
  ['symlink', 0o120777, 'lrwxrwxrwx'],
  ['other', 0o010600, 'prw-------'],
  ['other', 0o140777, 'srwxrwxrwx'],
  ['other', 0o020666, 'crw-rw-rw-'],
  ['other', 0o060660, 'brw-rw----'],
] as const)('a %s of mode %i is shown as ls shows it', (type, mode, text) => {
  expect(modeText(type, mode)).toBe(text);
});
