// A document on the screen of its topic: loaded, shown, and known by its names from now on.

import { runDefaultAction } from '../actions/default-action.js';
import { loadPlace } from '../load/load.js';
import type { Place } from '../load/resolve-target.js';
import { documentOf, isManifest, keepView, viewPage } from '../view/view.js';
import { describeDirectory } from '../files/list-directory.js';
import type { LoadedPage } from '../files/load-document.js';
import { type CommandResult, succeed } from '../result.js';
import type { OpenDocument } from '../session/session.js';
import type { CommandCall } from '../command.js';

export interface ShowOptions {
  readonly place: Extract<Place, { ok: true }>;
  /** Without `#`; null for the whole document. */
  readonly block: string | null;
  /** `Opened`, `Back to`, `Refreshed`. */
  readonly verb: string;
  /** Puts the document where it belongs in the topic. */
  readonly accept: (document: OpenDocument) => void;
}

export async function showPlace(call: CommandCall, options: ShowOptions): Promise<CommandResult> {
  const { session, runtime, signal } = call;
  const loaded = await loadPlace(call, options.place);
  if (!loaded.ok) return loaded;
  if (!('directory' in loaded)) return await showPage(call, loaded, options);
  const { directory } = loaded;
  const rows = await describeDirectory(runtime.files, directory, { asked: directory, signal });
  if (typeof rows !== 'string') return rows;
  session.enter(directory);
  return succeed(`${options.verb} ${directory}/`, rows);
}

async function showPage(
  call: CommandCall,
  loaded: LoadedPage,
  { block, verb, accept }: ShowOptions,
): Promise<CommandResult> {
  const view = await viewPage(call, loaded, block);
  if ('ok' in view) return view;
  accept(documentOf(loaded, block));
  keepView(call.session, view);
  noteSeen(call, loaded);
  const more = block === null ? await runDefaultAction(call, loaded) : undefined;
  return succeed(
    systemLine(verb, loaded, block),
    more === undefined ? view.text : `${view.text}\n\n---\n\n${more}`,
  );
}

/** Whoever has seen a file may overwrite it. */
export function noteSeen({ session }: CommandCall, { path, stamp }: LoadedPage): void {
  if (path !== undefined && stamp !== undefined) session.seen.note(path, stamp);
}

function systemLine(verb: string, { path, uri, original }: LoadedPage, block: string | null): string {
  const line = `${verb} ${path ?? uri}${block === null ? '' : `#${block}`}`;
  if (original === undefined) return line;
  return isManifest(original)
    ? `${line}\nSource: a manifest (use /source to view it)`
    : `${line}\nSource: HTML auto-converted (use /source to view the original)`;
}
