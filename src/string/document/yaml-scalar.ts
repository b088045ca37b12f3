// Values of YAML that stand in one line: plain and quoted scalars, `[a, b]`, `{a: b}`.

import type { YamlValue } from './yaml-subset.js';

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/u;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  '"': '"',
  '\\': '\\',
  '/': '/',
  ' ': ' ',
  e: '\u001B',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
};

/** Undefined for a quote that is not closed, or that more follows behind. */
export function parseScalar(text: string): string | number | boolean | null | undefined {
  if (text.startsWith('"') || text.startsWith("'")) {
    const quoted = readQuoted(text, 0);
    return quoted === undefined || quoted.next !== text.length ? undefined : quoted.value;
  }
  return parsePlain(text);
}

/** A list, a map or a scalar in flow style; undefined for what is none. */
export function parseFlow(text: string, maxDepth: number): YamlValue | undefined {
  const found = readFlow(text, skipBlanks(text, 0), maxDepth);
  if (found === undefined || skipBlanks(text, found.next) !== text.length) return undefined;
  return found.value;
}

/** A comment begins with `#` behind a blank, outside of quotes. */
export function stripComment(text: string): string {
  if (!text.includes('#')) return text.trimEnd();
  let at = 0;
  if (/^["']/u.test(text)) at = readQuoted(text, 0)?.next ?? text.length;
  for (; at < text.length; at++) {
    const char = text[at];
    if (char === '#' && (at === 0 || /\s/u.test(text[at - 1] ?? ''))) return text.slice(0, at).trimEnd();
    if ((char === '"' || char === "'") && /[[{,:\s]/u.test(text[at - 1] ?? '') && /^[[{]/u.test(text))
      at = (readQuoted(text, at)?.next ?? at + 1) - 1;
  }
  return text.trimEnd();
}

interface Found<T> {
  readonly value: T;
  readonly next: number;
}

function readFlow(text: string, at: number, depth: number): Found<YamlValue> | undefined {
  const char = text[at];
  if (depth < 0) return undefined;
  if (char === '[') return readFlowList(text, at + 1, depth);
  if (char === '{') return readFlowMap(text, at + 1, depth);
  if (char === '"' || char === "'") return readQuoted(text, at);
  const end = /[,[\]{}]|:(?=\s|$)/u.exec(text.slice(at))?.index ?? text.length - at;
  const plain = text.slice(at, at + end).trimEnd();
  return plain === '' ? undefined : { value: parsePlain(plain), next: at + plain.length };
}

function readFlowList(text: string, from: number, depth: number): Found<YamlValue> | undefined {
  const list: YamlValue[] = [];
  for (let at = skipBlanks(text, from); at < text.length; ) {
    if (text[at] === ']') return { value: list, next: at + 1 };
    const item = readFlow(text, at, depth - 1);
    if (item === undefined) return undefined;
    at = skipBlanks(text, item.next);
    if (text[at] === ':') {
      // `[a: b]` is a list of one map.
      const pair = readFlowPair(text, item, depth);
      if (pair === undefined) return undefined;
      list.push(Object.assign(Object.create(null) as object, { [pair.value[0]]: pair.value[1] }));
      at = skipBlanks(text, pair.next);
    } else list.push(item.value);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
    else if (text[at] !== ']') return undefined;
  }
  return undefined;
}

function readFlowMap(text: string, from: number, depth: number): Found<YamlValue> | undefined {
  const map: Record<string, YamlValue> = Object.create(null) as Record<string, YamlValue>;
  for (let at = skipBlanks(text, from); at < text.length; ) {
    if (text[at] === '}') return { value: map, next: at + 1 };
    const key = readFlow(text, at, depth - 1);
    if (key === undefined) return undefined;
    const pair = readFlowPair(text, key, depth);
    if (pair === undefined) return undefined;
    map[pair.value[0]] = pair.value[1];
    at = skipBlanks(text, pair.next);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
    else if (text[at] !== '}') return undefined;
  }
  return undefined;
}

function readFlowPair(
  text: string,
  key: Found<YamlValue>,
  depth: number,
): Found<readonly [string, YamlValue]> | undefined {
  if (key.value !== null && typeof key.value === 'object') return undefined;
  const name = String(key.value);
  let at = skipBlanks(text, key.next);
  if (text[at] !== ':') return { value: [name, null], next: at };
  at = skipBlanks(text, at + 1);
  if (/[,}\]]/u.test(text[at] ?? ',')) return { value: [name, null], next: at };
  const value = readFlow(text, at, depth - 1);
  return value === undefined ? undefined : { value: [name, value.value], next: value.next };
}

function readQuoted(text: string, at: number): Found<string> | undefined {
  const quote = text[at];
  let value = '';
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i] ?? '';
    if (char === quote) {
      if (quote === '"' || text[i + 1] !== "'") return { value, next: i + 1 };
      value += "'";
      i += 1;
    } else if (char === '\\' && quote === '"') {
      const [, hex] =
        /^(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))/iu.exec(text.slice(i + 1))?.filter(Boolean) ?? [];
      const point = hex === undefined ? undefined : Number.parseInt(hex, 16);
      if (point !== undefined && point > 0x10_ff_ff) return undefined;
      value +=
        point === undefined ? (ESCAPES[text[i + 1] ?? ''] ?? text[i + 1] ?? '') : String.fromCodePoint(point);
      i += hex === undefined ? 1 : hex.length + 1;
    } else value += char;
  }
  return undefined;
}

function parsePlain(text: string): string | number | boolean | null {
  if (text === 'true' || text === 'True' || text === 'TRUE') return true;
  if (text === 'false' || text === 'False' || text === 'FALSE') return false;
  if (text === '' || text === '~' || text === 'null' || text === 'Null' || text === 'NULL') return null;
  return NUMBER.test(text) ? Number(text) : text;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/u.test(text[at] ?? '')) at += 1;
  return at;
}
