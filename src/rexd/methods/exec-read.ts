// exec.read: any part of what a process has written.

import { deadline } from '../../base/deadline.js';
import { incompleteTail } from '../../base/utf8.js';
import { MAX_SPOOL_READ_BYTES } from '../../host/process/spool.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { encodeBytes } from '../encoding.js';
import { rexdError } from '../errors.js';
import { findProcess } from '../exec/find-process.js';
import type { ExecRead } from '../protocol/exec.js';

/** Unless asked for more: an answer that stays well below 1 MiB, which some clients cannot take. */
export const READ_BYTES = 128 * 1024;

/** However long a client would wait for output: proxies give up on a request that is silent for longer. */
export const MAX_READ_WAIT_MS = 60_000;

/** Resolves when there is something to read, or will not be in time. */
export async function waitToRead(params: ParamsOf<typeof ExecRead>, ctx: CallContext): Promise<void> {
  const session = ctx.sessions.get(params.session_id);
  const process = findProcess(ctx, session, params.process_id);
  using limit = deadline(Math.min(params.wait_ms, MAX_READ_WAIT_MS), { also: [ctx.signal] });
  await process.waitForOutput(params.stream, params.offset, limit.signal);
}

export async function readExec(
  params: ParamsOf<typeof ExecRead>,
  ctx: CallContext,
): Promise<ResultOf<typeof ExecRead>> {
  const session = ctx.sessions.get(params.session_id);
  const process = findProcess(ctx, session, params.process_id);
  const { stream, offset } = params;
  const length = params.length === undefined || params.length === 0 ? READ_BYTES : params.length;
  const bytes = await process.read(stream, offset, Math.min(length, MAX_SPOOL_READ_BYTES));
  const size = process.state()[`bytes_${stream}`];
  const kept = process.bytes(stream);
  if (bytes.length === 0 && offset >= kept && offset < size) {
    throw rexdError('output_limit_exceeded', `Of this output only the first ${kept} bytes were kept`, {
      offset,
      kept,
      size,
    });
  }
  const more = process.running || offset + bytes.length < size;
  const whole = params.encoding === 'base64' || !more ? bytes : wholeCharacters(bytes, length);
  const { encoding, text } = encodeBytes(whole, params.encoding);
  return { offset, size, eof: !process.running && offset + whole.length >= size, encoding, data: text };
}

/**
 * A character that is not all there yet is left for the next read. But not when less than one was asked for: whoever
 * reads on from where an answer ended must get ahead.
 */
function wholeCharacters(bytes: Buffer, length: number): Buffer {
  const whole = bytes.subarray(0, bytes.length - incompleteTail(bytes));
  return whole.length === 0 && bytes.length === length ? bytes : whole;
}
