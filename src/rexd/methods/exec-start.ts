// exec.start: a command, its answer first and its output after.

import { toError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import {
  DetachedFullError,
  type DetachedStore,
  StateFolderError,
} from '../../host/process/detached-store.js';
import { LaunchError } from '../../host/process/launch-error.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { markOf } from '../exec/session-mark.js';
import { decodeBytes } from '../encoding.js';
import { invalidParam, rexdError } from '../errors.js';
import { toRexdError } from '../translate-error.js';
import { assertAllowed } from '../exec/allowed.js';
import {
  buildEnvironment,
  findBadVariable,
  findVariableUnfitForShell,
} from '../../guard/child-environment.js';
import { DetachedProcess, type DetachedRequest } from '../exec/detached-process.js';
import { ExecProcess, type ExecRequest } from '../exec/exec-process.js';
import { detachedStore } from '../exec/find-process.js';
import { inSandbox } from '../exec/in-sandbox.js';
import { launchFailed } from '../exec/launch-failure.js';
import { programOf } from '../exec/program.js';
import type { RequestMark } from '../exec/start-once.js';
import type { ExecStart } from '../protocol/exec.js';
import type { Session } from '../sessions.js';
import { spoolDir } from '../spool-dir.js';
import { openWorkingDirectory, type WorkingDirectory } from '../working-directory.js';

type Params = ParamsOf<typeof ExecStart>;

export async function startExec(params: Params, ctx: CallContext): Promise<ResultOf<typeof ExecStart>> {
  const session = ctx.sessions.get(params.session_id);
  assertPossible(params, ctx);
  const { request_id: requestId } = params;
  if (requestId === undefined) return await start(params, ctx, session);
  const detached = params.detach ? { store: detachedStore(ctx), stateDir: ctx.server.stateDir } : undefined;
  const { startOnce } = await import('../exec/start-once.js');
  return await startOnce({
    session,
    params,
    requestId,
    detached,
    start: (mark) => start(params, ctx, session, mark),
  });
}

async function start(
  params: Params,
  ctx: CallContext,
  session: Session,
  mark?: RequestMark,
): Promise<ResultOf<typeof ExecStart>> {
  using cwd = openWorkingDirectory(session, params.cwd);
  const request = describeRequest(params, ctx, session, cwd);
  assertAllowed(await ctx.server.policy(), params, cwd.shown);
  try {
    const launch = inSandbox(request, ctx, session, params.detach);
    const process = await session.processes.start<DetachedProcess | ExecProcess>(() =>
      params.detach ? startDetached(launch, params, ctx, session, mark) : ExecProcess.start(launch),
    );
    ctx.afterReply(() => process.begin());
    return { process_id: process.id, started_at: process.startedAt.toISOString(), pid: process.pid };
  } catch (thrown) {
    if (thrown instanceof LaunchError)
      throw launchFailed(thrown, { session, processId: request.id, shownCwd: cwd.shown }, ctx);
    throw toDetachError(thrown) ?? toRexdError(thrown, session.roots);
  }
}

function toDetachError(thrown: unknown): Error | undefined {
  if (thrown instanceof DetachedFullError)
    return rexdError('resource_limit', thrown.message, thrown.facts, thrown);
  if (thrown instanceof StateFolderError)
    return rexdError('unsupported_capability', thrown.message, { capability: 'detach' }, thrown);
  return undefined;
}

async function startDetached(
  request: ExecRequest & Pick<DetachedRequest, 'handed'>,
  params: Params,
  ctx: CallContext,
  session: Session,
  mark: RequestMark | undefined,
): Promise<DetachedProcess> {
  const store = detachedStore(ctx);
  const process = await DetachedProcess.start(store, {
    ...request,
    // A pipe would end with the session, and with it every program that reads its input.
    stdinOpen: params.stdin_open,
    timeoutMs: session.unhurriedTimeoutMs(params.timeout_ms),
    ...(mark !== undefined && { request: mark }),
  });
  ctx.afterReply(() => setImmediate(() => sweepStore(store, ctx)));
  return process;
}

/** Nobody waits for it, so nobody but the log is there to be told of a failure. */
function sweepStore(store: DetachedStore, { log }: CallContext): void {
  try {
    store.sweep();
  } catch (thrown) {
    log.warn('old detached processes cannot be swept', { reason: toError(thrown).message });
  }
}

function assertPossible(params: Params, ctx: CallContext): void {
  if (params.detach && !ctx.server.allowDetach) {
    throw rexdError('unsupported_capability', 'This server keeps no process beyond its session', {
      capability: 'detach',
    });
  }
  if (params.detach && ctx.server.detachProblem !== undefined) {
    throw rexdError('unsupported_capability', `Nothing can be detached: ${ctx.server.detachProblem}`, {
      capability: 'detach',
    });
  }
  const unfit = params.detach ? findVariableUnfitForShell(params.env) : undefined;
  if (unfit !== undefined)
    throw invalidParam(`env[${JSON.stringify(unfit)}]`, 'cannot be given to a detached process');
  const bad = findBadVariable(params.env);
  if (bad !== undefined)
    throw invalidParam(`env[${JSON.stringify(bad)}]`, 'cannot be the name or the value of a variable');
}

function describeRequest(
  params: Params,
  ctx: CallContext,
  session: Session,
  cwd: WorkingDirectory,
): ExecRequest {
  const { server } = ctx;
  const { stdin } = params;
  return {
    id: newId('p'),
    sessionId: session.id,
    argv: programOf(params),
    cwd: cwd.path,
    shownCwd: cwd.shown,
    env: { ...buildEnvironment(server.environment, server.passedVariables, params.env), PWD: cwd.shown },
    stdin: stdin === undefined ? undefined : decodeBytes(stdin, params.stdin_encoding, 'stdin'),
    stdinOpen: stdin === undefined || params.stdin_open,
    timeoutMs: session.timeoutMs(params.timeout_ms),
    maxOutputBytes: session.maxOutputBytes(params.max_output_bytes),
    scope: markOf(session),
    spoolDir: spoolDir(),
    sink: session.sink,
  };
}
