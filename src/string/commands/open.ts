// /open: shows a file, a directory, a page of the web, a part of either, an app, a hub, a shell; alone, what was open already.

import { unquoteTarget } from '../arguments.js';
import { placeOf } from '../load/load.js';
import { isWeb, type Place, resolveTyped, resolveWritten, within } from '../load/resolve-target.js';
import { renderHub } from '../hubs/pages.js';
import { readOpenArguments } from '../open-arguments.js';
import { findApp } from '../packages/find-package.js';
import { findTool } from '../packages/find-tool.js';
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
  usage: '/open TARGET[#BLOCK] [--lines A-B] [--tab NAME]',
  summary: 'show a file, a directory, a web page, @shortcut, a hub, app:NAME or bash:NAME',
  run: open,
};

interface Target {
  readonly ok: true;
  readonly place: Extract<Place, { ok: true }>;
  readonly block: string | null;
  /** When there is nothing at the place, it may have a `#` in its name. */
  readonly instead?: Extract<Place, { ok: true }>;
}

async function open(call: CommandCall): Promise<CommandResult> {
  const { session, line } = call;
  const asked = readOpenArguments(line.args);
  const { lines: range, tab } = asked;
  const text = unquoteTarget(asked.target);
  if (tab === '' || (tab !== undefined && parseTopic(tab)?.name !== session.topic.name))
    return fail('INVALID_TARGET', `Not a tab: ${tab}`, 'Usage: /open TARGET --tab NAME');
  if (isHub(text)) return await renderHub(text, call);
  if (session.topic.type === 'hub' && text === '') return await renderHub(session.topic.name, call);
  // What is opened beside a page is named as that page names it, and is known there what is known here.
  const from = tab === undefined ? undefined : call.from;
  const target = await findTarget({ ...call, session: from ?? session }, text);
  if (!target.ok) return target;
  if (from !== undefined && session.isEmpty) session.fork(from);
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

async function findTarget(call: CommandCall, text: string): Promise<Target | Failure> {
  const { session, runtime } = call;
  const isApp = session.topic.type === 'app';
  if (text === '') return isApp ? appTarget(call, session.topic.name, null) : again(call);
  if (text.startsWith('@')) return await shortcutTarget(call, text);
  const { path, block } = splitBlock(text);
  if (path === '' && block === null && session.document !== undefined)
    return fail('INVALID_TARGET', `Block without a name: ${text}`);
  if (path === '')
    return block === null || session.document === undefined
      ? noDocument()
      : here(call, session.document, block);
  if (path.startsWith('app:')) return appTarget(call, path, block);
  if (path.startsWith('tool:')) return await toolTarget(call, path.slice('tool:'.length), block);
  if (path.startsWith('bash:')) return fail('INVALID_TARGET', `Cannot be opened from here: ${text}`);
  if (/^[^/.:]+$/u.test(path) && Object.hasOwn(readRegistry(runtime.agent.home).apps, path))
    return appTarget(call, `app:${path}`, block);
  const { manifest } = session.document ?? {};
  return written(within(resolveTyped(call, path), manifest), block, () => resolveTyped(call, text));
}

/** A name of the page, or a value that an action has kept. */
async function shortcutTarget(call: CommandCall, text: string): Promise<Target | Failure> {
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
  const { document } = session;
  if (part.path === '') return document === undefined ? noDocument() : here(call, document, wanted ?? '');
  if (document === undefined) return written(resolveTyped(call, part.path), wanted);
  const { uri: base, manifest } = document;
  // A page from the web has no say in what is run here.
  if (/^(?:app|tool):/u.test(part.path) && !isWeb(base)) return await findTarget(call, part.path);
  return written(within(resolveWritten(call, part.path, base), manifest), wanted, () =>
    resolveWritten(call, found.value as string, base),
  );
}

function appTarget(call: CommandCall, text: string, block: string | null): Target | Failure {
  const topic = parseTopic(text);
  if (topic?.type !== 'app') return fail('INVALID_TARGET', `Not an app: ${text}`);
  const app = findApp(call.runtime, topic.app);
  return app.ok ? here(call, app, block) : app;
}

async function toolTarget(call: CommandCall, name: string, block: string | null): Promise<Target | Failure> {
  if (!/^[A-Za-z0-9_-]+$/u.test(name)) return fail('INVALID_TARGET', `Not a tool: tool:${name}`);
  const tool = await findTool(call, name);
  if (tool.ok) return here(call, tool, block);
  return tool.code === 'NOT_FOUND' ? { ...tool, message: `Tool '${name}' is not installed.` } : tool;
}

function again(call: CommandCall): Target | Failure {
  const { session } = call;
  if (session.document !== undefined) return here(call, session.document, session.document.block);
  if (session.cwd !== undefined) return { ok: true, place: { ok: true, path: session.cwd }, block: null };
  return fail(
    'INVALID_TARGET',
    'Usage: /open <target>',
    'A path, ~/path, an address, @shortcut, a hub name, app:NAME or bash:NAME.',
  );
}

function here(
  call: CommandCall,
  { uri, manifest }: { readonly uri: string; readonly manifest?: string | undefined },
  block: string | null,
): Target {
  return { ok: true, place: placeOf(call, uri, manifest), block };
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
