// The first line of an HTTP action: an address, then any `-H "Name: value"` and `-d 'body'`.

import type { Header } from './action.js';

type Quote = '"' | "'";

export interface RequestOptions {
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body: string | undefined;
  readonly problems: readonly string[];
  /** The quote that is not closed: the next line may belong to it. */
  readonly open: Quote | undefined;
}

const FIRST_OPTION = /\s-[Hd]\s/u;
const OPTION = /^\s*-([Hd])\s+/u;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([\s\S]*)$/u;

export function readOptions(text: string): RequestOptions {
  const begin = FIRST_OPTION.exec(text);
  if (begin === null)
    return { target: text.trim(), headers: [], body: undefined, problems: [], open: undefined };
  const headers: Header[] = [];
  const problems: string[] = [];
  let body: string | undefined;
  let open: Quote | undefined;
  let left = text.slice(begin.index);
  while (left.trim() !== '') {
    const option = OPTION.exec(left);
    if (option === null) {
      problems.push(`not understood: ${left.trim()}`);
      break;
    }
    const value = readQuoted(left.slice(option[0].length));
    left = value.rest;
    open ??= value.open;
    if (value.open !== undefined) problems.push('a quote is not closed');
    if (option[1] === 'd') {
      body = value.text;
      continue;
    }
    const header = HEADER.exec(value.text);
    if (header === null || /[\r\n]/u.test(value.text)) problems.push(`not a header: ${value.text}`);
    else headers.push({ name: header[1] ?? '', value: (header[2] ?? '').trim() });
  }
  return { target: text.slice(0, begin.index).trim(), headers, body, problems, open };
}

/**
 * A quote ends before a blank or at the end, so that an apostrophe in a body does no harm. `\"` inside of double quotes
 * and `'\''` inside of single ones are quotes.
 */
function readQuoted(text: string): {
  readonly text: string;
  readonly rest: string;
  readonly open: Quote | undefined;
} {
  const quote = text.charAt(0);
  if (quote !== '"' && quote !== "'") {
    const [word = ''] = /^\S*/u.exec(text) ?? [];
    return { text: word, rest: text.slice(word.length), open: undefined };
  }
  for (let at = 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (quote === "'" && text.startsWith(`'\\''`, at)) at += 3;
    else if (text[at] === quote && (at + 1 === text.length || /\s/u.test(text.charAt(at + 1)))) {
      const inside = text.slice(1, at);
      const value = quote === '"' ? inside.replaceAll('\\"', '"') : inside.replaceAll(`'\\''`, "'");
      return { text: value, rest: text.slice(at + 1), open: undefined };
    }
  }
  return { text: text.slice(1), rest: '', open: quote };
}
