// The text of an `act.ID` fence as an action. Whatever cannot be understood is said, never dropped in silence.

import {
  type Action,
  type ActionSource,
  type ActionWarning,
  type Field,
  type Header,
  HTTP_METHODS,
} from './action.js';
import { parseField } from './parse-field.js';
import { readOptions } from './parse-request-line.js';

/** More would be no form that anybody fills in. */
export const MAX_FIELDS = 100;
/** Over which a body in quotes may go on; a longer one is better indented under `body:`. */
export const MAX_QUOTED_LINES = 200;
/** Lines in which a quote of one action may end, and another begin. */
export const MAX_QUOTES_TRIED = 32;
/** Of one action: beyond this it is a job for a `bash:` topic. */
export const MAX_ACTION_TIMEOUT_MS = 60 * 60 * 1000;

export interface ParsedAction {
  readonly action?: Action;
  readonly warnings: readonly ActionWarning[];
}

const METHOD_LINE = /^\s*([A-Za-z]+)\s+(\S[\s\S]*)$/u;
const METHODS = [...HTTP_METHODS, 'CLI'] as const;
const TIMEOUT = /^timeout\s*:\s*(\d+(?:\.\d+)?)\s*(ms|s|m)?$/u;
const UNIT_MS = { ms: 1, s: 1000, m: 60_000 } as const;

export function parseAction(source: ActionSource): ParsedAction {
  const warnings: ActionWarning[] = [];
  const lines = source.text.split(/\r?\n/u);
  const first = lines.findIndex((line) => line.trim() !== '');
  const warn = (code: ActionWarning['code'], at: number, message: string): void =>
    void warnings.push({ line: source.line + 1 + at, code, message: `act.${source.id}: ${message}` });
  if (first === -1) {
    warn('INVALID_ACTION_BLOCK', -1, 'is empty');
    return { warnings };
  }
  const request = readRequest(lines, first);
  const [, word = '', rest = ''] = METHOD_LINE.exec(request.text) ?? [];
  const method = METHODS.find((known) => known === word.toUpperCase());
  if (method === undefined) {
    warn(
      'INVALID_ACTION_BLOCK',
      first,
      `begins with ${METHODS.join(', ')} and a target, not: ${request.text.trim()}`,
    );
    return { warnings };
  }
  const options =
    method === 'CLI'
      ? { target: rest.trim(), headers: [], body: undefined, problems: [] }
      : readOptions(rest);
  for (const problem of options.problems) warn('INVALID_ACTION_BLOCK', first, problem);
  const under = readUnder(lines, request.next, method === 'CLI', warn);
  return {
    action: {
      id: source.id,
      method,
      target: options.target,
      headers: [...options.headers, ...under.headers],
      body: under.body ?? options.body,
      fields: under.fields,
      timeoutMs: under.timeoutMs,
      line: source.line,
    },
    warnings,
  };
}

/** The first line, and those that belong to it: after a backslash, or while a quote of `-d` is open. */
function readRequest(
  lines: readonly string[],
  first: number,
): { readonly text: string; readonly next: number } {
  const parts: string[] = [];
  let part = lines[first] ?? '';
  let next = first + 1;
  for (; next < lines.length && goesOn(part); next++) {
    parts.push(part.slice(0, -1));
    part = (lines[next] ?? '').trim();
  }
  const text = [...parts, part].join(' ');
  let open = /^\s*CLI\s/iu.test(text) ? undefined : readOptions(text).open;
  const last = Math.min(lines.length, next + MAX_QUOTED_LINES);
  for (let at = next, tries = 0; at < last && open !== undefined && tries < MAX_QUOTES_TRIED; at++) {
    // All of it is read again only where the quote may end.
    if (!mayClose(lines[at] ?? '', open)) continue;
    const joined = [text, ...lines.slice(next, at + 1)].join('\n');
    tries += 1;
    open = readOptions(joined).open;
    if (open === undefined) return { text: joined, next: at + 1 };
  }
  return { text, next };
}

/** It ends with a backslash that is not itself behind one. */
function goesOn(line: string): boolean {
  let at = line.length;
  while (line[at - 1] === '\\') at -= 1;
  return (line.length - at) % 2 === 1;
}

function mayClose(line: string, quote: '"' | "'"): boolean {
  for (let at = line.indexOf(quote); at !== -1; at = line.indexOf(quote, at + 1))
    if (line[at - 1] !== '\\' && /^\s?$/u.test(line.charAt(at + 1))) return true;
  return false;
}

interface Under {
  readonly fields: readonly Field[];
  readonly headers: readonly Header[];
  readonly body: string | undefined;
  readonly timeoutMs: number | undefined;
}

/** The lines below: fields, `-H`, `body:`, `timeout:`. */
function readUnder(
  lines: readonly string[],
  from: number,
  isCommand: boolean,
  warn: (code: ActionWarning['code'], at: number, message: string) => void,
): Under {
  const fields: Field[] = [];
  const headers: Header[] = [];
  let body: string | undefined;
  let timeoutMs: number | undefined;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    if (!/^\s/u.test(line)) {
      warn('INVALID_FIELD', at, `a field has to be indented: ${text}`);
      continue;
    }
    const timeout = TIMEOUT.exec(text);
    if (timeout !== null) {
      const unit = (timeout[2] ?? 's') as keyof typeof UNIT_MS;
      timeoutMs = Math.min(
        MAX_ACTION_TIMEOUT_MS,
        Math.max(1, Math.round(Number(timeout[1]) * UNIT_MS[unit])),
      );
      continue;
    }
    if (!isCommand && /^-[Hd]\s/u.test(text)) {
      const more = readOptions(` ${text}`);
      headers.push(...more.headers);
      body = more.body ?? body;
      for (const problem of more.problems) warn('INVALID_ACTION_BLOCK', at, problem);
      continue;
    }
    if (!isCommand && text === 'body:') {
      const end = endOfBlock(lines, at);
      body = unindent(lines.slice(at + 1, end));
      at = end - 1;
      continue;
    }
    const { field, problems } = parseField(text);
    for (const problem of problems)
      warn(field === undefined ? 'INVALID_FIELD' : 'INVALID_CONSTRAINT', at, problem);
    if (field === undefined) continue;
    if (fields.some(({ name }) => name === field.name))
      warn('INVALID_FIELD', at, `the field ${field.name} is there twice`);
    else if (fields.length >= MAX_FIELDS) warn('INVALID_FIELD', at, `more than ${MAX_FIELDS} fields`);
    else fields.push(field);
  }
  return { fields, headers, body, timeoutMs };
}

/** As long as lines are indented more than the one above them, or blank. */
function endOfBlock(lines: readonly string[], at: number): number {
  const depth = indentOf(lines[at] ?? '');
  let end = at + 1;
  while (end < lines.length && ((lines[end] ?? '').trim() === '' || indentOf(lines[end] ?? '') > depth))
    end += 1;
  while (end > at + 1 && (lines[end - 1] ?? '').trim() === '') end -= 1;
  return end;
}

function unindent(lines: readonly string[]): string {
  const depth = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => indentOf(line)));
  return lines.map((line) => line.slice(Number.isFinite(depth) ? depth : 0)).join('\n');
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
