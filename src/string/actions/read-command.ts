// The command line of an action, as bash would read it: where each slot stands, and what bash would make of a value there.

import { findRisk, type Risk } from './command-risk.js';
import { type Slot, slotAt, variableAt } from './slot.js';

/** How the text around is quoted. */
export type Quote = 'plain' | 'double' | 'single' | 'ansi';

export type CommandPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'slot'; readonly slot: Slot; readonly quote: Quote; readonly risk: Risk | undefined }
  | {
      readonly kind: 'variable';
      readonly name: string;
      readonly raw: string;
      readonly quote: Quote;
      readonly risk: Risk | undefined;
    };

interface Frame {
  readonly kind: Quote | 'arithmetic' | 'parameter';
  /** What ends it, where there is more than one way: nothing for the outermost. */
  readonly end?: ')' | '`' | '}' | ']';
  /** Of the command that is being read: the words that are whole, and the one that is not. */
  words: string[];
  word: string | undefined;
  /** Parentheses that are open within. */
  depth: number;
}

const SEPARATORS = new Set([';', '&', '|', '\n', '(', ')']);

/**
 * Only as good as it has to be: values reach bash through its environment, so that one whose quoting was mistaken could be
 * split into words, but never run.
 */
export function readCommand(command: string): CommandPart[] {
  return new CommandReader(command).read();
}

class CommandReader {
  readonly #text: string;
  readonly #parts: CommandPart[] = [];
  readonly #frames: Frame[] = [frame('plain')];
  #at = 0;
  #from = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): CommandPart[] {
    while (this.#at < this.#text.length) {
      if (!this.#takeSlot()) this.#step();
    }
    this.#flush();
    return this.#parts;
  }

  get #top(): Frame {
    return this.#frames.at(-1) as Frame;
  }

  /** Nearest frame of plain text: the command that the slot is an argument of. */
  get #command(): Frame {
    return this.#frames.findLast(({ kind }) => kind === 'plain') as Frame;
  }

  #takeSlot(): boolean {
    const { kind } = this.#top;
    const quote = kind === 'arithmetic' || kind === 'parameter' ? 'plain' : kind;
    const variable = kind === 'ansi' ? undefined : variableAt(this.#text, this.#at);
    const slot = variable === undefined ? slotAt(this.#text, this.#at) : undefined;
    const raw = variable?.raw ?? slot?.raw;
    if (raw === undefined) return false;
    this.#flush();
    if (slot !== undefined) this.#parts.push({ kind: 'slot', slot, quote, risk: this.#risk() });
    else if (variable !== undefined)
      this.#parts.push({ kind: 'variable', ...variable, quote, risk: this.#risk() });
    this.#addToWord(raw);
    this.#at += raw.length;
    this.#from = this.#at;
    return true;
  }

  #risk(): Risk | undefined {
    if (this.#frames.some(({ kind }) => kind === 'arithmetic' || kind === 'parameter')) return 'number';
    const { words, word = '' } = this.#command;
    return findRisk(words, word, this.#text.slice(this.#at));
  }

  #step(): void {
    const char = this.#text.charAt(this.#at);
    const { kind } = this.#top;
    if (kind === 'single') this.#skip(1, char === "'");
    else if (char === '\\') this.#skip(2);
    else if (kind === 'ansi') this.#skip(1, char === "'");
    else if (char === '$' && this.#openDollar()) return;
    else if (char === '`') this.#backtick();
    else if (kind === 'double') this.#skip(1, char === '"');
    else if (char === '"') this.#open('double', 1);
    else if (kind === 'parameter') this.#skip(1, char === this.#top.end);
    else if (kind === 'arithmetic') this.#stepArithmetic(char);
    else this.#stepPlain(char);
  }

  #stepPlain(char: string): void {
    const top = this.#top;
    if (char === "'") return this.#open('single', 1);
    if (char === '#' && top.word === undefined) return this.#skip(this.#text.length); // a comment: the line is all there is
    if (char === '(' && top.word === undefined && this.#starts('((')) return this.#open('arithmetic', 2);
    if (char === ')' && top.end === ')') {
      if (top.depth === 0) return this.#skip(1, true);
      top.depth -= 1;
    } else if (char === '(') top.depth += 1;
    if (SEPARATORS.has(char)) {
      top.words = [];
      top.word = undefined;
      this.#at += 1;
    } else if (/\s/u.test(char)) {
      if (top.word !== undefined) top.words.push(top.word);
      top.word = undefined;
      this.#at += 1;
    } else this.#skip(1);
  }

  #stepArithmetic(char: string): void {
    const top = this.#top;
    if (char === '(') top.depth += 1;
    if (char === ')' && top.depth === 0) return this.#skip(2, true);
    if (char === ')') top.depth -= 1;
    this.#skip(1);
  }

  #openDollar(): boolean {
    const isPlain = this.#top.kind === 'plain';
    if (this.#starts('$((')) this.#open('arithmetic', 3);
    else if (this.#starts('$(')) this.#open('plain', 2, ')');
    else if (this.#starts('${')) this.#open('parameter', 2, '}');
    else if (this.#starts('$[')) this.#open('parameter', 2, ']');
    else if (isPlain && this.#starts("$'")) this.#open('ansi', 2);
    else return false;
    return true;
  }

  #backtick(): void {
    const inside = this.#frames.findLastIndex(({ end }) => end === '`');
    if (inside === -1) return this.#open('plain', 1, '`');
    this.#frames.length = inside;
    this.#skip(1);
  }

  #open(kind: Frame['kind'], length: number, end?: Frame['end']): void {
    this.#addToWord('');
    this.#frames.push(frame(kind, end));
    this.#at += length;
  }

  #skip(length: number, closes = false): void {
    if (!closes) this.#addToWord(this.#text.slice(this.#at, this.#at + length));
    else if (this.#frames.length > 1) this.#frames.pop();
    this.#at = Math.min(this.#text.length, this.#at + length);
  }

  #addToWord(text: string): void {
    const command = this.#command;
    command.word = (command.word ?? '') + text;
  }

  #starts(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #flush(): void {
    if (this.#at > this.#from)
      this.#parts.push({ kind: 'text', text: this.#text.slice(this.#from, this.#at) });
    this.#from = this.#at;
  }
}

function frame(kind: Frame['kind'], end?: Frame['end']): Frame {
  return { kind, ...(end !== undefined && { end }), words: [], word: undefined, depth: 0 };
}
