// What clients are told when a terminal refuses: apart from rexd's other errors, so that those do not load terminals.

import { RpcError } from '../../base/errors.js';
import { ClosedError } from '../../base/resource.js';
import type { Roots } from '../../guard/roots.js';
import { InputClosedError } from '../../host/process/input-pipe.js';
import { LaunchError } from '../../host/process/launch-error.js';
import { PtyUnavailableError } from '../../host/pty/native.js';
import { rexdError } from '../errors.js';
import { toRexdError } from '../translate-error.js';

/** `shownCwd` as people know it; the one that was used is a descriptor of ours. */
export function toOpenError(thrown: unknown, roots: Roots, shownCwd: string): Error {
  if (thrown instanceof PtyUnavailableError) {
    const message = 'Terminals are not supported on this host; use exec.start';
    return rexdError('unsupported_capability', message, { capability: 'pty' }, thrown);
  }
  const error = toRexdError(thrown, roots);
  if (!(thrown instanceof LaunchError && error instanceof RpcError)) return error;
  const data = { ...(error.data as object), cwd: shownCwd };
  return new RpcError(error.code, error.message, { data, cause: thrown });
}

export function toTerminalError(thrown: unknown, ptyId: string, roots: Roots): Error {
  if (thrown instanceof ClosedError || thrown instanceof InputClosedError)
    return terminalEnded(ptyId, thrown);
  return toRexdError(thrown, roots);
}

function terminalEnded(ptyId: string, cause: unknown): RpcError {
  return rexdError('process_not_found', 'The program on this terminal has ended', { pty_id: ptyId }, cause);
}
