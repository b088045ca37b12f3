// The simple commands in a text for a shell, as far as they can be read without running it.

/** Longer texts are read up to here; what a policy says of a shell text was never a promise. */
export const MAX_TEXT_CHARS = 64 * 1024;
/** Substitutions within each other; what is deeper is not read. */
export const MAX_NESTING = 8;
/** Simple commands of one text; the rest is not read. */
export const MAX_COMMANDS = 1000;

/** Words of the grammar that stand before a command without being one. */
const LEADING = new Set([
  'if',
  'then',
  'else',
  'elif',
  'while',
  'until',
  'do',
  '!',
  '{',
  '}',
  'fi',
  'done',
  'coproc',
]);
/** Words after which the rest of the line holds no command. */
const HEADERS = new Set(['for', 'select', 'case', 'function', 'esac', '[[']);
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
const WORD_END = /[ \t\n;&|()<>]/;
const REDIRECTION = /&>>?|<<<|<<-?|<>|[<>]&-?|>[>|]?|</y;

export interface Place {
  readonly from: number;
  readonly to: number;
}

interface Word {
  readonly text: string;
  readonly place: Place;
}

export interface SimpleCommand {
  readonly words: readonly string[];
  /** Where each of the words stands in the text, with its quotes. */
  readonly places: readonly Place[];
  /** Names assigned in front of it. */
  readonly assigned: readonly string[];
}

/**
 * Quotes are taken off, `$( … )` and backticks are looked into, here-documents (unless they are asked for) and comments
 * are passed over. What depends on running the text (variables, globs, functions, aliases) stays as it is written.
 * Never throws.
 */
export function readSimpleCommands(text: string, { hereDocs = false } = {}): SimpleCommand[] {
  const reader = new TextReader(hereDocs);
  reader.read(text.slice(0, MAX_TEXT_CHARS), 0, (place) => place);
  return reader.commands;
}

/** From a place in the text that is read to the place of the same in the whole. */
type Locate = (place: Place) => Place;

class TextReader {
  readonly commands: SimpleCommand[] = [];
  readonly #hereDocs: boolean;

  constructor(hereDocs: boolean) {
    this.#hereDocs = hereDocs;
  }

  read(text: string, depth: number, locate: Locate): void {
    if (depth > MAX_NESTING) return;
    const scanner = new Scanner(text, (inner, kind) => {
      if (kind === 'here-document' && !this.#hereDocs) return;
      const { from } = inner.place;
      this.read(inner.text, depth + 1, (place) => locate({ from: from + place.from, to: from + place.to }));
    });
    for (;;) {
      const words = scanner.nextCommand();
      if (words === undefined || this.commands.length >= MAX_COMMANDS) return;
      this.#keep(words, depth, locate);
    }
  }

  #keep(words: readonly Word[], depth: number, locate: Locate): void {
    const assigned: string[] = [];
    let at = 0;
    for (; at < words.length; at++) {
      const word = words[at]?.text ?? '';
      if (ASSIGNMENT.test(word)) assigned.push(word.slice(0, word.indexOf('=')).replace('+', ''));
      else if (!LEADING.has(word)) break;
    }
    const rest = words.slice(at);
    const [first, ...others] = rest;
    if (first === undefined || HEADERS.has(first.text)) return;
    if (first.text === 'eval') {
      // Put together from several words: what is in it has no place of its own.
      const whole = locate({ from: others[0]?.place.from ?? 0, to: others.at(-1)?.place.to ?? 0 });
      this.read(others.map(({ text }) => text).join(' '), depth + 1, () => whole);
    }
    this.commands.push({
      words: rest.map(({ text }) => text),
      places: rest.map(({ place }) => locate(place)),
      assigned,
    });
  }
}

type OnInner = (inner: Word, kind: 'substitution' | 'here-document') => void;

/** Splits a text into commands and commands into words. */
class Scanner {
  readonly #text: string;
  readonly #onInner: OnInner;
  readonly #hereDocs: string[] = [];
  #at = 0;

  constructor(text: string, onInner: OnInner) {
    this.#text = text;
    this.#onInner = onInner;
  }

