import { expect, test } from 'vitest';
import { MAX_PATH_CHARS } from '../../../src/rexd/protocol/open-bounds.js';
import { Path } from '../../../src/rexd/protocol/path.js';

test(`a path of more than ${MAX_PATH_CHARS} characters is refused`, () => {
  expect(Path.safeParse('n'.repeat(MAX_PATH_CHARS)).success).toBe(true);
  expect(Path.safeParse('n'.repeat(MAX_PATH_CHARS + 1)).success).toBe(false);
  expect(Path.safeParse('').success).toBe(false);
});
