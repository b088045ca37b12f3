// Where a text stops being JSON. Node says so in words that change with every version, and often not at all.

const WHITESPACE = /[ \t\n\r]*/y;
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const FIRST_PRINTABLE = 0x20;

export interface TextPosition {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

/** What may come next: `first` is where a list or an object has just been opened and may be closed again. */
type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'comma or end' | 'nothing';

/** The index of the first character that cannot belong to JSON; the length of the text if it ends too early. */
export function findJsonError(text: string): number | undefined {
  const scanner = new Scanner(text);
  while (scanner.step());
  return scanner.complete ? undefined : scanner.at;
}

export function positionAt(text: string, index: number): TextPosition {
  const before = text.slice(0, index);
  return { line: before.split('\n').length, column: index - before.lastIndexOf('\n') };
}

/** Keeps its own stack: a text may be nested more deeply than functions can be. */
class Scanner {
  at = 0;
  readonly #text: string;
  readonly #open: ('[' | '{')[] = [];
  #expected: Expected = 'value';

  constructor(text: string) {
    this.#text = text;
  }

  get complete(): boolean {
    return this.#expected === 'nothing' && this.at === this.#text.length;
  }

  /** Passes one token. False where there is none that fits. */
  step(): boolean {
    this.#pass(WHITESPACE);
    const char = this.#text[this.at];
    if (char === undefined) return false;
    if (this.#closes(char)) return this.#close();
    switch (this.#expected) {
      case 'colon':
        return this.#passMark(char === ':', 'value');
      case 'comma or end':
        return this.#passMark(char === ',', this.#open.at(-1) === '{' ? 'key' : 'value');
      case 'key':
      case 'first key':
        if (!this.#passString()) return false;
        this.#expected = 'colon';
        return true;
      case 'nothing':
        return false;
      default:
        return this.#passValue(char);
    }
  }

  #passValue(char: string): boolean {
    if (char === '[' || char === '{') {
      this.#open.push(char);
      return this.#passMark(true, char === '{' ? 'first key' : 'first value');
    }
    if (!(char === '"' ? this.#passString() : this.#pass(LITERAL))) return false;
    this.#expected = this.#afterValue();
    return true;
  }

  #closes(char: string): boolean {
    const opened = this.#open.at(-1);
    if (char === ']')
      return opened === '[' && (this.#expected === 'first value' || this.#expected === 'comma or end');
    if (char === '}')
      return opened === '{' && (this.#expected === 'first key' || this.#expected === 'comma or end');
    return false;
  }

  #close(): boolean {
    this.#open.pop();
    return this.#passMark(true, this.#afterValue());
  }

  #afterValue(): Expected {
    return this.#open.length === 0 ? 'nothing' : 'comma or end';
  }

  #passMark(fits: boolean, next: Expected): boolean {
    if (!fits) return false;
    this.at += 1;
    this.#expected = next;
    return true;
  }

  /** In a string that is broken it stops at the place where it breaks. */
  #passString(): boolean {
    if (this.#text[this.at] !== '"') return false;
    for (this.at += 1; this.at < this.#text.length; ) {
      const char = this.#text[this.at];
      if (char === '"') {
        this.at += 1;
        return true;
      }
      if (char === '\\') {
        if (!this.#pass(ESCAPE)) return false;
      } else if (this.#text.charCodeAt(this.at) < FIRST_PRINTABLE) return false;
      else this.at += 1;
    }
    return false;
  }

  #pass(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.at += length;
    return length > 0;
  }
}
