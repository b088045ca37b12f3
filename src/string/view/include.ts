// `[!include:id](path)`: the block of another file, in place; with what that includes, in turn.

import { deadline } from '../../base/deadline.js';
import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import { type Failure, fail } from '../result.js';
import { findBlock, textOfBlock } from '../document/blocks.js';
import type { Directive } from '../document/directives.js';
import { loadPage } from '../load/load.js';
import { type Page, parsePage, startOfBody } from '../document/page.js';
import { resolveWritten, within } from '../load/resolve-target.js';

/** Files that one page takes in, one after the other and within each other. */
export const MAX_INCLUDES = 100;
/** Includes within includes. */
export const MAX_INCLUDE_DEPTH = 16;
/** Of a page with all that it includes. */
export const MAX_EXPANDED_CHARS = 5 * 1024 * 1024;

/** For all that a page includes together: each of them may be answered late. */
export const INCLUDE_TIMEOUT_MS = 30_000;
const NO_TIME = 'there is no time left';

type Reader = Pick<CommandCall, 'runtime' | 'signal'>;

interface Budget {
  files: number;
  chars: number;
}

/** The page itself when it includes nothing. */
export async function expandIncludes(
  call: Reader,
  loaded: LoadedPage,
  timeoutMs = INCLUDE_TIMEOUT_MS,
): Promise<Page> {
  if (!loaded.page.directives.some(({ kind }) => kind === 'include')) return loaded.page;
  const budget = { files: MAX_INCLUDES, chars: MAX_EXPANDED_CHARS - loaded.page.source.length };
  using limit = deadline(timeoutMs, { also: [call.signal] });
  const limited = { runtime: call.runtime, signal: limit.signal };
  return parsePage(await expand(limited, loaded, 0, loaded.page.source.length, [], budget));
}

/** What one include stands for, as a page of its own. */
export async function expandOne(call: Reader, loaded: LoadedPage, directive: Directive): Promise<Page> {
  const budget = { files: MAX_INCLUDES, chars: MAX_EXPANDED_CHARS };
  using limit = deadline(INCLUDE_TIMEOUT_MS, { also: [call.signal] });
  return parsePage(
    await include({ runtime: call.runtime, signal: limit.signal }, loaded, directive, [], budget),
  );
}

/** The source between `from` and `to`, with the text of its includes in place of their lines. */
async function expand(
  call: Reader,
  loaded: LoadedPage,
  from: number,
  to: number,
  trail: readonly string[],
  budget: Budget,
): Promise<string> {
  const { source, lines, directives } = loaded.page;
  const parts: string[] = [];
  let at = from;
  for (const directive of directives) {
    const line = lines[directive.line - 1];
    if (directive.kind !== 'include' || line === undefined || line.start < from || line.next > to) continue;
    parts.push(source.slice(at, line.start), await include(call, loaded, directive, trail, budget));
    at = line.end;
  }
  return `${parts.join('')}${source.slice(at, to)}`;
}

async function include(
  call: Reader,
  from: LoadedPage,
  directive: Directive,
  trail: readonly string[],
  budget: Budget,
): Promise<string> {
  const shown = `${directive.path === '' ? '' : directive.path}#${directive.block ?? directive.name}`;
  if (budget.files <= 0 || trail.length >= MAX_INCLUDE_DEPTH) return failed(shown, 'too many includes');
  budget.files -= 1;
  if (call.signal.aborted) return failed(shown, NO_TIME);
  const loaded = await loadIncluded(call, from, directive);
  if (!loaded.ok) return failed(shown, call.signal.aborted ? NO_TIME : loaded.message);
  const id = directive.block ?? directive.name;
  const name = `${loaded.uri}#${id}`;
  if (trail.includes(name))
    return `⚠ Circular include detected: ${[...trail, name].map(shorten).join(' → ')}`;
  const block = findBlock(loaded.page.source, id, loaded.page.lines);
  const isOwn = directive.path === '';
  if (block === undefined && !isOwn) return failed(shown, `no block #${id}`);
  const span = block === undefined ? undefined : block.kind === 'marker' ? block.inner : block.outer;
  const [start, end] =
    span === undefined ? [startOfBody(loaded.page), loaded.page.source.length] : [span.start, span.end];
  budget.chars -= end - start;
  if (budget.chars < 0) return failed(shown, `more than ${MAX_EXPANDED_CHARS} characters in all`);
  const hasMore = loaded.page.directives.some(({ kind }) => kind === 'include');
  if (!hasMore)
    return block === undefined
      ? loaded.page.source.slice(start, end).trim()
      : textOfBlock(loaded.page.source, block);
  return (await expand(call, loaded, start, end, [...trail, name], budget)).trim();
}

/** An include without a path has a file beside the page: `page.md.source/id.md`. */
async function loadIncluded(
  call: Reader,
  from: LoadedPage,
  { name, path }: Directive,
): Promise<LoadedPage | Failure> {
  const load = async (href: string): Promise<LoadedPage | Failure> => {
    const place = within(resolveWritten(call, href, from.uri), from.manifest);
    if (!place.ok) return place;
    try {
      return await loadPage(call, place);
    } catch (thrown) {
      if (!call.signal.aborted) throw thrown;
      return fail('TIMEOUT', NO_TIME);
    }
  };
  if (path !== '') return await load(path);
  const own = (from.path ?? new URL(from.uri).pathname).split('/').at(-1) ?? '';
  const first = await load(encodeURI(`${own}.source/${name}.md`));
  if (first.ok || first.code !== 'NOT_FOUND') return first;
  return await load(encodeURI(`${own.replace(/\.md$/u, '')}.source/${name}.md`));
}

function failed(what: string, why: string): string {
  return `⚠ Include failed: ${what} (${why})`;
}

function shorten(name: string): string {
  return name.split('/').at(-1) ?? name;
}
