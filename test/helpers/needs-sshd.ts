// Tests that need a real sshd, skipped where there can be none.

import { beforeEach } from 'vitest';
import { whyNoSshd } from './sshd.js';

/**
 * At the top of a test file: where there can be no sshd its tests are skipped, and why is printed once. Whether there
 * can be one.
 */
export function needsSshd(): boolean {
  const missing = whyNoSshd();
  if (missing !== undefined) process.stderr.write(`tests with a real sshd are skipped: ${missing}\n`);
  beforeEach(({ skip }) => skip(missing !== undefined, missing));
  return missing === undefined;
}
