// Every request of a client as one line of the audit log, the refused ones too.

import { toWireError } from '../base/errors.js';
import type { AuditLog } from '../guard/audit.js';
import type { CallReport } from '../wire/jsonrpc/router.js';
import type { CallContext } from './context.js';

export function auditCall(audit: AuditLog, report: CallReport<CallContext>): void {
  const sessionId = fieldOf(report.params, 'session_id') ?? fieldOf(report.result, 'session_id');
  audit.record({
    method: report.method,
    timeMs: Date.now() - report.durationMs,
    sessionId,
    clientName: fieldOf(report.params, 'client_name') ?? report.ctx.sessions.clientName,
    params: report.params,
    ...('error' in report ? { error: toWireError(report.error) } : { result: report.result }),
    durationMs: report.durationMs,
  });
}

function fieldOf(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const field = (value as Record<string, unknown>)[name];
  return typeof field === 'string' ? field : undefined;
}
