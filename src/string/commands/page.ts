// /back, /refresh, /source, /history: what is done with the document that is open, and those before it.

import { currentPage } from '../view/current-page.js';
import { placeOf } from '../load/load.js';
import { pathOfUri } from '../files/agent-files.js';
import { fail, succeed } from '../result.js';
import type { OpenDocument } from '../session/session.js';
import type { Command, CommandCall } from '../command.js';
import { noDocument } from '../view/no-document.js';
import { showPlace } from './show-page.js';

export const backCommand: Command = {
  name: 'back',
  group: 'navigate',
  usage: '/back',
  summary: 'the page before, read again',
  run: (call) => {
    const { session } = call;
    const previous = session.history.at(-1);
    if (previous === undefined) return fail('INVALID_TARGET', 'No previous page in history.');
    const { uri, block, manifest } = previous;
    return showPlace(call, {
      place: placeOf(call, uri, manifest),
      block,
      verb: 'Back to',
      accept: (document) => session.goBack(document),
    });
  },
};

export const refreshCommand: Command = {
  name: 'refresh',
  group: 'navigate',
  usage: '/refresh',
  summary: 'the same page, read again',
  run: (call) => {
    const { session } = call;
    if (session.document === undefined) return noDocument();
    const { uri, block, manifest } = session.document;
    return showPlace(call, {
      place: placeOf(call, uri, manifest),
      block,
      verb: 'Refreshed',
      accept: (document) => session.replaceDocument(document),
    });
  },
};

export const sourceCommand: Command = {
  name: 'source',
  group: 'inspect',
  usage: '/source',
  summary: 'the document as it is in the file',
  run: async (call) => {
    const current = await currentPage(call);
    if (!current.ok) return current;
    if (current.image === true) return fail('LOAD_ERROR', `Not a text file: ${current.path ?? current.uri}`);
    return succeed(`[source: ${current.uri}]`, current.original ?? current.source);
  },
};

export const historyCommand: Command = {
  name: 'history',
  group: 'navigate',
  usage: '/history',
  summary: 'the pages that /back leads to, the next one first',
  run: (call) => {
    const { history, document } = call.session;
    const rows = history.toReversed().map((page, at) => `  ${at + 1}  ${nameOf(call, page)}`);
    if (document !== undefined) rows.unshift(`* 0  ${nameOf(call, document)}`);
    return succeed('History', rows.length === 0 ? '  (empty)' : rows.join('\n'));
  },
};

function nameOf({ runtime }: CommandCall, { uri, block, title }: OpenDocument): string {
  const path = pathOfUri(uri);
  const place = `${path === undefined ? uri : runtime.files.shorten(path)}${block === null ? '' : `#${block}`}`;
  return title === null ? place : `${place}  ${title}`;
}
