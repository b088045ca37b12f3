// One line of a client: a request of ours, something for MCP, or why it is neither.

import { isUtf8 } from 'node:buffer';
import { tooMuchJson } from '../../wire/jsonrpc/json-size.js';
import type { ErrorCode } from '../errors.js';

export type BridgeId = string | number;

/** What an answer is for when nobody can say which request it was. */
export const UNKNOWN_ID = 'unknown';
/** An id comes back with every answer and event. */
export const MAX_ID_CHARS = 4096;

export type BridgeLine =
  | { readonly kind: 'blank' }
  /** Its text, which the MCP side reads by its own rules. */
  | { readonly kind: 'mcp'; readonly text: string }
  | {
      readonly kind: 'request';
      readonly id: BridgeId;
      readonly method: string;
      readonly params: unknown;
    }
  | Refused;

export interface Refused {
  readonly kind: 'refused';
  readonly id: BridgeId;
  readonly code: ErrorCode;
  readonly message: string;
}

/** Never throws. */
export function readBridgeLine(bytes: Buffer): BridgeLine {
  const text = bytes.toString('utf8').trim();
  if (text === '') return { kind: 'blank' };
  if (!isUtf8(bytes)) return refused(UNKNOWN_ID, 'invalid_json', 'the line is not UTF-8');
  const excess = tooMuchJson(text);
  if (excess !== undefined) return refused(UNKNOWN_ID, 'invalid_request', excess);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused(UNKNOWN_ID, 'invalid_json', 'the line is no JSON');
  }
  if (isForMcp(value)) return { kind: 'mcp', text };
  if (!isRecord(value)) return refused(UNKNOWN_ID, 'invalid_request', 'a request is one JSON object');
  return readRequest(value);
}

/** A line that was too long to be read: its id, if it stands where most programs write it. */
export function refuseOversize(beginning: Buffer, maxBytes: number): Refused & { readonly isMcp: boolean } {
  const text = beginning.toString('utf8');
  const id = LEADING_ID.exec(text)?.[1];
  return {
    ...refused(
      id === undefined ? UNKNOWN_ID : (JSON.parse(id) as BridgeId),
      'invalid_request',
      `a line has at most ${maxBytes} bytes`,
    ),
    isMcp: LEADING_JSONRPC.test(text),
  };
}

const LEADING_ID =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?(?:0|[1-9]\d{0,14})|"[\w.:+/-]*")\s*,/;
const LEADING_JSONRPC = /^\s*\{[^{[]{0,512}"jsonrpc"\s*:\s*"2\.0"/;

function readRequest({ id, method, params }: Readonly<Record<string, unknown>>): BridgeLine {
  const isId =
    typeof id === 'string' ? id.length <= MAX_ID_CHARS : typeof id === 'number' && Number.isFinite(id);
  if (!isId)
    return refused(
      UNKNOWN_ID,
      'invalid_request',
      `id must be a string of at most ${MAX_ID_CHARS} characters, or a number`,
    );
  if (typeof method !== 'string')
    return refused(id as BridgeId, 'invalid_request', 'method must be a string');
  return { kind: 'request', id: id as BridgeId, method, params };
}

function isForMcp(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isForMcp);
  return isRecord(value) && value['jsonrpc'] === '2.0';
}

function refused(id: BridgeId, code: ErrorCode, message: string): Refused {
  return { kind: 'refused', id, code, message };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
