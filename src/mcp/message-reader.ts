// One line of an MCP client in, the messages it brings out: those to be served, and the refusals to be sent.

import {
  classify,
  INVALID_REQUEST,
  isObject,
  PARSE_ERROR,
  type Unchecked,
  whatIsWrong,
} from '../wire/jsonrpc/message.js';
import { tooMuchJson } from '../wire/jsonrpc/json-size.js';

export type McpId = string | number;

export interface McpRequest {
  readonly jsonrpc: '2.0';
  readonly id: McpId;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

export interface McpNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

export interface Refusal {
  readonly jsonrpc: '2.0';
  readonly id: McpId | null;
  readonly error: { readonly code: number; readonly message: string };
}

export type ReadLine =
  | { readonly kind: 'nothing' }
  /** `hasMore`: members that no request has; they were left out. */
  | { readonly kind: 'one'; readonly member: ReadMember; readonly hasMore?: boolean }
  | { readonly kind: 'batch'; readonly members: readonly ReadMember[] };

/** What we have asked for, answered. Only over lines do we ask at all. */
export interface McpAnswer {
  readonly answer: { readonly jsonrpc: '2.0'; readonly id: McpId } & (
    | { readonly result: Record<string, unknown> }
    | { readonly error: { readonly code: number; readonly message: string } }
  );
}

/** Undefined for an answer that is none. */
export type ReadMember = McpRequest | McpNotification | McpAnswer | Refusal | undefined;

/** Members of one batch, as two older revisions allow them. */
export const MAX_BATCH = 256;

const REQUEST_MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/** Never throws. */
export function readLine(text: string): ReadLine {
  if (text.trim() === '') return { kind: 'nothing' };
  const excess = tooMuchJson(text);
  if (excess !== undefined) return { kind: 'one', member: refuse(null, INVALID_REQUEST, excess) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'one', member: refuse(null, PARSE_ERROR, 'Parse error: the message is no JSON') };
  }
  if (!Array.isArray(value)) return { kind: 'one', member: readMember(value), hasMore: hasMore(value) };
  if (value.length === 0 || value.length > MAX_BATCH)
    return { kind: 'one', member: refuse(null, INVALID_REQUEST, `a batch has 1 to ${MAX_BATCH} members`) };
  return { kind: 'batch', members: value.map(readMember) };
}

export function isRefusal(member: ReadMember): member is Refusal {
  return member !== undefined && 'error' in member;
}

export function isRequest(member: ReadMember): member is McpRequest {
  return member !== undefined && 'id' in member && 'method' in member;
}

export function refuse(id: McpId | null, code: number, message: string): Refusal {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function hasMore(value: unknown): boolean {
  return isObject(value) && Object.keys(value).some((key) => !REQUEST_MEMBERS.has(key));
}

/** Nothing but the members that a message has: the SDK passes over, without an answer, one that has more. */
function readMember(value: unknown): ReadMember {
  const kind = classify(value);
  if (kind === 'bad-response') return undefined;
  const { id, method, params } = isObject(value) ? value : ({} as Unchecked);
  if (kind === 'response') return isMcpId(id) ? readAnswer(id, value as Unchecked) : undefined;
  const answerTo = isMcpId(id) ? id : null;
  if (kind === 'bad-request')
    return refuse(answerTo, INVALID_REQUEST, `Invalid Request: ${whatIsWrong(value) ?? 'not a message'}`);
  if (id !== undefined && !isMcpId(id))
    return refuse(null, INVALID_REQUEST, 'Invalid Request: id must be a string or a whole number');
  const given = params ?? undefined;
  if (given !== undefined && !isObject(given))
    return refuse(answerTo, INVALID_REQUEST, 'Invalid Request: params must be an object');
  return {
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    method: method as string,
    ...(given !== undefined && { params: given as Record<string, unknown> }),
  };
}

function readAnswer(id: McpId, { result, error }: Unchecked): McpAnswer | undefined {
  if (isObject(error)) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    return { answer: { jsonrpc: '2.0', id, error: { code: Number(code), message: String(message) } } };
  }
  return isObject(result)
    ? { answer: { jsonrpc: '2.0', id, result: result as Record<string, unknown> } }
    : undefined;
}

function isMcpId(id: unknown): id is McpId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}
