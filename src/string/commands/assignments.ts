// What `/set` is given: `{name} = "value"`, `$NAME = value`, one by one or many in a body, long values between fences.

import { LocalError } from '../../base/errors.js';

export interface Assignment {
  /** `$NAME` is kept by the app, `{name}` by the topic. */
  readonly scope: 'topic' | 'app';
  readonly name: string;
  readonly value: string;
}

export class InvalidAssignmentError extends LocalError {
  override readonly name = 'InvalidAssignmentError';

  constructor(text: string) {
    super('invalid_assignment', `Invalid assignment: ${text}`);
  }
}

const TARGET = String.raw`(?:\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|([A-Za-z_]\w*))`;
const ASSIGNMENT = new RegExp(String.raw`^\s*${TARGET}\s*=\s*(.*?)\s*$`, 'su');
const LONE_TARGET = new RegExp(String.raw`^\s*${TARGET}\s*=?\s*$`, 'u');
const FENCE = new RegExp(String.raw`^(\x60{3,})${TARGET}\s*$`, 'u');

/** In order. A name alone in the first line has the whole body as its value. Throws InvalidAssignmentError. */
export function parseAssignments(args: string, body: string | undefined): Assignment[] {
  const lone = LONE_TARGET.exec(args);
  if (lone !== null && body !== undefined) return [assign(lone, body)];
  const first = args.trim() === '' ? [] : [parseAssignment(args)];
  return body === undefined ? first : [...first, ...parseBody(body)];
}

function parseBody(body: string): Assignment[] {
  const found: Assignment[] = [];
  const lines = body.split(/\r?\n/u);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.trim() === '') continue;
    const fence = FENCE.exec(line);
    if (fence === null) {
      found.push(parseAssignment(line));
      continue;
    }
    const [, ticks = '', ...names] = fence;
    const end = lines.findIndex((each, i) => i > at && each.trimEnd() === ticks);
    if (end === -1) throw new InvalidAssignmentError(`${line} (the fence is not closed)`);
    found.push(assign([line, ...names], lines.slice(at + 1, end).join('\n')));
    at = end;
  }
  return found;
}

function parseAssignment(text: string): Assignment {
  const match = ASSIGNMENT.exec(text);
  if (match === null) throw new InvalidAssignmentError(text.trim());
  return assign(match, unquote(match[4] ?? ''));
}

function assign([, braced, dollar, bare]: readonly (string | undefined)[], value: string): Assignment {
  return { scope: dollar === undefined ? 'topic' : 'app', name: braced ?? dollar ?? bare ?? '', value };
}

function unquote(text: string): string {
  const [, quote, inside = ''] = /^(["'])(.*)\1$/su.exec(text) ?? [];
  return quote !== undefined && !inside.includes(quote) ? inside : text;
}
