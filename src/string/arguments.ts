// The words of a command: quotes, options, operands. Of actions, tools and hub verbs; most other commands take plain text.

import { LocalError } from '../base/errors.js';

export interface Word {
  readonly text: string;
  /** It began with a quote: what is quoted is data and never an option. */
  readonly quoted: boolean;
}

export class UnterminatedQuoteError extends LocalError {
  override readonly name = 'UnterminatedQuoteError';

  constructor(quote: string) {
    super('unterminated_quote', `Unterminated ${quote === '"' ? 'double' : 'single'} quote`);
  }
}

/**
 * Split at blanks and line breaks outside of quotes; what touches is one word, and `""` is one too. `\"` inside double
 * quotes is a quote; any other backslash is itself. Throws UnterminatedQuoteError.
 */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  let word: { text: string; quoted: boolean } | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (/[ \t\r\n]/u.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    const isQuote = char === '"' || char === "'";
    word ??= { text: '', quoted: isQuote };
    if (!isQuote) {
      word.text += char;
      continue;
    }
    const end = findQuote(text, char, at + 1);
    const inside = text.slice(at + 1, end);
    word.text += char === '"' ? inside.replaceAll('\\"', '"') : inside;
    at = end;
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** A target that is quoted as a whole, or in parts, is what is inside of the quotes; every other is itself. */
export function unquoteTarget(text: string): string {
  if (!/^["']/u.test(text)) return text;
  try {
    const [word, ...more] = splitWords(text);
    return word === undefined || more.length > 0 ? text : word.text;
  } catch (thrown) {
    if (thrown instanceof UnterminatedQuoteError) return text;
    throw thrown;
  }
}

function findQuote(text: string, quote: string, from: number): number {
  let at = text.indexOf(quote, from);
  if (quote === '"') while (at !== -1 && text[at - 1] === '\\') at = text.indexOf(quote, at + 1);
  if (at === -1) throw new UnterminatedQuoteError(quote);
  return at;
}

export interface Arguments {
  readonly help: boolean;
  /** `true` for one that stands alone. */
  readonly options: ReadonlyMap<string, string | true>;
  readonly operands: readonly string[];
}

export interface ArgumentRules {
  /** Options that never take a value, so that they do not swallow the next word. */
  readonly flags?: readonly string[];
  /** Options whose only values are `true`, `false` and the like: they leave any other word alone. */
  readonly booleans?: readonly string[];
  /** The long names of short options. */
  readonly short?: Readonly<Record<string, string>>;
}

export function parseArguments(
  text: string,
  { flags = [], booleans = [], short = {} }: ArgumentRules = {},
): Arguments {
  const words = splitWords(text);
  const options = new Map<string, string | true>();
  const operands: string[] = [];
  let help = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word;
    if (!isOption(word)) {
      operands.push(word.text);
      continue;
    }
    if (word.text === '--') {
      operands.push(...words.slice(at + 1).map((rest) => rest.text));
      break;
    }
    if (word.text === '--help' || word.text === '-h') {
      help = true;
      continue;
    }
    const { name, value } = nameOf(word.text, short);
    const next = words[at + 1];
    if (value !== undefined) options.set(name, value);
    else if (flags.includes(name) || next === undefined || isOption(next)) options.set(name, true);
    else if (booleans.includes(name) && !/^(?:true|false|yes|no|1|0)$/iu.test(next.text))
      options.set(name, true);
    else {
      options.set(name, next.text);
      at += 1;
    }
  }
  return { help, options, operands };
}

function nameOf(
  text: string,
  short: Readonly<Record<string, string>>,
): { readonly name: string; readonly value: string | undefined } {
  if (!text.startsWith('--')) {
    const letter = text.slice(1);
    return { name: Object.hasOwn(short, letter) ? (short[letter] ?? letter) : letter, value: undefined };
  }
  const equals = text.indexOf('=');
  if (equals === -1) return { name: text.slice(2), value: undefined };
  return { name: text.slice(2, equals), value: text.slice(equals + 1) };
}

/** `-5` is a number. */
function isOption({ text, quoted }: Word): boolean {
  return !quoted && (text.startsWith('--') || /^-[^\d-]$/u.test(text));
}
