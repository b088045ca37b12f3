// session.open: a scope with its own roots and limits.

import { type Roots, RootsNotGrantedError } from '../../guard/roots.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import { agreeOnCompression } from '../compression.js';
import type { CallContext, ServerFacts } from '../context.js';
import { forbiddenPath, rexdError } from '../errors.js';
import { PROTOCOL } from '../protocol/open-bounds.js';
import type { SessionOpen } from '../protocol/session-open.js';
import type { Session, SessionFacts } from '../sessions.js';

export function openSession(
  params: ParamsOf<typeof SessionOpen>,
  ctx: CallContext,
): ResultOf<typeof SessionOpen> | Promise<ResultOf<typeof SessionOpen>> {
  const { server } = ctx;
  assertSupported(params.requested_capabilities ?? [], server.capabilities);
  const facts = {
    clientName: params.client_name,
    roots: grantRoots(params.workspace_roots, server.roots),
    limits: server.limits.lower(params.limits ?? {}).limits,
  };
  const { compression } = params;
  if (params.resumable === true) return openToResume(facts, params.resume_window_ms, ctx, compression);
  return {
    ...describe(ctx.sessions.open(facts), server),
    ...agreeOnCompression(compression, ctx.compression),
  };
}

async function openToResume(
  facts: SessionFacts,
  windowMs: number | undefined,
  ctx: CallContext,
  compression: ParamsOf<typeof SessionOpen>['compression'],
): Promise<ResultOf<typeof SessionOpen>> {
  const { openResumable } = await import('../resume/open-resumable.js');
  const session = await openResumable(facts, windowMs, ctx);
  const { resumption } = session;
  const opened = {
    ...describe(session, ctx.server),
    ...agreeOnCompression(compression, ctx.compression),
  };
  return resumption === undefined
    ? opened
    : { ...opened, resume: { token: resumption.token, window_ms: resumption.windowMs } };
}

function describe(session: Session, server: ServerFacts): ResultOf<typeof SessionOpen> {
  return {
    session_id: session.id,
    protocol: PROTOCOL,
    server_version: server.reportVersion,
    capabilities: [...server.capabilities],
    limits: session.limits.toJSON(),
    workspace_roots: [...session.roots.shown],
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