  /** The words up to the next operator; undefined at the end of the text. */
  nextCommand(): Word[] | undefined {
    if (this.#at >= this.#text.length) return undefined;
    const words: Word[] = [];
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at);
      if (char === ' ' || char === '\t') this.#at += 1;
      else if (char === '\\' && this.#text[this.#at + 1] === '\n') this.#at += 2;
      else if (char === '#') this.#skipComment();
      else if (char === '\n') {
        this.#at += 1;
        this.#skipHereDocs();
        break;
      } else if (';&|()'.includes(char) && !this.#startsRedirect()) {
        this.#at += 1;
        break;
      } else if ('<>&'.includes(char)) this.#redirect();
      else {
        const from = this.#at;
        const word = this.#word();
        // `2>file`: the number belongs to the redirection.
        if (!/^\d+$/.test(word) || !'<>'.includes(this.#text.charAt(this.#at) || ' '))
          words.push({ text: word, place: { from, to: this.#at } });
      }
    }
    return words;
  }

  #startsRedirect(): boolean {
    return this.#text[this.#at] === '&' && this.#text[this.#at + 1] === '>';
  }

  #redirect(): void {
    REDIRECTION.lastIndex = this.#at;
    const [operator = ''] = REDIRECTION.exec(this.#text) ?? [];
    this.#at += Math.max(1, operator.length);
    if (operator.endsWith('-') && operator !== '<<-') return; // `>&-` closes and names no file
    if (this.#text[this.#at] === '(') return; // `<( … )`: its command is the next one
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at += 1;
    const target = this.#word();
    if (/^<<-?$/.test(operator)) this.#hereDocs.push(target);
  }

  #word(): string {
    let word = '';
    for (; this.#at < this.#text.length; ) {
      const char = this.#text.charAt(this.#at);
      if (WORD_END.test(char)) break;
      if (char === "'") word += this.#until("'");
      else if (char === '"') word += this.#doubleQuoted();
      else if (char === '`') this.#backticks();
      else if (char === '$' && this.#text[this.#at + 1] === '(') this.#substitution();
      else if (char === '$' && (this.#text[this.#at + 1] === "'" || this.#text[this.#at + 1] === '"'))
        this.#at += 1;
      else if (char === '\\') {
        if (this.#text[this.#at + 1] !== '\n') word += this.#text.charAt(this.#at + 1);
        this.#at += 2;
      } else {
        word += char;
        this.#at += 1;
      }
    }
    return word;
  }

  /** What lies between the character here and the next `end`. */
  #until(end: string): string {
    const close = this.#text.indexOf(end, this.#at + 1);
    const inner = this.#text.slice(this.#at + 1, close === -1 ? undefined : close);
    this.#at = close === -1 ? this.#text.length : close + 1;
    return inner;
  }

  #backticks(): void {
    const from = this.#at + 1;
    this.#inner(from, from + this.#until('`').length, 'substitution');
  }

  #inner(from: number, to: number, kind: Parameters<OnInner>[1]): void {
    this.#onInner({ text: this.#text.slice(from, to), place: { from, to } }, kind);
  }

  #doubleQuoted(): string {
    let inside = '';
    this.#at += 1;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      const char = this.#text.charAt(this.#at);
      if (char === '\\') {
        inside += this.#text.charAt(this.#at + 1);
        this.#at += 2;
      } else if (char === '`') this.#backticks();
      else if (char === '$' && this.#text[this.#at + 1] === '(') this.#substitution();
      else {
        inside += char;
        this.#at += 1;
      }
    }
    this.#at += 1;
    return inside;
  }

  #substitution(): void {
    const from = this.#at + 2;
    let open = 1;
    for (this.#at = from; this.#at < this.#text.length && open > 0; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '(') open += 1;
      else if (char === ')') open -= 1;
      else if (char === '\\') this.#at += 1;
      else if (char === "'") this.#at = endOf(this.#text, "'", this.#at);
    }
    this.#inner(from, open === 0 ? this.#at - 1 : this.#at, 'substitution');
  }

  #skipComment(): void {
    this.#at = endOf(this.#text, '\n', this.#at - 1);
  }

  #skipHereDocs(): void {
    for (const delimiter of this.#hereDocs.splice(0)) {
      const from = this.#at;
      let to = from;
      for (let over = false; !over && this.#at < this.#text.length; ) {
        const end = endOf(this.#text, '\n', this.#at - 1);
        over = this.#text.slice(this.#at, end).replace(/^\t+/, '') === delimiter;
        if (!over) to = end;
        this.#at = end + 1;
      }
      this.#inner(from, to, 'here-document');
    }
  }
}

/** The place of the next `char` after `from`, or the end of the text. */
function endOf(text: string, char: string, from: number): number {
  const found = text.indexOf(char, from + 1);
  return found === -1 ? text.length : found;
}
