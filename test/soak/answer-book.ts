// What a JSON-RPC server owes for each line it is sent, and what came of it. Shares no code with the server.

import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';

/** The requests that wait for an answer under one id. */
interface Due {
  readonly open: Request[];
  /** Several at a time have waited, and answers come in any order: nobody can say whose is whose. */
  shared: boolean;
}

interface Request {
  /** Undefined unless it was a proper one. */
  readonly method: string | undefined;
  readonly line: string;
}

export interface GivenAnswer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** An id of this length is hardly given twice. */
const LONG_ID_CHARS = 32;
/** Not worth our own time: one answer is due, whichever it is. */
const HUGE_BYTES = 1024 * 1024;

export class AnswerBook {
  readonly #maxDepth: number;
  readonly #due = new Map<string, Due>();
  /** Refusals of what was not read: they carry no id, or the server's best guess. */
  #vague = 0;
  /** Of those, how many need not come: what looks like an answer is never answered. */
  #optional = 0;
  readonly faults: string[] = [];

  /** Anything nested deeper than `maxDepth`, or that is not UTF-8, is refused unread. */
  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** Every answer has come that must. */
  get isEven(): boolean {
    return this.#due.size === 0 && this.#vague <= this.#optional;
  }

  /** One line as it was sent, without its newline. */
  sent(bytes: Buffer): void {
    if (bytes.length > HUGE_BYTES) {
      this.#vague += 1;
      return;
    }
    const line = bytes.toString('utf8');
    const value = parse(line);
    const isUnread = depthOf(line) > this.#maxDepth || !isUtf8(bytes);
    if (value === NOT_JSON || isUnread) {
      this.#vague += 1;
      if (isUnread && /"(?:result|error)"/.test(line)) this.#optional += 1;
      return;
    }
    if (!Array.isArray(value) || value.length === 0 || value.length > 1024) this.#expect(value, line);
    else for (const member of value) this.#expect(member, line);
  }

  /** One answer as it came; gives the method it answers, when that is known. */
  came(answer: GivenAnswer): string | undefined {
    const key = keyOf(answer.id);
    const due = this.#due.get(key);
    if (due !== undefined) {
      const first = due.open.shift();
      if (due.open.length === 0) this.#due.delete(key);
      return due.shared ? undefined : first?.method;
    }
    // An id that nobody sent must not be answered; but one that could not be read for sure may be guessed.
    this.#vague -= 1;
    if (this.#vague < 0)
      this.faults.push(`an answer nobody waits for: ${JSON.stringify(answer).slice(0, 300)}`);
    return undefined;
  }

  /** The lines that were never answered. */
  unanswered(): string[] {
    return [...this.#due.values()].flatMap(({ open }) => open.map(({ line }) => line.slice(0, 300)));
  }

  #expect(value: unknown, line: string): void {
    if (!isObject(value)) return this.#add(null, undefined, line);
    const { method, id, params } = value;
    if (method === undefined && ('result' in value || 'error' in value)) return; // an answer is never answered
    const isProper =
      value['jsonrpc'] === '2.0' &&
      typeof method === 'string' &&
      (params === undefined || typeof params === 'object') &&
      (id === undefined || isId(id));
    if (!isProper) return this.#add(id !== undefined && isId(id) ? id : null, undefined, line);
    if (id !== undefined) this.#add(id, method, line);
  }

  #add(id: unknown, method: string | undefined, line: string): void {
    const key = keyOf(id);
    const due = this.#due.get(key);
    // The refusal of what was not read may have any id that others have too: null, 0 and the like.
    const shared = String(id).length < LONG_ID_CHARS;
    if (due === undefined) this.#due.set(key, { open: [{ method, line }], shared });
    else {
      due.open.push({ method, line });
      due.shared = true;
    }
  }
}

const NOT_JSON = Symbol('not JSON');

export function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return NOT_JSON;
  }
}

/** By value: numbers that a double cannot tell apart are the same here. */
function keyOf(id: unknown): string {
  return `${typeof id}:${String(id)}`;
}

function isId(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of the text, which may be nested deeper than a parser or our stack goes, or hold a key twice. */
function depthOf(line: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (char === '"') inString = !inString;
    else if (inString) i += char === '\\' ? 1 : 0;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, ++depth);
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}

export function isAnswer(value: unknown): value is GivenAnswer {
  if (!isObject(value) || value['jsonrpc'] !== '2.0' || !isId(value['id'])) return false;
  if ('result' in value) return isDeepStrictEqual(Object.keys(value).sort(), ['id', 'jsonrpc', 'result']);
  const { error } = value;
  return (
    isObject(error) &&
    Number.isInteger(error['code']) &&
    typeof error['message'] === 'string' &&
    isDeepStrictEqual(Object.keys(value).sort(), ['error', 'id', 'jsonrpc'])
  );
}
