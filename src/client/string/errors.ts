// What can go wrong between us and a stringd, as errors that a caller can tell apart.

import { LocalError, toError } from '../../base/errors.js';

/** Nobody answered. `wasSent` is false when the request cannot have reached anybody, and undefined when it may have. */
export class DaemonUnreachableError extends LocalError {
  override readonly name = 'DaemonUnreachableError';
  readonly wasSent: false | undefined;

  constructor(url: string, cause: unknown) {
    const why = explain(cause);
    super('UNREACHABLE', `no stringd answers at ${url}: ${EXPLAINED[why] ?? why}`, { facts: { url }, cause });
    this.wasSent = NEVER_SENT.has(why) && !isOfConnection(cause) ? false : undefined;
  }
}

/** The daemon has answered, with an error. `code` is the one of its answer, or HTTP_ and the status when it has none. */
export class StringdError extends LocalError {
  override readonly name = 'StringdError';
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(code, message, { facts: { status } });
    this.status = status;
  }
}

/** What answers there is no stringd, or speaks in a way that none does. */
export class NotStringdError extends LocalError {
  override readonly name = 'NotStringdError';

  constructor(url: string, what: string) {
    super('NOT_STRINGD', `${url} does not answer as a stringd does: ${what}`, { facts: { url } });
  }
}

const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there (ECONNREFUSED)',
};

/** From before there was a connection. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'bad port',
]);

/** The way to a host can also be lost later. */
function isOfConnection(thrown: unknown): boolean {
  const inner = innermost(thrown);
  return 'syscall' in inner && (inner.syscall === 'read' || inner.syscall === 'write');
}

function explain(thrown: unknown): string {
  const inner = innermost(thrown);
  const code = 'code' in inner ? inner.code : undefined;
  return typeof code === 'string' ? code : inner.message;
}

/** `fetch` says no more than that it failed; why is in the cause of the cause. */
function innermost(thrown: unknown): Error {
  const error = toError(thrown);
  return error.cause === undefined ? error : toError(error.cause);
}
