// session.open: a scope with its own roots and limits.

import type { Roots } from '../../guard/roots.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { toRexdError } from '../errors.js';
import { PROTOCOL, type SessionOpen } from '../protocol/session.js';

export function openSession(
  params: ParamsOf<typeof SessionOpen>,
  ctx: CallContext,
): ResultOf<typeof SessionOpen> {
  const { server } = ctx;
  const session = ctx.sessions.open({
    clientName: params.client_name,
    roots: grantRoots(params.workspace_roots, server.roots),
    limits: server.limits.lower(params.limits ?? {}).limits,
  });
  return {
    session_id: session.id,
    protocol: PROTOCOL,
    server_version: server.reportVersion,
    capabilities: [...server.capabilities],
    limits: session.limits.toJSON(),
    workspace_roots: [...session.roots.shown],
  };
}

function grantRoots(requested: readonly string[] | undefined, allowed: Roots): Roots {
  try {
    return allowed.narrow(requested);
  } catch (thrown) {
    throw toRexdError(thrown, allowed);
  }
}
