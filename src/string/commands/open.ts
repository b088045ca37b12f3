// /open: shows a file, a directory, a page of the web, a part of either, an app, a hub, a shell; alone, what was open already.

import { unquoteTarget } from '../arguments.js';
import { placeOf } from '../load/load.js';
import { isWeb, type Place, resolveTyped, resolveWritten } from '../load/resolve-target.js';
import { renderHub } from '../hubs/pages.js';
import { findApp, findToolAddress } from '../packages/find-package.js';
import { readRegistry } from '../packages/registry.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import { isHub, parseTopic } from '../topic.js';
import type { Command, CommandCall } from '../command.js';
import { noDocument } from '../view/no-document.js';
import { openLines } from './open-lines.js';
import { showPlace } from './show-page.js';

export const openCommand: Command = {
  name: 'open',
  group: 'navigate',
  usage: '/open TARGET[#BLOCK] [--lines A-B]',
  summary: 'show a file, a directory, a web page, @shortcut, a hub, app:NAME or bash:NAME',
  run: open,
};

/** Before the target, or behind it. */
const LINES = /^--lines(?:\s+|=)(\S+)(?=\s)|(?:^|\s)--lines(?:(?:\s+|=)(\S+))?\s*$/u;

interface Target {
  readonly ok: true;
  readonly place: Extract<Place, { ok: true }>;
  readonly block: string | null;
  /** When there is nothing at the place, it may have a `#` in its name. */
  readonly instead?: Extract<Place, { ok: true }>;
}

async function open(call: CommandCall): Promise<CommandResult> {
  const { session, line } = call;
  const lines = LINES.exec(line.args);
  const range = lines === null ? undefined : (lines[1] ?? lines[2] ?? '');
  const text = unquoteTarget(line.args.replace(LINES, '').trim());
  if (isHub(text)) return await renderHub(text, call);
  if (session.topic.type === 'hub' && text === '') return await renderHub(session.topic.name, call);
  const target = findTarget(call, text);
  if (!target.ok) return target;
  const { place, block, instead } = target;
  if (range !== undefined) return await openLines(call, place, range);
  const show = (where: Target['place'], part: string | null): Promise<CommandResult> =>
    showPlace(call, {
      place: where,
      block: part,
      verb: 'Opened',
      accept: (document) => session.show(document),
    });
  const result = await show(place, block);
  if (result.ok || result.code !== 'NOT_FOUND' || instead === undefined) return result;
  const literal = await show(instead, null);
  return literal.ok ? literal : result;
}

function findTarget(call: CommandCall, text: string): Target | Failure {
  const { session, runtime } = call;
  const isApp = session.topic.type === 'app';
  if (text === '') return isApp ? appTarget(call, session.topic.name, null) : again(call);
  if (text.startsWith('@')) return shortcutTarget(call, text);
  const { path, block } = splitBlock(text);
  if (path === '' && block === null && session.document !== undefined)
    return fail('INVALID_TARGET', `Block without a name: ${text}`);
  if (path === '')
    return block === null || session.document === undefined
      ? noDocument()
      : here(call, session.document.uri, block);
  if (path.startsWith('app:')) return appTarget(call, path, block);
  if (path.startsWith('tool:')) {
    const tool = findToolAddress(runtime, path.slice('tool:'.length));
    return tool.ok ? here(call, tool.uri, block) : tool;
  }
  if (path.startsWith('bash:')) return fail('INVALID_TARGET', `Cannot be opened from here: ${text}`);
  if (/^[^/.:]+$/u.test(path) && Object.hasOwn(readRegistry(runtime.agent.home).apps, path))
    return appTarget(call, `app:${path}`, block);
  return written(resolveTyped(call, path), block, () => resolveTyped(call, text));
}

/** A name of the page, or a value that an action has kept. */
function shortcutTarget(call: CommandCall, text: string): Target | Failure {
  const { session } = call;
  const { path: name, block } = splitBlock(text);
  const found = session.shortcuts.resolve(name);
  if (found === undefined)
    return fail(
      'NOT_FOUND',
      `Shortcut not found: ${name}`,
      'Recovery: /nav page shows the shortcuts of this page.',
    );
  if (typeof found.value !== 'string')
    return fail('INVALID_TARGET', `${name} is a value for actions, not a page: (${found.value.join(', ')})`);
  const part = splitBlock(found.value);
  const wanted = block ?? part.block;
  const base = session.document?.uri;
  if (part.path === '') return base === undefined ? noDocument() : here(call, base, wanted ?? '');
  if (base === undefined) return written(resolveTyped(call, part.path), wanted);
  // A page from the web has no say in what is run here.
  if (/^(?:app|tool):/u.test(part.path) && !isWeb(base)) return findTarget(call, part.path);
  return written(resolveWritten(call, part.path, base), wanted, () =>
    resolveWritten(call, found.value as string, base),
  );
}

function appTarget(call: CommandCall, text: string, block: string | null): Target | Failure {
  const topic = parseTopic(text);
  if (topic?.type !== 'app') return fail('INVALID_TARGET', `Not an app: ${text}`);
  const app = findApp(call.runtime, topic.app);
  return app.ok ? here(call, app.uri, block) : app;
}

function again(call: CommandCall): Target | Failure {
  const { session } = call;
  if (session.document !== undefined) return here(call, session.document.uri, session.document.block);
  if (session.cwd !== undefined) return { ok: true, place: { ok: true, path: session.cwd }, block: null };
  return fail(
    'INVALID_TARGET',
    'Usage: /open <target>',
    'A path, ~/path, an address, @shortcut, a hub name, app:NAME or bash:NAME.',
  );
}

function here(call: CommandCall, uri: string, block: string | null): Target {
  return { ok: true, place: placeOf(call, uri), block };
}

function written(
  place: Place | Failure,
  block: string | null,
  literal?: () => Place | Failure,
): Target | Failure {
  if (!place.ok) return place;
  const instead = block === null ? undefined : literal?.();
  return { ok: true, place, block, ...(instead?.ok === true && { instead }) };
}

/** At the first `#`; nothing behind it is the whole document. */
function splitBlock(text: string): { path: string; block: string | null } {
  const hash = text.indexOf('#');
  if (hash === -1) return { path: text, block: null };
  const block = text.slice(hash + 1).trim();
  return { path: text.slice(0, hash), block: block === '' ? null : block };
}
