// What a client that asks for a session is granted, and what it is told of it.

import { type Roots, RootsNotGrantedError } from '../guard/roots.js';
import type { ParamsOf, ResultOf } from '../wire/jsonrpc/method.js';
import type { ServerFacts } from './context.js';
import { forbiddenPath, rexdError } from './errors.js';
import { PROTOCOL } from './protocol/open-bounds.js';
import type { SessionOpen } from './protocol/session-open.js';
import type { SessionFacts } from './sessions.js';

/** Throws RpcError when it asks for something that is not to be had. */
export function grantSession(params: ParamsOf<typeof SessionOpen>, server: ServerFacts): SessionFacts {
  assertSupported(params.requested_capabilities ?? [], server.capabilities);
  return {
    clientName: params.client_name,
    roots: grantRoots(params.workspace_roots, server.roots),
    limits: server.limits.lower(params.limits ?? {}).limits,
  };
}

export function describeSession(
  { id, roots, limits }: Pick<SessionFacts, 'roots' | 'limits'> & { readonly id: string },
  server: ServerFacts,
): ResultOf<typeof SessionOpen> {
  return {
    session_id: id,
    protocol: PROTOCOL,
    server_version: server.reportVersion,
    capabilities: [...server.capabilities],
    limits: limits.toJSON(),
    workspace_roots: [...roots.shown],
  };
}

/** Whoever asks for something relies on it: better told now than by the first call that needs it. */
function assertSupported(requested: readonly string[], capabilities: readonly string[]): void {
  const missing = requested.find((name) => !capabilities.includes(name));
  if (missing === undefined) return;
  throw rexdError('unsupported_capability', 'This server cannot do all that was requested', {
    capability: missing,
    capabilities,
  });
}

function grantRoots(requested: readonly string[] | undefined, allowed: Roots): Roots {
  try {
    return allowed.narrow(requested);
  } catch (thrown) {
    if (!(thrown instanceof RootsNotGrantedError)) throw thrown;
    throw forbiddenPath(thrown.requested[0] ?? '', thrown.allowedRoots, thrown);
  }
}
