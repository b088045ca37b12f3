// Decisions are cited by their number, so a number stands for one of them.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = new URL('../../docs/decisions/', import.meta.url);

test('every decision has a number of its own, without gaps, and says it in its title', () => {
  const files = readdirSync(FOLDER).sort();
  expect(files.map((file) => file.slice(0, 4))).toEqual(
    files.map((_, place) => String(place + 1).padStart(4, '0')),
  );
  for (const file of files)
    expect(readFileSync(new URL(file, FOLDER), 'utf8').startsWith(`# ${file.slice(0, 4)}. `), file).toBe(
      true,
    );
});
