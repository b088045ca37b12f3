// The part of YAML that frontmatter is written in: maps, lists, quoted and plain scalars, block scalars, flow lists and maps.
// What is beyond it becomes a problem with a line, never an exception; the keys around it keep their values.

import { parseFlow, parseScalar, stripComment } from './yaml-scalar.js';

export type YamlValue = string | number | boolean | null | readonly YamlValue[] | YamlMap;
export interface YamlMap {
  readonly [key: string]: YamlValue;
}

export interface YamlProblem {
  /** From 1, within the text that was given. */
  readonly line: number;
  readonly message: string;
}

/** Maps and lists within each other; deeper is nobody's frontmatter. */
export const MAX_YAML_DEPTH = 16;

interface Line {
  readonly number: number;
  readonly indent: number;
  readonly text: string;
  /** With the blanks at its end. */
  readonly raw: string;
}

interface Reader {
  readonly lines: Line[];
  at: number;
  readonly problems: YamlProblem[];
}

const QUOTED_KEY = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')[ \t]*:(?:[ \t]+(.*)|)$/u;
const PLAIN_KEY = /^(?:[^\s'"[\]{},#&*!|>%@`-]|-[^\s#])/u;
const BLOCK_SCALAR = /^([|>])([+-]?\d?|\d?[+-]?)[ \t]*(?:#.*)?$/u;

export function parseYaml(text: string): {
  readonly value: YamlMap;
  readonly problems: readonly YamlProblem[];
} {
  const lines = text.split(/\r?\n/u).map((line, index) => {
    const content = line.trimStart();
    return { number: index + 1, indent: line.length - content.length, text: content.trimEnd(), raw: content };
  });
  const reader: Reader = { lines, at: 0, problems: [] };
  skipBlank(reader);
  const first = reader.lines[reader.at];
  if (first === undefined) return { value: {}, problems: [] };
  const value = readMap(reader, first.indent, 0);
  for (skipBlank(reader); reader.at < lines.length; skipBlank(reader)) {
    complain(reader, 'not understood');
    reader.at += 1;
  }
  return { value, problems: reader.problems };
}

function readMap(reader: Reader, indent: number, depth: number): YamlMap {
  // Without a prototype: `__proto__` is a key like any other.
  const map: Record<string, YamlValue> = Object.create(null) as Record<string, YamlValue>;
  for (skipBlank(reader); ; skipBlank(reader)) {
    const line = reader.lines[reader.at];
    if (line === undefined || line.indent < indent) return map;
    const pair = line.indent === indent ? readPair(line.text) : undefined;
    if (pair === undefined) {
      if (line.indent === indent && isItem(line.text)) return map;
      complain(reader, 'not understood');
      reader.at += 1;
      continue;
    }
    const { key, rest } = pair;
    if (Object.hasOwn(map, key)) complain(reader, `"${key}" is given twice`);
    map[key] = readValue(reader, indent, rest, depth);
  }
}

/** `key: rest`; undefined for what is none. A plain key ends at the first `:` that a blank follows, or nothing. */
function readPair(text: string): { readonly key: string; readonly rest: string } | undefined {
  if (/^["']/u.test(text)) {
    const [whole, double, single, rest = ''] = QUOTED_KEY.exec(text) ?? [];
    return whole === undefined ? undefined : { key: double ?? single?.replaceAll("''", "'") ?? '', rest };
  }
  if (!PLAIN_KEY.test(text)) return undefined;
  const end = /:(?=[ \t]|$)/u.exec(text)?.index;
  const key = end === undefined ? '#' : text.slice(0, end).trimEnd();
  return end === undefined || key.includes('#') ? undefined : { key, rest: text.slice(end + 1).trimStart() };
}

function readList(reader: Reader, indent: number, depth: number): YamlValue[] {
  const list: YamlValue[] = [];
  for (skipBlank(reader); ; skipBlank(reader)) {
    const line = reader.lines[reader.at];
    if (line?.indent !== indent || !isItem(line.text)) return list;
    const rest = line.text.slice(1).trimStart();
    const column = indent + line.text.length - rest.length;
    if (readPair(rest) !== undefined) {
      // `- name: x`: the rest of the line is the first line of a map that goes on below it.
      reader.lines[reader.at] = { number: line.number, indent: column, text: rest, raw: rest };
      list.push(depth >= MAX_YAML_DEPTH ? tooDeep(reader) : readMap(reader, column, depth + 1));
    } else list.push(readValue(reader, indent, rest, depth, true));
  }
}

/** What stands behind `key:` or `-`, and below it. */
function readValue(reader: Reader, indent: number, rest: string, depth: number, isInList = false): YamlValue {
  const started = reader.at;
  const block = BLOCK_SCALAR.exec(rest);
  if (block !== null) return readBlockScalar(reader, indent, block[1] === '|', block[2] ?? '');
  const text = stripComment(rest);
  reader.at += 1;
  if (text === '') return readBelow(reader, indent, depth, isInList);
  if (/^[&*!%@`]/u.test(text)) {
    complain(reader, 'anchors, tags and aliases are not understood', started);
    return text;
  }
  // A value may go on in lines that stand further to the right.
  let whole = text;
  const isFlow = /^[[{]/u.test(text);
  let isWhole = text !== rest.trimEnd(); // a comment ends what is plain
  for (let line = reader.lines[reader.at]; line !== undefined; line = reader.lines[reader.at]) {
    if (line.text === '' || line.indent <= indent || (isWhole && !isFlow)) break;
    if (line.text.startsWith('#') && !isFlow) break;
    if (/:(?:\s|$)/u.test(line.text) && /^[^[{"']/u.test(text))
      complain(reader, 'a value that goes on may have no `:` in it');
    const more = stripComment(line.text);
    isWhole = more !== line.text;
    whole = `${whole} ${more}`.trimEnd();
    reader.at += 1;
  }
  const value = /^[[{]/u.test(whole) ? parseFlow(whole, MAX_YAML_DEPTH) : parseScalar(whole);
  if (value !== undefined) return value;
  complain(reader, `not understood: ${whole.slice(0, 60)}`, started);
  return whole;
}

/** A list may stand right below its key, but not right below the item that it is. */
function readBelow(reader: Reader, indent: number, depth: number, isInList: boolean): YamlValue {
  skipBlank(reader);
  const line = reader.lines[reader.at];
  if (line === undefined) return null;
  if (isItem(line.text) && line.indent >= indent + (isInList ? 1 : 0)) {
    return depth >= MAX_YAML_DEPTH ? tooDeep(reader) : readList(reader, line.indent, depth + 1);
  }
  if (line.indent <= indent) return null;
  if (readPair(line.text) !== undefined)
    return depth >= MAX_YAML_DEPTH ? tooDeep(reader) : readMap(reader, line.indent, depth + 1);
  // A value that begins below its key.
  return readValue(reader, indent, line.text, depth);
}

function readBlockScalar(reader: Reader, indent: number, literal: boolean, header: string): string {
  reader.at += 1;
  const found: (Line | undefined)[] = [];
  let inner = /\d/u.exec(header)?.[0] === undefined ? undefined : indent + Number(/\d/u.exec(header)?.[0]);
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at];
    if (line === undefined) break;
    if (line.text !== '') {
      inner ??= line.indent;
      if (line.indent <= indent || line.indent < inner) break;
    }
    found.push(line.text === '' ? undefined : line);
  }
  const from = inner ?? 0;
  const lines = found.map((line) =>
    line === undefined ? '' : `${' '.repeat(line.indent - from)}${line.raw}`,
  );
  let last = lines.length;
  while (last > 0 && lines[last - 1] === '') last -= 1;
  const body = literal ? lines.slice(0, last).join('\n') : fold(lines.slice(0, last));
  if (header.includes('-') || body === '') return body;
  return header.includes('+') ? `${body}\n${'\n'.repeat(lines.length - last)}` : `${body}\n`;
}

/** One line end is a blank, more are one less; around lines that stand further to the right all stay. */
function fold(lines: readonly string[]): string {
  let text = '';
  let before: string | undefined;
  let ends = 0;
  for (const line of lines) {
    if (line === '') {
      ends += 1;
      continue;
    }
    const keeps = /^[ \t]/u.test(line) || (before !== undefined && /^[ \t]/u.test(before));
    if (before === undefined) text += '\n'.repeat(ends);
    else if (keeps) text += '\n'.repeat(ends + 1);
    else text += ends === 0 ? ' ' : '\n'.repeat(ends);
    text += line;
    before = line;
    ends = 0;
  }
  return text;
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ');
}

function skipBlank(reader: Reader): void {
  for (; reader.at < reader.lines.length; reader.at++) {
    const text = reader.lines[reader.at]?.text ?? '';
    if (text !== '' && !text.startsWith('#')) return;
  }
}

function tooDeep(reader: Reader): null {
  complain(reader, `deeper than ${MAX_YAML_DEPTH} levels`);
  reader.at += 1;
  return null;
}

function complain(reader: Reader, message: string, at = reader.at): void {
  reader.problems.push({ line: reader.lines[at]?.number ?? 1, message });
}
