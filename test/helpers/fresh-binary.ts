// Once per run: tests of the single binary run what the sources say now. Where there can be none they say so themselves.

import { type BinaryProcessor, buildBinary, whyNoBinary } from '../../scripts/build-binary.js';

export async function setup(): Promise<void> {
  const processor = process.arch as BinaryProcessor;
  if (whyNoBinary(processor) === undefined) await buildBinary(processor);
}
