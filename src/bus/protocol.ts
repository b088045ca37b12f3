// What the bus itself says: its error codes, its own methods and its own notifications. All else passes as it came.

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const WORKER_UNAVAILABLE = -32000;
export const UNKNOWN_POOL = -32001;
export const WORKER_EXITED = -32002;
export const OVERLOADED = -32003;
export const SHUTTING_DOWN = -32004;
export const SESSION_NOT_YOURS = -32005;
export const NOT_AUTHENTICATED = -32006;
/** A control method of the bus that failed, or that this client may not use. */
export const CONTROL_REFUSED = -32007;

/** Message of each code, as the wire has it; `data` says what happened and what to do about it. */
export const ERROR_TEXT = {
  [PARSE_ERROR]: 'Parse error',
  [INVALID_REQUEST]: 'Invalid Request',
  [WORKER_UNAVAILABLE]: 'Worker unavailable',
  [UNKNOWN_POOL]: 'Unknown pool',
  [WORKER_EXITED]: 'Worker exited',
  [OVERLOADED]: 'Overloaded',
  [SHUTTING_DOWN]: 'Shutting down',
  [SESSION_NOT_YOURS]: 'Session belongs to another client',
  [NOT_AUTHENTICATED]: 'Not authenticated',
  [CONTROL_REFUSED]: 'Refused',
} as const;
export type BusErrorCode = keyof typeof ERROR_TEXT;

/** What goes wrong, in words a program can branch on (`data.reason`). */
export type BusErrorReason =
  | 'not_json'
  | 'not_an_object'
  | 'too_large'
  | 'no_routing_field'
  | 'no_worker'
  | 'pool_failed'
  | 'wait_timeout'
  | 'unknown_pool'
  | 'pool_required'
  | 'worker_exited'
  | 'no_client'
  | 'too_many_pending'
  | 'too_many_sessions'
  | 'too_many_clients'
  | 'queue_full'
  | 'id_taken'
  | 'shutting_down'
  | 'session_owned'
  | 'not_authenticated'
  | 'not_allowed'
  | 'failed';

export interface BusErrorData {
  readonly reason: BusErrorReason;
  /** What the caller can do. */
  readonly hint: string;
  readonly [fact: string]: unknown;
}

/** Methods that the bus answers itself. */
export const STATS_METHOD = 'bus/stats';
export const RESTART_METHOD = 'bus/restart';
export const AUTH_METHOD = 'bus/auth';
/** Told to the owner of a session whose worker is gone, when `notifyLoss` is on. */
export const SESSION_LOST_METHOD = 'bus/session_lost';

/** Methods that take back an earlier request of the same client: `params.id` and `params.requestId` name it. */
export const CANCEL_METHODS = ['$/cancelRequest', 'notifications/cancelled'] as const;

/** One line (without its end) that answers `id`, which is a JSON token and goes back as it came. */
export function errorLine(idToken: string, code: BusErrorCode, data: BusErrorData, message?: string): string {
  const error = { code, message: message ?? ERROR_TEXT[code], data };
  return `{"jsonrpc":"2.0","id":${idToken},"error":${JSON.stringify(error)}}`;
}
