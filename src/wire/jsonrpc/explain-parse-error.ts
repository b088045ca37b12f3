// Why a line is no JSON, and at which byte: said without repeating any of it, for it may hold secrets.

import { isUtf8 } from 'node:buffer';

export interface ParseFailure {
  /** Of the first byte that cannot be right, counted from the start of the line. */
  readonly offset: number;
  readonly reason: string;
}

type State = 'value' | 'first-value' | 'first-name' | 'name' | 'colon' | 'next' | 'end';

const EXPECTED: Readonly<Record<State, string>> = {
  value: 'expected a value',
  'first-value': 'expected a value or "]"',
  'first-name': 'expected a name in double quotes or "}"',
  name: 'expected a name in double quotes',
  colon: 'expected ":" after a name',
  next: 'expected "," or the end of the object or array',
  end: 'expected nothing after the value',
};
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;

/** Where bytes stop being UTF-8; undefined when they are. `text` is what they were read as. */
export function findBadUtf8(bytes: Uint8Array, text: string): ParseFailure | undefined {
  // Reading puts U+FFFD for what is none, so that without one there is nothing to look for.
  if (!text.includes('\uFFFD') || isUtf8(bytes)) return undefined;
  for (
    let at = text.indexOf('\uFFFD'), offset = 0, from = 0;
    at !== -1;
    at = text.indexOf('\uFFFD', at + 1)
  ) {
    offset += Buffer.byteLength(text.slice(from, at));
    from = at;
    const isMeant = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd;
    if (!isMeant) return { offset, reason: 'not UTF-8' };
  }
  return { offset: 0, reason: 'not UTF-8' };
}

/** Undefined when the text is JSON after all. Slow: for lines that have been refused already. */
export function findJsonError(text: string): ParseFailure | undefined {
  const failed = new Scan(text).run();
  return failed && { offset: Buffer.byteLength(text.slice(0, failed.offset)), reason: failed.reason };
}

class Scan {
  readonly #text: string;
  /** What has been opened and not closed: a list of its own, because JSON may be nested deeper than calls can be. */
  readonly #open: ('{' | '[')[] = [];
  #state: State = 'value';
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): ParseFailure | undefined {
    for (;;) {
      this.#at += this.#match(SPACE);
      if (this.#at >= this.#text.length) {
        return this.#state === 'end' ? undefined : this.#fail(this.#at === 0 ? 'empty' : 'ends too early');
      }
      const reason = this.#step(this.#text[this.#at] ?? '');
      if (reason !== undefined) return this.#fail(reason);
    }
  }

  #step(char: string): string | undefined {
    const state = this.#state;
    const isValue = state === 'value' || state === 'first-value';
    const isName = state === 'name' || state === 'first-name';
    if (char === '"' && (isValue || isName)) return this.#string(isName ? 'colon' : this.#afterValue());
    if (isValue && (char === '{' || char === '[')) return this.#enter(char);
    if (isValue && this.#match(LITERAL) > 0) return this.#go(this.#match(LITERAL), this.#afterValue());
    if (state === 'colon' && char === ':') return this.#go(1, 'value');
    if (state === 'next' && char === ',') return this.#go(1, this.#open.at(-1) === '{' ? 'name' : 'value');
    const closes = this.#open.at(-1) === '{' ? '}' : ']';
    const mayClose = state === 'next' || state === (closes === '}' ? 'first-name' : 'first-value');
    if (mayClose && char === closes) return this.#leave();
    return EXPECTED[state];
  }

  #enter(char: '{' | '['): undefined {
    this.#open.push(char);
    return this.#go(1, char === '{' ? 'first-name' : 'first-value');
  }

  #leave(): undefined {
    this.#open.pop();
    return this.#go(1, this.#afterValue());
  }

  #go(length: number, next: State): undefined {
    this.#at += length;
    this.#state = next;
    return undefined;
  }

  #afterValue(): State {
    return this.#open.length === 0 ? 'end' : 'next';
  }

  #string(next: State): string | undefined {
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) return this.#go(1, next);
      if (code < 0x20) return 'a control character in a string has to be escaped';
      if (code !== 0x5c) continue;
      this.#at += 1;
      const escaped = this.#match(ESCAPE);
      if (escaped === 0) return 'no such escape in a string';
      this.#at += escaped - 1;
    }
    return 'a string that does not end';
  }

  #match(pattern: RegExp): number {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0].length ?? 0;
  }

  #fail(reason: string): ParseFailure {
    return { offset: this.#at, reason };
  }
}
