// Once per run: tests of built executables run what the sources say now.

import { buildIfStale } from '../../scripts/build.js';

export async function setup(): Promise<void> {
  await buildIfStale();
}
