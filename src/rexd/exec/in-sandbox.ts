// Puts what a request wants to run into the sandbox, where the server has one.

import type { CallContext } from '../context.js';
import type { Session } from '../sessions.js';

interface Runnable {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The request with what is really to be started. Throws LaunchError and ForbiddenPathError. */
export function inSandbox<T extends Runnable>(
  request: T,
  ctx: CallContext,
  session: Session,
  detach: boolean,
): T & { readonly sandboxed?: readonly string[]; readonly handed?: Uint8Array } {
  const { sandbox } = ctx.server;
  if (sandbox === undefined) return request;
  const { argv, ...rest } = sandbox.wrap(request, { roots: session.roots.real, detach });
  return { ...request, ...rest, sandboxed: argv };
}
