// exec.start with a request_id: however often it is asked for, the command runs at most once.
//
// A session knows its own; what was started detached is found again, by whatever session, in the folder it is kept in.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { toRexdError } from '../translate-error.js';
import type { DetachedRun } from '../../host/process/detached-run.js';
import type { DetachedStore } from '../../host/process/detached-store.js';
import { makeFolders } from '../../host/make-folders.js';
import { withFileLock } from '../../host/store/file-lock.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import { invalidParam, rexdError } from '../errors.js';
import type { ExecStart } from '../protocol/exec.js';
import type { Session } from '../sessions.js';

/** Of one session. None is forgotten while it lives, or its command could run again; so the next one is refused. */
export const MAX_REQUEST_IDS = 16_384;

type Params = ParamsOf<typeof ExecStart>;
type Result = ResultOf<typeof ExecStart>;

/** What is written down with a detached process. */
export interface RequestMark {
  readonly id: string;
  readonly print: string;
}

interface Known {
  readonly print: string;
  readonly result: Promise<Result>;
}

const known = new WeakMap<Session, Map<string, Known>>();

export interface StartOnce {
  readonly session: Session;
  readonly params: Params;
  readonly requestId: string;
  /** Where detached processes are found again; absent when the command is not to be detached. */
  readonly detached: { readonly store: DetachedStore; readonly stateDir: string } | undefined;
  readonly start: (mark: RequestMark) => Promise<Result>;
}

/** What could not be started has not run, and may be asked for again. */
export async function startOnce(request: StartOnce): Promise<Result> {
  const { session, requestId: id, detached, start } = request;
  const requests = known.get(session) ?? new Map<string, Known>();
  known.set(session, requests);
  const print = fingerprint(request);
  const before = requests.get(id);
  if (before !== undefined) {
    if (before.print !== print) throw anotherCommand(id);
    return { ...(await before.result), existing: true };
  }
  if (requests.size >= MAX_REQUEST_IDS) {
    const message = `${MAX_REQUEST_IDS} request ids are known to this session already; open another`;
    throw rexdError('resource_limit', message, { limit: 'max_request_ids', value: MAX_REQUEST_IDS });
  }
  const mark = { id, print };
  const result =
    detached === undefined ? start(mark) : startDetachedOnce(session, mark, detached, () => start(mark));
  requests.set(id, { print, result });
  try {
    return await result;
  } catch (thrown) {
    requests.delete(id);
    throw thrown;
  }
}

/** One at a time among all servers of the user: whoever comes second finds what the first has written down. */
async function startDetachedOnce(
  session: Session,
  mark: RequestMark,
  { store, stateDir }: NonNullable<StartOnce['detached']>,
  start: () => Promise<Result>,
): Promise<Result> {
  makeFolders(stateDir);
  const name = createHash('sha256').update(mark.id).digest('hex').slice(0, 32);
  return await withFileLock(join(stateDir, `request-${name}`), async () => {
    const run = store.list().find(({ entry }) => {
      return entry.request?.id === mark.id && session.roots.contains(entry.realCwd);
    });
    if (run === undefined) return await start();
    if (run.entry.request?.print !== mark.print) throw anotherCommand(mark.id);
    return describe(run);
  });
}

function describe(run: DetachedRun): Result {
  const { id, startedAtMs } = run.entry;
  return {
    process_id: id,
    started_at: new Date(startedAtMs).toISOString(),
    pid: run.pid ?? 0,
    existing: true,
  };
}

/** Of all that decides what is run, whatever order it was written in. */
function fingerprint({ session, params }: StartOnce): string {
  const { session_id: _session, request_id: _request, env, cwd, ...rest } = params;
  const base = session.cwd ?? '/';
  const variables = Object.entries(env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const all = [rest, variables, resolveFolder(session, cwd ?? base, base)];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

function anotherCommand(id: string): Error {
  const data = { request_id: id, reason: 'request_id_reused' };
  return invalidParam('request_id', 'was used for another command; choose a new one', data);
}

/** What is no path is refused in the words that a start without an id has for it. */
function resolveFolder(session: Session, cwd: string, base: string): string {
  try {
    return session.roots.resolve(cwd, base);
  } catch (thrown) {
    throw toRexdError(thrown, session.roots);
  }
}
