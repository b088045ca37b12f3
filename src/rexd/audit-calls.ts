// Every request of a client as one line of the audit log, the refused ones too, and one more when a program has ended.

import { toWireError } from '../base/errors.js';
import type { AuditLog } from '../guard/audit.js';
import type { AuditEntry } from '../guard/audit-entry.js';
import { RawJson } from '../wire/jsonrpc/encode.js';
import type { CallReport } from '../wire/jsonrpc/router.js';
import type { CallContext } from './context.js';
import type { SessionProcess } from './exec/session-process.js';

/** The one request that says who is there. One that was refused has no session to look the name up by. */
const SESSION_OPEN = 'session.open';

/** How far a client has read, several times a second: it does nothing, and would bury what does. */
const SESSION_ACK = 'session.ack';

/** What starts a program, and the entry that tells how it ended. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ['exec.start', 'exec.exit'],
  ['pty.open', 'pty.exit'],
]);

/** Lines of files, in the answer of a search. */
const FOUND_TEXT = ['text', 'before', 'after'];

export function auditCall(audit: AuditLog, report: CallReport<CallContext>): void {
  const { method, params, ctx, durationMs } = report;
  if (method === SESSION_ACK) return;
  const result = 'error' in report ? undefined : report.result;
  const opens = method === SESSION_OPEN;
  const sessionId =
    (opens ? undefined : fieldOf(params, 'session_id', isText)) ?? fieldOf(result, 'session_id', isText);
  const clientName =
    opens && sessionId === undefined
      ? fieldOf(params, 'client_name', isText)
      : ctx.sessions.clientNameOf(sessionId);
  audit.record({
    method,
    timeMs: Date.now() - durationMs,
    sessionId,
    clientName,
    params,
    exitCode: fieldOf(result, 'exit_code', isNumber),
    ...('error' in report ? { error: toWireError(report.error) } : { result: summarise(result) }),
    contents: FOUND_TEXT,
    durationMs,
  });
  const end = isExisting(result) ? undefined : ENDS.get(method);
  const process =
    end === undefined ? undefined : processOf(ctx, sessionId, fieldOf(result, 'process_id', isText));
  if (end === undefined || process === undefined) return;
  void recordEnd(audit, process, { method: end, sessionId, clientName });
}

async function recordEnd(
  audit: AuditLog,
  process: SessionProcess,
  entry: Pick<AuditEntry, 'method' | 'sessionId' | 'clientName'>,
): Promise<void> {
  const { signal, exitCode } = await process.ended;
  const { bytes_stdout, bytes_stderr } = process.state();
  audit.record({
    ...entry,
    result: {
      process_id: process.id,
      signal,
      timed_out: process.timedOut,
      output_limit_exceeded: process.outputLimitExceeded,
      bytes_stdout,
      bytes_stderr,
    },
    exitCode,
    durationMs: process.durationMs,
  });
}

/** It was started by an earlier request, with which its end is told. */
function isExisting(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'existing' in result && result.existing === true;
}

/** An answer that was never anything but bytes is told by their number. */
function summarise(result: unknown): unknown {
  return result instanceof RawJson ? { bytes: result.json.length } : result;
}

/** Undefined when it is gone already: a session that was closed meanwhile has told how its programs ended. */
function processOf(
  { sessions }: CallContext,
  sessionId: string | undefined,
  id: string | undefined,
): SessionProcess | undefined {
  if (sessionId === undefined || id === undefined) return undefined;
  try {
    return sessions.get(sessionId).processes.get(id);
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';

function fieldOf<T>(value: unknown, name: string, is: (field: unknown) => field is T): T | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const field = (value as Record<string, unknown>)[name];
  return is(field) ? field : undefined;
}
