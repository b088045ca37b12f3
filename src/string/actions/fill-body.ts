// The body of a request: a template that knows when it is inside a string of JSON, so that no value can end one.

import { splitTemplate, type Slot } from './slot.js';
import { resolveVariable } from './resolve-variable.js';
import { textOf, type Value } from './value.js';

export interface BodyValues {
  readonly values: ReadonlyMap<string, Value>;
  readonly variables: ReadonlyMap<string, string>;
  /** `$NAME` of the app. */
  readonly env: (name: string) => string | undefined;
  /** `$ARGS`, `$HOME` and what else is known of the call. */
  readonly context: (name: string) => string | undefined;
  /** A field of the action: without a value it is empty; what is no field stays as it is written. */
  readonly isDeclared: (name: string) => boolean;
  /** For `{x|file}`; throws when it may not be read. */
  readonly readFile: (path: string) => Promise<Buffer>;
}

type Form = 'json' | 'form' | 'text';

export async function fillBody(template: string, contentType: string, given: BodyValues): Promise<string> {
  const parts = splitTemplate(template);
  const only = parts.length === 1 && parts[0]?.kind === 'slot';
  const form = only ? 'text' : formOf(template, contentType);
  let body = '';
  let inString = false;
  for (const part of parts) {
    if (part.kind === 'text') {
      body += part.text;
      inString = endsInString(part.text, inString);
      continue;
    }
    const value =
      part.kind === 'variable'
        ? resolveVariable(part, given)
        : await slotOf(part.slot, given, form === 'json' && !inString);
    body += value === undefined ? rawOf(part) : encode(value, form, inString, part.kind === 'slot');
  }
  return body;
}

function rawOf(part: { readonly kind: string; readonly raw?: string; readonly slot?: Slot }): string {
  return part.raw ?? part.slot?.raw ?? '';
}

function formOf(template: string, contentType: string): Form {
  if (/\bx-www-form-urlencoded\b/iu.test(contentType)) return 'form';
  return /json/iu.test(contentType) && /^\s*[[{"]/u.test(template) ? 'json' : 'text';
}

/** Beyond a string of JSON only JSON may stand: what is none becomes a string. */
function encode(value: string, form: Form, inString: boolean, isCallers: boolean): string {
  if (form === 'form') return encodePart(value);
  if (form === 'text') return value;
  if (inString) return JSON.stringify(value).slice(1, -1);
  if (!isCallers) return value;
  try {
    JSON.parse(value);
    return value;
  } catch {
    return JSON.stringify(value);
  }
}

function endsInString(text: string, begins: boolean): boolean {
  let inside = begins;
  for (let at = 0; at < text.length; at++) {
    if (inside && text[at] === '\\') at += 1;
    else if (text[at] === '"') inside = !inside;
  }
  return inside;
}

async function slotOf(slot: Slot, given: BodyValues, needsJson: boolean): Promise<string | undefined> {
  const value = given.values.get(slot.name) ?? given.variables.get(slot.name);
  if (value === undefined) {
    if (!given.isDeclared(slot.name)) return undefined;
    return needsJson ? 'null' : '';
  }
  let text = textOf(value, slot.index);
  for (const modifier of slot.modifiers) {
    if (modifier === 'base64') text = Buffer.from(text, 'utf8').toString('base64');
    else if (modifier === 'file') text = (await given.readFile(text)).toString('utf8');
    else if (modifier === 'base64file') text = (await given.readFile(text)).toString('base64');
    else return undefined;
  }
  return text;
}

/** Half of a character cannot be encoded. */
export function encodePart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
