// The text of a patch, read: which files, and in each what is to become of which lines.

import { invalidParam, rexdError } from '../errors.js';

/** Files one patch may name. */
export const MAX_PATCH_FILES = 1000;
/** Lines of a patch: each becomes an object, and all are read before anybody else has a turn. */
export const MAX_PATCH_LINES = 200_000;

export interface HunkLine {
  /** A line that is there and stays, one that goes, one that comes. */
  readonly kind: 'keep' | 'drop' | 'add';
  readonly text: string;
}

export interface Hunk {
  /** Of the patch text, for messages. */
  readonly line: number;
  /** Lines to be found first, one after the other, before the place of the hunk. */
  readonly contexts: readonly string[];
  readonly lines: readonly HunkLine[];
  /** How many lines at the end were written as nothing at all: blank context, or just space before what follows. */
  readonly looseEnd: number;
  /** The hunk ends where the file does. */
  readonly atEnd: boolean;
}

export type FileChange =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly moveTo?: string;
      readonly hunks: readonly Hunk[];
    };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const END_OF_FILE = '*** End of File';
const HEADER = /^\*\*\* (Add File|Delete File|Update File|Move to):[ \t]*(.*)$/;
/** Line numbers, as other kinds of patches have them, say nothing here; what follows them does. */
const LINE_NUMBERS = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;

export function parsePatch(text: string): FileChange[] {
  assertNotTooLong(text);
  const reader = new Reader(splitPatch(text));
  reader.skipBlank();
  if (reader.next()?.trimEnd() !== BEGIN) throw reader.wrong(`a patch begins with "${BEGIN}"`);
  const changes: FileChange[] = [];
  for (;;) {
    reader.skipBlank();
    const line = reader.next();
    if (line === undefined) throw reader.wrong(`a patch ends with "${END}"`);
    if (line.trimEnd() === END) break;
    changes.push(parseChange(line, reader));
    if (changes.length > MAX_PATCH_FILES) throw reader.wrong(`more than ${MAX_PATCH_FILES} files`);
  }
  if (changes.length === 0) throw reader.wrong('the patch changes nothing');
  reader.skipBlank();
  if (reader.next() !== undefined) throw reader.wrong(`nothing may follow "${END}"`);
  return changes;
}

function parseChange(line: string, reader: Reader): FileChange {
  const [, header, rest] = HEADER.exec(line) ?? [];
  const path = rest?.trim() ?? '';
  if (header === undefined || header === 'Move to') {
    throw reader.wrong('expected "*** Add File: ", "*** Delete File: " or "*** Update File: "');
  }
  if (path === '') throw reader.wrong(`"*** ${header}:" needs a path`);
  if (header === 'Delete File') return { kind: 'delete', path };
  return header === 'Add File' ? parseAdd(path, reader) : parseUpdate(path, reader);
}

function parseAdd(path: string, reader: Reader): FileChange {
  const lines: string[] = [];
  let blank = 0;
  for (let line = reader.peek(); line !== undefined && !isMark(line); line = reader.peek()) {
    reader.next();
    if (line !== '' && !line.startsWith('+')) throw reader.wrong('a line of a new file begins with "+"');
    blank = line === '' ? blank + 1 : 0;
    lines.push(line.slice(1));
  }
  return { kind: 'add', path, lines: lines.slice(0, lines.length - blank) };
}

function parseUpdate(path: string, reader: Reader): FileChange {
  const [, header, to] = HEADER.exec(reader.peek() ?? '') ?? [];
  const moves = header === 'Move to';
  if (moves) reader.next();
  const moveTo = to?.trim() ?? '';
  if (moves && moveTo === '') throw reader.wrong('"*** Move to:" needs a path');
  const hunks: Hunk[] = [];
  for (;;) {
    if (hunks.length === 0) reader.skipBlank();
    const line = reader.peek();
    if (line === undefined || isMark(line)) break;
    hunks.push(parseHunk(reader));
  }
  if (hunks.length === 0 && !moves) throw reader.wrong(`nothing is said about ${JSON.stringify(path)}`);
  return { kind: 'update', path, hunks, ...(moves && { moveTo }) };
}

function parseHunk(reader: Reader): Hunk {
  const line = reader.lineNumber + 1;
  const contexts: string[] = [];
  for (let mark = reader.peek(); mark?.startsWith('@@') === true; mark = reader.peek()) {
    reader.next();
    const text = contextOf(mark);
    if (text !== '') contexts.push(text);
  }
  const lines: HunkLine[] = [];
  let looseEnd = 0;
  let atEnd = false;
  for (
    let next = reader.peek();
    next !== undefined && !isMark(next) && !next.startsWith('@@');
    next = reader.peek()
  ) {
    reader.next();
    if (next.trimEnd() === END_OF_FILE) {
      atEnd = true;
      reader.skipBlank();
      break;
    }
    lines.push(parseHunkLine(next, reader));
    looseEnd = next === '' ? looseEnd + 1 : 0;
  }
  if (lines.length === looseEnd) throw reader.wrong('a hunk without lines');
  return { line, contexts, lines, looseEnd, atEnd };
}

const KINDS: Readonly<Record<string, HunkLine['kind']>> = { ' ': 'keep', '-': 'drop', '+': 'add' };

function parseHunkLine(line: string, reader: Reader): HunkLine {
  if (line === '') return { kind: 'keep', text: '' }; // editors strip the space of a blank line
  const kind = KINDS[line.charAt(0)];
  if (kind === undefined) throw reader.wrong('a line of a hunk begins with " ", "-" or "+"');
  return { kind, text: line.slice(1) };
}

function contextOf(mark: string): string {
  const text = mark.slice(2).replace(/^ /, '');
  return text
    .replace(LINE_NUMBERS, '')
    .replace(/^ (?=\S)/, '')
    .trimEnd();
}

/** What can only be the patch's own words, never a line of a file: those begin with " ", "-" or "+". */
function isMark(line: string): boolean {
  return line.startsWith('*** ') && line.trimEnd() !== END_OF_FILE;
}

function assertNotTooLong(text: string): void {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    lines += 1;
    if (lines > MAX_PATCH_LINES)
      throw rexdError('resource_limit', `a patch of more than ${MAX_PATCH_LINES} lines`, {
        limit: MAX_PATCH_LINES,
      });
  }
}

/** A patch that has CRLF throughout was sent so; a single carriage return is content. */
function splitPatch(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.at(-1);
  const all = lines.length > 1 && lines.slice(0, -1).every((line) => line.endsWith('\r'));
  if (last === '') lines.pop();
  return all ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines;
}

class Reader {
  /** Of the line read last, from 1. */
  lineNumber = 0;
  readonly #lines: readonly string[];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  peek(): string | undefined {
    return this.#lines[this.lineNumber];
  }

  next(): string | undefined {
    return this.#lines[this.lineNumber++];
  }

  skipBlank(): void {
    while (this.peek()?.trim() === '') this.lineNumber += 1;
  }

  wrong(message: string): Error {
    return invalidParam('patch_text', `line ${this.lineNumber}: ${message}`, { line: this.lineNumber });
  }
}
