// Reading that waits: whoever answers lines takes no more of them than it can answer.

import type { ByteSource } from '../transport/link.js';
import type { LineWriter } from './line-writer.js';

/**
 * Pauses the reading when `isBusy`, or when the answers pile up, and lets it go on otherwise. The end of a pile is waited
 * for here; who has become less busy asks again.
 */
export function holdBack(input: ByteSource, writer: LineWriter, isBusy: () => boolean): void {
  const full = isBusy() || writer.congested;
  if (full === input.isPaused()) return;
  if (!full) {
    input.resume();
    return;
  }
  input.pause();
  if (writer.congested)
    writer.drained().then(
      () => holdBack(input, writer, isBusy),
      () => {},
    );
}
