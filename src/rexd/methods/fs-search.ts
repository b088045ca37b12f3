// fs.search: text in files, line by line.

import { LaneFullError } from '../../base/lane.js';
import type { SearchEnd, SearchOptions } from '../../host/files/search.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { rexdError } from '../errors.js';
import { answerRoom } from '../fs/answer-size.js';
import { fileCall } from '../fs/file-call.js';
import type { FsSearch } from '../protocol/fs.js';

/** Matches given to whoever does not say how many. */
export const DEFAULT_SEARCH_MATCHES = 1000;

export async function searchInFiles(
  params: ParamsOf<typeof FsSearch>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsSearch>> {
  return await fileCall(params.session_id, ctx, async ({ session, roots, resolve, signal }) => {
    // Loaded here: the first call of every other method would pay for it.
    const { searchFiles } = await import('../../host/files/search.js');
    const options = { ...optionsOf(params), maxMs: session.timeoutMs(params.timeout_ms), signal };
    const found = await searchFiles(roots, resolve(params.path ?? '.'), options).catch(asRefusal);
    const { binaryFiles, largeFiles, unreadable } = found;
    return {
      matches: [...found.matches],
      truncated: found.end !== undefined,
      ...(found.end !== undefined && { truncated_by: REASONS[found.end] }),
      files_searched: found.filesSearched,
      files_skipped: binaryFiles + largeFiles + unreadable,
      binary_files: binaryFiles,
      large_files: largeFiles,
      unreadable,
    };
  });
}

function optionsOf(params: ParamsOf<typeof FsSearch>): SearchOptions {
  const {
    query: text,
    regex,
    case_sensitive: caseSensitive,
    max_matches: most,
    max_per_file: perFile,
  } = params;
  return {
    query: { text, regex, caseSensitive },
    include: params.include,
    exclude: params.exclude,
    gitignore: params.gitignore,
    hidden: params.hidden,
    context: params.context,
    maxMatches: most === undefined || most === 0 ? DEFAULT_SEARCH_MATCHES : most,
    ...(perFile !== undefined && perFile > 0 && { maxPerFile: perFile }),
    // Whoever names a number of matches does not know how long their lines are: the answer stays short for all.
    hasRoom: answerRoom(),
  };
}

const REASONS = {
  matches: 'matches',
  room: 'answer_size',
  files: 'files',
  bytes: 'bytes',
  time: 'time',
  pattern: 'pattern',
  tree: 'tree',
  per_file: 'per_file',
} as const satisfies Record<SearchEnd, string>;

function asRefusal(thrown: unknown): never {
  if (!(thrown instanceof LaneFullError)) throw thrown;
  throw rexdError('resource_limit', 'too many searches are waiting', thrown.facts, thrown);
}
