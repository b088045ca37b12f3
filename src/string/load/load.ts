// A document from wherever it is: a file of the agent, or the web.

import { isInside } from '../../host/files/is-inside.js';
import type { CommandCall } from '../command.js';
import { pathOfUri } from '../files/agent-files.js';
import { type Loaded, type LoadedPage, loadPath } from '../files/load-document.js';
import type { Failure } from '../result.js';
import { cacheKeyOf, fetchDocument } from './fetch-document.js';
import { loadShared } from './load-shared.js';
import { type Place, reachFrom } from './resolve-target.js';

type KnownPlace = Extract<Place, { ok: true }>;

export async function loadPlace(
  { runtime, signal }: Pick<CommandCall, 'runtime' | 'signal'>,
  place: KnownPlace,
): Promise<Loaded | Failure> {
  if ('path' in place) {
    const loaded = await loadPath(runtime, place.path, signal);
    const isShared = !loaded.ok && loaded.code === 'FILE_NOT_ALLOWED' && isTool(runtime.toolsDir, place.path);
    return (isShared ? loadShared(place.path) : undefined) ?? loaded;
  }
  return await fetchDocument(runtime.pages, place, signal);
}

function isTool(toolsDir: string | undefined, path: string): boolean {
  return toolsDir !== undefined && path.endsWith('.md') && isInside(path, toolsDir);
}

/** Only a document: a directory is none. */
export async function loadPage(
  call: Pick<CommandCall, 'runtime' | 'signal'>,
  place: KnownPlace,
): Promise<LoadedPage | Failure> {
  const loaded = await loadPlace(call, place);
  if (!loaded.ok) return loaded;
  return 'directory' in loaded ? call.runtime.files.notFound(loaded.directory) : loaded;
}

/** The place of a document that was open before: it was reached once, and may be again. */
export function placeOf(
  { runtime }: Pick<CommandCall, 'runtime'>,
  uri: string,
  manifest?: string,
): KnownPlace {
  const path = pathOfUri(uri);
  if (path !== undefined) return { ok: true, path };
  const wasPublic =
    runtime.pages.get(cacheKeyOf({ url: uri, ...(manifest !== undefined && { manifest }) }))?.isPublic ===
    true;
  const reach = wasPublic ? 'public' : reachAgain(uri);
  return { ok: true, url: uri, reach, ...(manifest !== undefined && { manifest }) };
}

/** What was typed may have been anywhere; a redirect from the public web still leads nowhere else. */
function reachAgain(uri: string): 'any' | { origin: string } {
  const reach = reachFrom(uri)(uri);
  return typeof reach === 'object' ? reach : 'any';
}
