// pty.input: keys for a terminal.

import { deadline } from '../../base/deadline.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { decodeBytes } from '../encoding.js';
import type { PtyInput } from '../protocol/pty.js';
import { findPty } from '../pty/find-pty.js';
import { toTerminalError } from '../pty/pty-errors.js';

export async function inputTerminal(
  params: ParamsOf<typeof PtyInput>,
  ctx: CallContext,
): Promise<ResultOf<typeof PtyInput>> {
  const session = ctx.sessions.get(params.session_id);
  const process = findPty(session, params.pty_id);
  const bytes = decodeBytes(params.data, params.encoding, 'data');
  // A program that does not read keeps its caller waiting, but not for ever and nobody else.
  using limit = deadline(session.timeoutMs(undefined), { also: [ctx.signal] });
  try {
    await process.input(bytes, false, limit.signal);
  } catch (thrown) {
    throw toTerminalError(thrown, params.pty_id, session.roots);
  }
  return { accepted_bytes: bytes.length };
}
