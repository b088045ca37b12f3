// What a JSON-RPC 2.0 message is: its types, its error codes, and telling one kind from another.

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
/** Not in the JSON-RPC document: what LSP answers to a request that was cancelled, and what we do. */
export const REQUEST_CANCELLED = -32800;

export type JsonRpcId = string | number | null;
export type JsonRpcParams = Record<string, unknown> | readonly unknown[];

/** A request's id as it was written, as JSON text: `1.0`, `9007199254740993` and `"a\u0062"` come back as they came. */
export type RawId = string;

export type MessageKind = 'request' | 'notification' | 'response' | 'bad-request' | 'bad-response';

/** An object that came over the wire, of which nothing is known yet. */
export interface Unchecked {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** How a request is called off: ours and LSP's, and MCP's. The second is the member of `params` that names it. */
export const CANCEL_METHOD = '$/cancelRequest';
export const CANCEL_METHODS: ReadonlyMap<string, string> = new Map([
  [CANCEL_METHOD, 'id'],
  ['notifications/cancelled', 'requestId'],
]);

export interface IncomingRequest {
  readonly kind: 'request';
  readonly method: string;
  readonly params: JsonRpcParams | undefined;
  readonly id: JsonRpcId;
  readonly rawId: RawId;
  readonly body: Unchecked;
}

export interface IncomingNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonRpcParams | undefined;
  readonly body: Unchecked;
}

export type IncomingMessage =
  | IncomingRequest
  | IncomingNotification
  | { readonly kind: 'cancel'; readonly id: JsonRpcId; readonly rawId: RawId }
  | { readonly kind: 'response'; readonly body: Unchecked }
  | { readonly kind: 'bad-response'; readonly body: Unchecked }
  | { readonly kind: 'bad-request'; readonly rawId: RawId; readonly reason: string };

/**
 * What looks like a response is never a bad request: answering it could set two peers answering each other for ever.
 */
export function classify(value: unknown): MessageKind {
  if (!isObject(value)) return 'bad-request';
  if (value.method === undefined && ('result' in value || 'error' in value)) {
    return isResponse(value) ? 'response' : 'bad-response';
  }
  if (whatIsWrong(value) !== undefined) return 'bad-request';
  return value.id === undefined ? 'notification' : 'request';
}

/** Why `value` is no request, in words for the one who sent it; undefined when it is one. */
export function whatIsWrong(value: unknown): string | undefined {
  if (!isObject(value)) return 'a request is an object';
  if (value.jsonrpc !== '2.0') return 'jsonrpc must be "2.0"';
  if (typeof value.method !== 'string') return 'method must be a string';
  // null is how some encoders write that there are none.
  if (value.params !== undefined && typeof value.params !== 'object') {
    return 'params must be an object or an array';
  }
  if (value.id !== undefined && !isId(value.id)) return 'id must be a string, a number or null';
  return undefined;
}

export function isId(value: unknown): value is JsonRpcId {
  return typeof value === 'number' || typeof value === 'string' || value === null;
}

export function isObject(value: unknown): value is Unchecked {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export function isErrorObject(value: unknown): value is ErrorObject {
  if (!isObject(value)) return false;
  const { code, message } = value as { code?: unknown; message?: unknown };
  return Number.isInteger(code) && typeof message === 'string';
}

/** `error: null` beside a result is how JSON-RPC 1.0 says "no error"; nothing is gained by refusing it. */
function isResponse(value: Unchecked): boolean {
  if (value.jsonrpc !== '2.0' || !isId(value.id)) return false;
  if (value.error === undefined || value.error === null) return 'result' in value;
  return isErrorObject(value.error) && value.result === undefined;
}
