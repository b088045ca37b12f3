// A command, or the body of one, from standard input.

import { LocalError } from '../../base/errors.js';
import { withSignal } from '../../base/deadline.js';
import { UsageError } from '../flags.js';

/** As much as the daemon takes in one request. */
export const MAX_INPUT_BYTES = 10 * 1024 * 1024;

/** With `cmd` what is read is its body, and kept to the byte. */
export async function readBody(
  cmd: string | undefined,
  signal: AbortSignal,
  input: AsyncIterable<Buffer> = process.stdin,
): Promise<string> {
  const body = await withSignal(readAll(input), signal);
  return cmd === undefined ? body : `${cmd}\n${body}`;
}

async function readAll(input: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES)
      throw new LocalError(
        'too_large',
        `standard input has more than ${MAX_INPUT_BYTES} bytes, which no command takes`,
      );
    parts.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch {
    throw new UsageError('standard input is not valid UTF-8');
  }
}
