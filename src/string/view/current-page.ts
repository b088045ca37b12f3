// The page that a topic shows, read again: files change under an agent's hands, most of all under its own.

import type { CommandCall } from '../command.js';
import { noDocument } from './no-document.js';
import type { LoadedPage } from '../files/load-document.js';
import { findApp } from '../packages/find-package.js';
import type { Failure } from '../result.js';
import { cacheKeyOf, remotePage } from '../load/fetch-document.js';
import { loadPage, placeOf } from '../load/load.js';
import { documentOf, keepView, viewPage } from './view.js';

export type CurrentPage = LoadedPage;

/**
 * `missing` is the answer when nothing is open. A topic of an app has the document of its app, also before it was opened.
 * What came from the web is not fetched again for every command, as long as it is remembered.
 */
export async function currentPage(
  call: Pick<CommandCall, 'session' | 'runtime' | 'signal'>,
  missing: Failure = noDocument(),
): Promise<CurrentPage | Failure> {
  const { session, runtime } = call;
  if (session.document === undefined)
    return session.topic.type === 'app' ? await openApp(call, session.topic.app) : missing;
  const { uri, manifest } = session.document;
  const place = placeOf(call, uri, manifest);
  const known = 'url' in place ? runtime.pages.get(cacheKeyOf(place)) : undefined;
  return known === undefined ? await loadPage(call, place) : remotePage(uri, known);
}

/** Without a word about it: its menus are still new when it is opened; and without its default action. */
async function openApp(
  call: Pick<CommandCall, 'session' | 'runtime' | 'signal'>,
  name: string,
): Promise<CurrentPage | Failure> {
  const app = findApp(call.runtime, name);
  if (!app.ok) return app;
  const loaded = await loadPage(call, placeOf(call, app.uri));
  if (!loaded.ok) return loaded;
  const view = await viewPage(call, loaded, null, { quiet: true });
  if ('ok' in view) return view;
  call.session.show(documentOf(loaded, null));
  keepView(call.session, view);
  return loaded;
}
