// exec.input: bytes for the standard input of a process.

import { deadline } from '../../base/deadline.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { decodeBytes } from '../encoding.js';
import { findProcess } from '../exec/find-process.js';
import { toRexdError } from '../translate-error.js';
import type { ExecInput } from '../protocol/exec.js';

export async function inputExec(
  params: ParamsOf<typeof ExecInput>,
  ctx: CallContext,
): Promise<ResultOf<typeof ExecInput>> {
  const session = ctx.sessions.get(params.session_id);
  const process = findProcess(ctx, session, params.process_id);
  const bytes = decodeBytes(params.data, params.encoding, 'data');
  // A program that does not read keeps its caller waiting, but not for ever and nobody else.
  using limit = deadline(session.timeoutMs(undefined), { also: [ctx.signal] });
  try {
    await process.input(bytes, params.eof, limit.signal);
  } catch (thrown) {
    throw toRexdError(thrown, session.roots);
  }
  return { accepted_bytes: bytes.length };
}
