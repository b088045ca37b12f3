// A line of an audit log, and whether it is one of those that were asked for.

export interface AuditLine {
  readonly timestamp: string;
  readonly method: string;
  readonly session_id?: string;
  readonly client_name?: string;
  readonly params?: unknown;
  readonly exit_code?: number | null;
  readonly error?: { readonly code: number | string; readonly message: string };
  readonly duration_ms?: number;
}

export interface AuditQuery {
  /** A name, or the beginning of one with a "*" behind it. */
  readonly method: string | undefined;
  readonly sessionId: string | undefined;
  readonly sinceMs: number | undefined;
  /** Refused, or ended with another code than 0. */
  readonly failed: boolean;
}

/** Undefined for what is none: a line that a full disk has cut short. */
export function parseAuditLine(line: string): AuditLine | undefined {
  try {
    const value = JSON.parse(line) as Partial<AuditLine> | null;
    return typeof value?.timestamp === 'string' && typeof value.method === 'string'
      ? (value as AuditLine)
      : undefined;
  } catch {
    return undefined;
  }
}

export function matches(line: AuditLine, { method, sessionId, sinceMs, failed }: AuditQuery): boolean {
  if (method !== undefined && !isMethod(line.method, method)) return false;
  if (sessionId !== undefined && line.session_id !== sessionId) return false;
  if (sinceMs !== undefined && Date.parse(line.timestamp) < sinceMs) return false;
  const wentWrong = line.error !== undefined || (line.exit_code ?? 0) !== 0;
  return !failed || wentWrong;
}

function isMethod(method: string, wanted: string): boolean {
  return wanted.endsWith('*') ? method.startsWith(wanted.slice(0, -1)) : method === wanted;
}
