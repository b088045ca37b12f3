// rex search: the lines that have a text, as grep and its kind show them.

import { posix } from 'node:path';
import type { RexParams, RexResult } from '../../client/rex/rex-methods.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import { collect } from './collect.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { type Colours, coloursFor, forReader, printable } from '../colours.js';
import { explainPath, type OnTarget, PathsOnTargets } from './files/on-target.js';
import { parseCount } from './files/parse-range.js';

interface SearchOptions {
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
  readonly glob?: readonly string[];
  readonly context?: number;
  readonly max?: number;
  readonly maxCount?: number;
  readonly filesWithMatches?: boolean;
  readonly ignore: boolean;
  readonly hidden: boolean;
}

type Found = RexResult<'fs.search'>;
type Match = Found['matches'][number];

export const searchCommand: RexCommand = {
  examples: [
    ['rex search TODO web:src', 'a text in a folder of the target "web"'],
    [
      "rex search -e 'error: \\w+' -C 2 -g '*.log' web:/var/log",
      'a regular expression, with lines around, in some files',
    ],
    ['rex search -t web -l password', 'only the names of the files'],
  ],
  define: (command, run) => {
    command
      .argument('<text>', 'what to look for; a regular expression with -e')
      .argument('[path]', 'TARGET:PATH, or PATH on the chosen target; the working folder when absent')
      .option('-e, --regex', 'the text is a regular expression')
      .option('-i, --ignore-case', 'small and capital letters are the same')
      .option(
        '-g, --glob <pattern>',
        'only these files; with "!" before it, not these (repeatable)',
        collect,
        [],
      )
      .option('-C, --context <n>', 'lines around each match', parseCount)
      .option('-m, --max-count <n>', 'matches of one file', parseCount)
      .option('--max <n>', 'matches in all', parseCount)
      .option('-l, --files-with-matches', 'only the paths of files')
      .option('--no-ignore', 'also what .gitignore files leave out, and .git')
      .option('--no-hidden', 'without names that begin with a dot')
      .addHelpText('after', '\nThe exit code is 0 when something was found and 1 when nothing was.')
      .action(run<SearchOptions>(search));
  },
};

async function search(context: RexContext, args: readonly string[], options: SearchOptions): Promise<number> {
  const [query = '', text = ':.'] = args;
  if (query === '') throw new UsageError('an empty text is found everywhere; what is to be found?');
  const place = await new PathsOnTargets(context).find(text);
  const found = await place.client
    .request('fs.search', paramsFor(context, place, query, options))
    .catch((thrown: unknown) => {
      throw explainPath(place.shown, thrown);
    });
  if (context.json) await context.outJson({ target: place.choice.alias, ...found });
  else await context.out(sayMatches(found, place, options, coloursFor(process.stdout)));
  tellBounds(context, found);
  return found.matches.length === 0 ? EXIT.failed : EXIT.ok;
}

function paramsFor(
  context: RexContext,
  { path }: OnTarget,
  query: string,
  options: SearchOptions,
): RexParams<'fs.search'> {
  const globs = options.glob ?? [];
  const timeoutMs = context.takeTimeout();
  return {
    query,
    path,
    regex: options.regex === true,
    case_sensitive: options.ignoreCase !== true,
    include: globs.filter((glob) => !glob.startsWith('!')),
    exclude: globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1)),
    gitignore: options.ignore,
    hidden: options.hidden,
    context: options.context ?? 0,
    ...(options.max !== undefined && { max_matches: options.max }),
    ...(options.filesWithMatches === true
      ? { max_per_file: 1 }
      : options.maxCount !== undefined && { max_per_file: options.maxCount }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
  };
}

function sayMatches(found: Found, place: OnTarget, options: SearchOptions, colours: Colours): string {
  const short = (path: string): string => shorten(path, place);
  if (options.filesWithMatches === true)
    return [...new Set(found.matches.map(({ path }) => path))]
      .map((path) => `${colours.magenta(safe(short(path), colours))}\n`)
      .join('');
  const around = (options.context ?? 0) > 0;
  const lines: string[] = [];
  let last: { path: string; line: number } | undefined;
  for (const match of found.matches) {
    const first = match.line - (match.before?.length ?? 0);
    const apart = last === undefined || last.path !== match.path || first > last.line + 1;
    if (around && last !== undefined && apart) lines.push(colours.dim('--'));
    // What two neighbours have in common is shown once.
    const seen = last?.path === match.path ? last.line : 0;
    lines.push(...sayMatch(match, short(match.path), seen, colours));
    last = { path: match.path, line: match.line + (match.after?.length ?? 0) };
  }
  return lines.map((line) => `${line}\n`).join('');
}

function sayMatch(match: Match, path: string, seen: number, colours: Colours): string[] {
  const { before = [], after = [] } = match;
  const rows = [
    ...before.map((text, i) => ({ line: match.line - before.length + i, text, mark: '-' })),
    { line: match.line, text: match.text, mark: ':' },
    ...after.map((text, i) => ({ line: match.line + 1 + i, text, mark: '-' })),
  ];
  return rows
    .filter(({ line, mark }) => mark === ':' || line > seen)
    .map(({ line, text, mark }) => {
      const shown = safe(text, colours);
      const where = `${colours.magenta(safe(path, colours))}${mark}${colours.green(String(line))}${mark}`;
      return `${where}${mark === ':' ? shown : colours.dim(shown)}`;
    });
}

function safe(text: string, colours: Colours): string {
  return colours.on ? printable(text) : forReader(text);
}

function tellBounds(context: RexContext, found: Found): void {
  const said = found.truncated_by === undefined ? 'a bound' : BOUNDS[found.truncated_by];
  if (found.truncated) context.warn(`rex: not all of it: ${said}`);
  if (found.large_files > 0) context.say(`rex: ${found.large_files} files were too large to be searched`);
  if (found.unreadable > 0) context.say(`rex: ${found.unreadable} files could not be read`);
}

const BOUNDS: Readonly<Record<NonNullable<Found['truncated_by']>, string>> = {
  matches: 'there are more matches; --max asks for more of them',
  answer_size: 'there are more matches than one answer holds; search a smaller folder',
  files: 'there are more files than are searched; search a smaller folder, or some with -g',
  bytes: 'there is more text than is searched; search a smaller folder, or some files with -g',
  time: 'the time was up; search a smaller folder, or give it more with --timeout',
  pattern: 'the pattern takes too long on some lines; make it simpler',
  tree: 'the folders are too many or too deep; search a smaller one',
  per_file: 'files with more matches were cut short, as asked for',
};

/** As it was asked for: below a path that was written as relative, relative. */
function shorten(path: string, { written, folder, client }: OnTarget): string {
  const base = folder ?? client.session.workspace_roots[0];
  if (posix.isAbsolute(written) || written.startsWith('~') || base === undefined) return path;
  const prefix = base.endsWith('/') ? base : `${base}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}
