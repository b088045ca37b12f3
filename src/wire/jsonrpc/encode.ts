// Messages as one line of JSON text each.

import type { WireError } from '../../base/errors.js';
import { isLongPiece, joinPieces, madePieces, type Line, type Piece } from '../ndjson/pieces.js';
import type { RawId } from './message.js';

/**
 * A result or params that are JSON text already: one line of it, valid, or the framing is broken (a newline is
 * refused where it can be seen in time, the rest is taken on trust).
 */
export class RawJson {
  readonly json: Piece;

  constructor(json: Piece) {
    this.json = json;
  }

  /** For one that may be sent more than once: what is made while it is sent can be made but once. */
  whole(): RawJson {
    return isLongPiece(this.json) ? new RawJson(joinPieces([this.json])) : this;
  }
}

/** Throws when `result` has no JSON form (a cycle, a bigint, a function). No result at all is `null`. */
export function encodeResult(id: RawId, result: unknown): Line {
  return wrap(`{"jsonrpc":"2.0","id":${id},"result":`, result === undefined ? null : result);
}

export function encodeError(id: RawId, error: WireError): Line {
  return wrap(`{"jsonrpc":"2.0","id":${id},"error":`, error);
}

/** What a protocol puts beside method and params, as the bus does with `sessionId`: strings, and absent where undefined. */
export type Beside = Readonly<Record<string, string | undefined>>;

export function encodeRequest(id: number, method: string, params: object | undefined, beside?: Beside): Line {
  return encodeCall(`{"jsonrpc":"2.0","id":${id},"method":${quote(method)}`, params, beside);
}

export function encodeNotification(method: string, params: object | undefined, beside?: Beside): Line {
  return encodeCall(`{"jsonrpc":"2.0","method":${quote(method)}`, params, beside);
}

function encodeCall(start: string, params: object | undefined, beside: Beside | undefined): Line {
  const head = beside === undefined ? start : start + membersOf(beside);
  return params === undefined ? `${head}}` : wrap(`${head},"params":`, params);
}

function membersOf(beside: Beside): string {
  let text = '';
  for (const [name, value] of Object.entries(beside))
    if (value !== undefined) text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return text;
}

/** The lines as one JSON array. */
export function encodeBatch(lines: readonly Line[]): Line {
  const pieces: Piece[] = [];
  let text = '[';
  for (const [i, line] of lines.entries()) {
    if (i > 0) text += ',';
    for (const piece of typeof line === 'string' ? [line] : madePieces(line)) {
      if (typeof piece === 'string') {
        text += piece;
      } else {
        pieces.push(text, piece);
        text = '';
      }
    }
  }
  text += ']';
  return pieces.length === 0 ? text : [...pieces, text];
}

const quoted = new Map<string, string>();
/** Method names kept in quotes: they are few and come again and again; what is beyond is quoted each time. */
export const MAX_QUOTED_METHODS = 256;

function quote(method: string): string {
  const known = quoted.get(method);
  if (known !== undefined) return known;
  const text = JSON.stringify(method);
  if (quoted.size < MAX_QUOTED_METHODS) quoted.set(method, text);
  return text;
}

function wrap(head: string, value: unknown): Line {
  if (value instanceof RawJson) {
    const { json } = value;
    assertOneLine(json);
    return typeof json === 'string' ? `${head}${json}}` : [head, json, '}'];
  }
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) throw new TypeError(`a ${typeof value} has no JSON form`);
  return `${head}${json}}`;
}

function assertOneLine(json: Piece): void {
  if (isLongPiece(json)) return; // not made yet
  const at =
    typeof json === 'string'
      ? json.indexOf('\n')
      : Buffer.from(json.buffer, json.byteOffset, json.length).indexOf(10);
  if (at !== -1) throw new TypeError(`raw JSON has a newline at ${at}`);
}
