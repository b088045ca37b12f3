// Two error families that never mix: what may cross the wire, and what stays in this process.

/** Crosses the wire: numeric code, safe message, structured data. Nothing else is ever serialised. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }
}

/**
 * Stays in this process: a string code a caller can branch on and facts for the log. A room that wants one of
 * these to reach a client translates it to an RpcError in its own `errors.ts`.
 */
export class LocalError extends Error {
  override readonly name: string = 'LocalError';
  readonly code: string;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    options: { facts?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.facts = options.facts ?? {};
  }
}

export const INTERNAL_ERROR = -32603;

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The one seam where a thrown value becomes a reply. A stranger's `error.code` is never trusted. */
export function toWireError(thrown: unknown): WireError {
  if (!(thrown instanceof RpcError)) return { code: INTERNAL_ERROR, message: 'Internal error' };
  return {
    code: thrown.code,
    message: thrown.message,
    ...(thrown.data !== undefined && { data: thrown.data }),
  };
}

/** Whatever was thrown, as an Error, so that `cause`, `stack` and `message` can be relied on. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown), { cause: thrown });
  } catch {
    return new Error('something was thrown that has no text', { cause: thrown }); // Object.create(null), a bad toString
  }
}

/** The errno name (`ENOENT`, `EACCES`, …) of a system error, else undefined: our own codes and Node's ERR_… are none. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' && /^E(?!RR_)[A-Z0-9_]+$/.test(thrown.code)
    ? thrown.code
    : undefined;
}
