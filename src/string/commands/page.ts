// /back, /refresh, /source: what is done with the document that is open.

import { pathOfUri } from '../files/agent-files.js';
import { loadPath } from '../files/load-document.js';
import { type CommandResult, fail, succeed } from '../result.js';
import type { OpenDocument } from '../session/session.js';
import type { Command, CommandCall } from './command.js';
import { noDocument } from './no-document.js';
import { showFile } from './open.js';

export const backCommand: Command = {
  name: 'back',
  group: 'navigate',
  usage: '/back',
  summary: 'the page before, read again',
  run: (call) => {
    const previous = call.session.history.at(-1);
    if (previous === undefined) return fail('INVALID_TARGET', 'No previous page in history.');
    return showAgain(call, previous, 'Back to', (document) => call.session.goBack(document));
  },
};

export const refreshCommand: Command = {
  name: 'refresh',
  group: 'navigate',
  usage: '/refresh',
  summary: 'the same page, read again',
  run: (call) => {
    const { document } = call.session;
    if (document === undefined) return noDocument();
    return showAgain(call, document, 'Refreshed', (fresh) => call.session.replaceDocument(fresh));
  },
};

export const sourceCommand: Command = {
  name: 'source',
  group: 'inspect',
  usage: '/source',
  summary: 'the document as it is in the file',
  run: async ({ session, runtime, signal }) => {
    const path = session.document === undefined ? undefined : pathOfUri(session.document.uri);
    if (session.document === undefined || path === undefined) return noDocument();
    const loaded = await loadPath(runtime, path, signal);
    if (!loaded.ok) return loaded;
    if ('directory' in loaded) return fail('INVALID_TARGET', `Not a regular file: ${path}`);
    return succeed(`[source: ${session.document.uri}]`, loaded.source);
  },
};

function showAgain(
  call: CommandCall,
  { uri }: OpenDocument,
  verb: string,
  accept: (document: OpenDocument) => void,
): CommandResult | Promise<CommandResult> {
  const path = pathOfUri(uri);
  if (path === undefined) return fail('LOAD_ERROR', `Unsupported URI scheme: ${uri}`);
  return showFile(call, path, verb, accept);
}
