// /search: where a text stands in the document, or in the files of the agent.

import { InvalidPatternError } from '../../host/files/errors.js';
import { searchFiles } from '../../host/files/search.js';
import { unquoteTarget } from '../arguments.js';
import { currentPage } from '../view/current-page.js';
import { isEnvFile } from '../packages/env-store.js';
import { type CommandResult, fail, succeed } from '../result.js';
import type { Command, CommandCall } from '../command.js';
import { previewOf } from '../preview.js';

/** Lines that are shown of one search. */
export const MAX_FOUND = 200;
/** How long the files of an agent are searched. */
export const SEARCH_MS = 15_000;
const SHOWN_CHARS = 200;

export const searchCommand: Command = {
  name: 'search',
  group: 'inspect',
  usage: '/search TEXT [--files]',
  summary:
    'the lines of this document that have TEXT in them; of all files when none is open, or with --files',
  run: async (call) => {
    const plain = call.line.args.replace(/(?:^|\s)--files(?=\s|$)/u, '').trim();
    const inFiles = plain !== call.line.args.trim();
    const text = unquoteTarget(plain);
    if (text === '') return fail('INVALID_PAYLOAD', 'Usage: /search <text> [--files]');
    if (inFiles || call.session.document === undefined) return await searchHome(call, text);
    return await searchPage(call, text);
  },
};

async function searchPage(call: CommandCall, text: string): Promise<CommandResult> {
  const current = await currentPage(call);
  if (!current.ok) return current;
  const { source, page } = current;
  const wanted = text.toLowerCase();
  const rows: string[] = [];
  let count = 0;
  for (const [index, { start, end }] of page.lines.entries()) {
    const line = source.slice(start, end);
    if (!line.toLowerCase().includes(wanted)) continue;
    count += 1;
    if (rows.length < MAX_FOUND)
      rows.push(`${String(index + 1).padStart(4)} | ${previewOf(line, SHOWN_CHARS)}`);
  }
  return describe(text, rows, count, false);
}

async function searchHome(call: CommandCall, text: string): Promise<CommandResult> {
  const { runtime, session, signal } = call;
  const from = runtime.files.workingDirectory(session);
  try {
    const { matches, end } = await searchFiles(runtime.files.roots().files, from, {
      query: { text, caseSensitive: false },
      gitignore: true,
      hidden: false,
      maxMatches: MAX_FOUND,
      maxMs: SEARCH_MS,
      signal,
    });
    const rows = matches
      .filter(({ path }) => !isEnvFile(runtime.agent.home, path))
      .map(
        ({ path, line, text: found }) =>
          `${runtime.files.shorten(path)}:${line}: ${previewOf(found, SHOWN_CHARS)}`,
      );
    return describe(text, rows, rows.length, end !== undefined);
  } catch (thrown) {
    if (thrown instanceof InvalidPatternError) return fail('INVALID_PAYLOAD', thrown.message);
    return runtime.files.explain(thrown, from);
  }
}

function describe(text: string, rows: readonly string[], count: number, isCut: boolean): CommandResult {
  const counted = `${count}${isCut ? ' or more' : ''} ${count === 1 ? 'line' : 'lines'}`;
  const more = count > rows.length ? [`… and ${count - rows.length} more`] : [];
  return succeed(
    `Search: ${text} — ${counted}`,
    rows.length === 0 ? '(nothing found)' : [...rows, ...more].join('\n'),
  );
}
