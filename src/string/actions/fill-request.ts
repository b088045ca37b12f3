// The request of an HTTP action with its values in place, each encoded for where it stands: address, header, body.

import { LocalError } from '../../base/errors.js';
import type { Action } from './action.js';
import { jsonOf } from './check-field.js';
import { type BodyValues, encodePart, fillBody } from './fill-body.js';
import { resolveVariable } from './resolve-variable.js';
import { type TemplatePart, splitTemplate } from './slot.js';
import { textOf, type Value } from './value.js';

export interface FilledRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  /** Fields that are in the address or in a header: those are not sent once more. */
  readonly used: ReadonlySet<string>;
}

export class UnfitRequestError extends LocalError {
  override readonly name = 'UnfitRequestError';

  constructor(message: string) {
    super('unfit_request', message);
  }
}

const ACCEPT = 'text/markdown, text/plain';
const JSON_TYPE = 'application/json';

/** Throws UnfitRequestError, UnresolvedVariableError, and what `readFile` throws. */
export async function fillRequest(action: Action, given: BodyValues): Promise<FilledRequest> {
  const used = new Set<string>();
  const headers: Record<string, string> = { Accept: ACCEPT };
  for (const { name, value } of action.headers) {
    dropHeader(headers, name);
    headers[name] = fillHeader(name, value, given, used);
  }
  const address = fillAddress(action, given, used);
  const rest = [...given.values].filter(([name]) => !used.has(name));
  if (action.body === undefined && (action.method === 'GET' || action.method === 'DELETE'))
    return { url: addQuery(address, rest), headers, body: undefined, used };
  if (contentTypeOf(headers) === undefined) headers['Content-Type'] = JSON_TYPE;
  const fieldOf = (name: string) => action.fields.find((field) => field.name === name);
  const body =
    action.body === undefined
      ? JSON.stringify(Object.fromEntries(rest.map(([name, value]) => [name, jsonOf(fieldOf(name), value)])))
      : await fillBody(action.body, contentTypeOf(headers) ?? JSON_TYPE, given);
  return { url: address, headers, body, used };
}

/** Pairs of the query whose value was not given are left out. */
function fillAddress(action: Action, given: BodyValues, used: Set<string>): string {
  const parts = splitTemplate(action.target);
  let url = '';
  for (const part of parts) {
    const isFirst = part.at === 0;
    const text = fillPart(part, given, used, isFirst ? (value) => value : encodePart);
    const isSegment = part.kind === 'slot' && !isFirst && !url.includes('?');
    if (isSegment && url.endsWith('/') && /^\.\.?$/u.test(text))
      throw new UnfitRequestError(`{${part.slot.name}}: ${text} would lead to another address`);
    url += text;
  }
  return dropEmptyPairs(url, action.target);
}

function fillPart(
  part: TemplatePart,
  given: BodyValues,
  used: Set<string>,
  encode: (text: string) => string,
): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'variable') {
    if (part.name === 'ARGS') return encode(given.context('ARGS') ?? '');
    return resolveVariable(part, given) ?? part.raw;
  }
  const { slot } = part;
  if (slot.spread) {
    const all = [...given.values].filter(([name]) => !used.has(name));
    for (const [name] of all) used.add(name);
    return encode(all.map(([name, value]) => `--${name} ${textOf(value)}`).join(' '));
  }
  const value = given.values.get(slot.name) ?? given.variables.get(slot.name);
  if (value === undefined) return given.isDeclared(slot.name) ? '' : slot.raw;
  used.add(slot.name);
  return encode(textOf(value, slot.index));
}

/** `?a={a}&b={b}` without a value for b is `?a=1`; what the author wrote stays to the letter. */
function dropEmptyPairs(url: string, template: string): string {
  const [, address = url, query, hash = ''] = /^([^?#]*)\?([^#]*)(#.*)?$/su.exec(url) ?? [];
  if (query === undefined) return url;
  const [, slots = ''] = /\?([^#]*)/su.exec(template) ?? [];
  const filled = new Set([...slots.matchAll(/(?:^|&)([^=&]*)=\{[^}&]*\}(?=&|$)/gu)].map(([, key]) => key));
  const kept = query.split('&').filter((pair) => !(pair.endsWith('=') && filled.has(pair.slice(0, -1))));
  return `${address}${kept.length === 0 ? '' : `?${kept.join('&')}`}${hash}`;
}

function addQuery(url: string, rest: readonly (readonly [string, Value])[]): string {
  if (rest.length === 0) return url;
  const [, address = url, hash = ''] = /^([^#]*)(#.*)?$/su.exec(url) ?? [];
  const pairs = rest.map(([name, value]) => `${encodePart(name)}=${encodePart(textOf(value))}`);
  return `${address}${address.includes('?') ? '&' : '?'}${pairs.join('&')}${hash}`;
}

function fillHeader(name: string, template: string, given: BodyValues, used: Set<string>): string {
  const value = splitTemplate(template)
    .map((part) => fillPart(part, given, used, (text) => text))
    .join('');
  if (/[\r\n\0]/u.test(value)) throw new UnfitRequestError(`The header ${name} cannot have line breaks`);
  if (/[^\t\x20-\x7e\x80-\xff]/u.test(value))
    throw new UnfitRequestError(`The header ${name} can have letters of Latin-1 only`);
  return value;
}

function contentTypeOf(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
}

function dropHeader(headers: Record<string, string>, name: string): void {
  for (const known of Object.keys(headers))
    if (known.toLowerCase() === name.toLowerCase()) Reflect.deleteProperty(headers, known);
}
