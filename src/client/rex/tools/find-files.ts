// list, glob and search: what is there, as much of it as a model can take.

import type * as z from 'zod/mini';
import { RpcError } from '../../../base/errors.js';
import { type ToolContext, type ToolResult, textResult } from '../../../mcp/tool.js';
import type { RexResult } from '../rex-methods.js';
import type { Glob, List, Search } from './definitions.js';
import { resolvePath, showPath, type ToolHost } from './host.js';

/** Names that one answer gives. */
export const MAX_LISTED = 500;
/** Lines that one search gives. */
export const MAX_FOUND = 200;
/** Of a line that was found. */
export const MAX_FOUND_LINE_CHARS = 400;

export async function listFolder(
  args: z.output<typeof List.input>,
  ctx: ToolContext,
  host: ToolHost,
): Promise<ToolResult> {
  const path = resolvePath(host, args.path ?? '.');
  const recursive = args.recursive ?? false;
  const found = await host.client.request(
    'fs.list',
    { path, recursive, max_entries: MAX_LISTED, gitignore: recursive },
    { signal: ctx.signal },
  );
  const entries = found.entries.map((entry) => ({
    name: recursive ? entry.path.slice(found.path === '/' ? 1 : found.path.length + 1) : entry.name,
    type: entry.type,
    ...(entry.type === 'file' && entry.size !== null && { size: entry.size }),
  }));
  const lines = entries.map(({ name, type, size }) =>
    size === undefined ? `${name}${SUFFIX[type]}` : `${name}\t${size}`,
  );
  return listing(lines, { path: showPath(host, found.path), entries }, found.truncated);
}

const SUFFIX = { file: '', dir: '/', symlink: '@', other: '?' };

export async function globFiles(
  args: z.output<typeof Glob.input>,
  ctx: ToolContext,
  host: ToolHost,
): Promise<ToolResult> {
  const cwd = resolvePath(host, args.path ?? '.');
  const look = (gitignore: boolean) =>
    host.client.request(
      'fs.glob',
      { pattern: args.pattern, cwd, max_matches: MAX_LISTED, gitignore },
      { signal: ctx.signal },
    );
  let found = await look(true);
  // Who asks for nothing but ignored files means them.
  const ignored = found.matches.length === 0;
  if (ignored) found = await look(false);
  const files = found.matches.map((match) => showPath(host, match));
  const note = ignored && files.length > 0 ? '[all of these are left out by .gitignore]' : undefined;
  return listing(files, { files }, found.truncated, note);
}

export async function searchFiles(
  args: z.output<typeof Search.input>,
  ctx: ToolContext,
  host: ToolHost,
): Promise<ToolResult> {
  const params = {
    query: args.query,
    path: resolvePath(host, args.path ?? '.'),
    case_sensitive: args.ignore_case !== true,
    context: args.context ?? 0,
    max_matches: MAX_FOUND,
    ...(args.include !== undefined && { include: args.include }),
  };
  const look = (regex: boolean) =>
    host.client.request('fs.search', { ...params, regex }, { signal: ctx.signal });
  let plain = args.regex === false;
  const found = await look(!plain).catch((thrown: unknown) => {
    // `foo(` is no regular expression, but it is clear what is looked for.
    if (plain || !isBadPattern(thrown)) throw thrown;
    plain = true;
    return look(false);
  });
  const note = plain && args.regex !== false ? '[no regular expression; searched for as it is]' : undefined;
  const matches = found.matches.map((match) => ({
    path: showPath(host, match.path),
    line: match.line,
    text: cutLine(match.text),
    ...(match.before !== undefined && { before: match.before.map(cutLine) }),
    ...(match.after !== undefined && { after: match.after.map(cutLine) }),
  }));
  const facts = { matches, files_searched: found.files_searched };
  return listing(matches.map(sayMatch), facts, found.truncated, note, whyCut(found));
}

function sayMatch(match: {
  path: string;
  line: number;
  text: string;
  before?: string[];
  after?: string[];
}): string {
  const { path, line, before = [], after = [] } = match;
  const around = (texts: readonly string[], from: number): string[] =>
    texts.map((text, i) => `${path}-${from + i}-${text}`);
  return [
    ...around(before, line - before.length),
    `${path}:${line}:${match.text}`,
    ...around(after, line + 1),
    ...(before.length + after.length > 0 ? ['--'] : []),
  ].join('\n');
}

function whyCut({ truncated_by: by }: RexResult<'fs.search'>): string {
  if (by === undefined || by === 'matches' || by === 'answer_size') return NARROW;
  if (by === 'per_file') return '[some files have more matches than are shown]';
  return `[not all of it was searched: the bound on ${by} was reached; search in a smaller folder]`;
}

const NARROW = '[more were found: narrow it down]';

/** A note is in the facts as well: some clients show a model nothing else. */
function listing(
  lines: readonly string[],
  facts: Readonly<Record<string, unknown>>,
  truncated: boolean,
  note?: string,
  cut: string = NARROW,
): ToolResult {
  const notes = [...(note === undefined ? [] : [note]), ...(truncated ? [cut] : [])];
  const text = [...(lines.length === 0 ? ['(nothing found)'] : lines), ...notes].join('\n');
  return textResult(text, { ...facts, truncated, ...(notes.length > 0 && { notes }) });
}

function cutLine(text: string): string {
  return text.length <= MAX_FOUND_LINE_CHARS ? text : `${text.slice(0, MAX_FOUND_LINE_CHARS)}…`;
}

function isBadPattern(thrown: unknown): boolean {
  if (!(thrown instanceof RpcError) || typeof thrown.data !== 'object' || thrown.data === null) return false;
  return (thrown.data as { reason?: unknown }).reason === 'invalid_pattern';
}
