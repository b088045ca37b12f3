// pty.open: a program on a terminal, its answer first and what it shows after.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { markOf } from '../exec/session-mark.js';
import { invalidParam } from '../errors.js';
import { assertAllowed } from '../exec/allowed.js';
import { buildEnvironment, findBadVariable } from '../../guard/child-environment.js';
import { inSandbox } from '../exec/in-sandbox.js';
import { programOf } from '../exec/program.js';
import type { PtyOpen } from '../protocol/pty.js';
import { toOpenError } from '../pty/pty-errors.js';
import { PtyProcess } from '../pty/pty-process.js';
import { spoolDir } from '../spool-dir.js';
import { openWorkingDirectory } from '../working-directory.js';

export async function openTerminal(
  params: ParamsOf<typeof PtyOpen>,
  ctx: CallContext,
): Promise<ResultOf<typeof PtyOpen>> {
  const { server } = ctx;
  const session = ctx.sessions.get(params.session_id);
  const argv = programOf(params);
  const bad = findBadVariable(params.env);
  if (bad !== undefined)
    throw invalidParam(`env[${JSON.stringify(bad)}]`, 'cannot be the name or the value of a variable');
  using cwd = openWorkingDirectory(session, params.cwd);
  assertAllowed(await server.policy(), params, cwd.shown);
  // TERM says what the terminal of the client can do; that of the server's own, if it has one, says nothing about it.
  const environment = { ...server.environment, TERM: undefined };
  const request = {
    sessionId: session.id,
    argv,
    cwd: cwd.path,
    shownCwd: cwd.shown,
    env: { ...buildEnvironment(environment, server.passedVariables, params.env), PWD: cwd.shown },
    size: { cols: params.cols, rows: params.rows },
    timeoutMs: session.unhurriedTimeoutMs(params.timeout_ms),
    keptBytes: session.maxOutputBytes(undefined),
    scope: markOf(session),
    spoolDir: spoolDir(),
    sink: session.sink,
  };
  try {
    const launch = inSandbox(request, ctx, session, false);
    const process = await session.processes.start(() => PtyProcess.start(launch));
    ctx.afterReply(() => process.begin());
    return { pty_id: process.ptyId, process_id: process.id };
  } catch (thrown) {
    throw toOpenError(thrown, session.roots, cwd.shown);
  }
}
