// One line of text in, what it says out: requests, notifications, responses, cancellations, or what is wrong with it.

import {
  CANCEL_METHODS,
  classify,
  isId,
  isObject,
  whatIsWrong,
  type IncomingMessage,
  type JsonRpcId,
  type JsonRpcParams,
  type Unchecked,
} from './message.js';
import { tooMuchJson } from './json-size.js';
import { readRawId, readRawMember, splitRawArray } from './raw-json.js';

export type DecodedLine =
  | IncomingMessage
  | { readonly kind: 'batch'; readonly members: readonly IncomingMessage[] }
  | { readonly kind: 'batch-too-long'; readonly length: number }
  | { readonly kind: 'parse-error' }
  | { readonly kind: 'blank' };

/** Never throws. A "\r" at the end of the line is white space to JSON, and so is welcome. */
export function decodeLine(text: string, maxBatch: number): DecodedLine {
  const excess = tooMuchJson(text);
  if (excess !== undefined) return refuseUnparsed(text, excess);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: text.trim() === '' ? 'blank' : 'parse-error' };
  }
  if (!Array.isArray(value)) return decodeMessage(value, text);
  if (value.length === 0) return { kind: 'bad-request', rawId: 'null', reason: 'a batch must not be empty' };
  if (value.length > maxBatch) return { kind: 'batch-too-long', length: value.length };
  const texts = splitRawArray(text);
  return { kind: 'batch', members: value.map((member, i) => decodeMessage(member, texts[i] ?? '')) };
}

function decodeMessage(value: unknown, text: string): IncomingMessage {
  const kind = classify(value);
  const body = value as Unchecked;
  if (kind === 'response' || kind === 'bad-response') return { kind, body };
  if (kind === 'bad-request') {
    const id = isObject(value) ? value.id : undefined;
    const rawId = id !== undefined && isId(id) ? readRawId(text) : 'null';
    return { kind, rawId, reason: whatIsWrong(value) ?? 'not a request' };
  }
  const method = body.method as string;
  const params = (body.params ?? undefined) as JsonRpcParams | undefined;
  if (kind === 'request') {
    return { kind, method, params, id: body.id as JsonRpcId, rawId: readRawId(text, body.id), body };
  }
  const member = CANCEL_METHODS.get(method);
  if (member === undefined || !isObject(params)) return { kind, method, params, body };
  const id = (params as Record<string, unknown>)[member];
  if (!isId(id)) return { kind, method, params, body };
  const rawId = readRawMember(readRawMember(text, 'params') ?? '{}', member) ?? 'null';
  return { kind: 'cancel', id, rawId };
}

/** Not parsed, but whoever waits for the answer shall have it: the id is looked for in the text as it stands. */
function refuseUnparsed(text: string, reason: string): IncomingMessage {
  const refusal = { kind: 'bad-request', rawId: 'null', reason } as const;
  if (!text.trimStart().startsWith('{')) return refusal;
  try {
    const rawId = readRawMember(text, 'id') ?? 'null';
    const id: unknown = JSON.parse(rawId);
    if (!isId(id)) return refusal;
    const has = (key: string): boolean => readRawMember(text, key) !== undefined;
    if (has('method') || !(has('result') || has('error'))) return { ...refusal, rawId };
    return { kind: 'bad-response', body: { id } };
  } catch {
    return refusal; // it is no JSON either
  }
}
