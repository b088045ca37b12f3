// /open: shows a file, a directory, a hub, a shell; and `/open` alone what was open already.

import { describeDirectory } from '../files/list-directory.js';
import { loadPath } from '../files/load-document.js';
import { pathOfUri } from '../files/agent-files.js';
import { renderHub } from '../hubs/pages.js';
import { readRegistry } from '../packages/registry.js';
import { type CommandResult, type Failure, fail, succeed } from '../result.js';
import { isHub, parseTopic } from '../topic.js';
import type { OpenDocument } from '../session/session.js';
import { startOfBody } from '../document/page.js';
import type { Command, CommandCall } from './command.js';
import { noDocument } from './no-document.js';

export const openCommand: Command = {
  name: 'open',
  group: 'navigate',
  usage: '/open TARGET',
  summary: 'show a file, a directory, a hub, app:NAME or bash:NAME',
  run: open,
};

async function open(call: CommandCall): Promise<CommandResult> {
  const { session, line } = call;
  const target = line.args.trim();
  if (target === '') return await reopen(call);
  if (isHub(target)) return await renderHub(target, call);
  if (target.startsWith('app:')) return openApp(call, target);
  if (/^(?:bash|tool):/u.test(target)) return fail('INVALID_TARGET', `Cannot be opened from here: ${target}`);
  if (target.startsWith('@')) return fail('NOT_FOUND', `Shortcut not found: ${target}`);
  if (/^[a-z][\w+.-]*:\/\//iu.test(target) && !target.startsWith('file:'))
    return fail(
      'LOAD_ERROR',
      `Unsupported URI scheme: ${target}`,
      'Only files of this machine can be opened.',
    );
  if (target.startsWith('#') && session.document === undefined) return noDocument();
  const path = pathIn(call, target);
  if (typeof path !== 'string') return path;
  const result = await showFile(call, path, 'Opened', (document) => session.show(document));
  if (result.ok || result.code !== 'NOT_FOUND' || !target.includes('#')) return result;
  // A name may have a `#` in it, so blocks come second.
  return fail(
    'BLOCK_NOT_FOUND',
    `Block not found: ${target.slice(target.indexOf('#'))}`,
    'Available blocks: (none)',
  );
}

/** Loads and shows; `accept` puts the document where it belongs in the topic. */
export async function showFile(
  { runtime, session, signal }: CommandCall,
  path: string,
  verb: string,
  accept: (document: OpenDocument) => void,
): Promise<CommandResult> {
  const loaded = await loadPath(runtime, path, signal);
  if (!loaded.ok) return loaded;
  if ('directory' in loaded) {
    const rows = await describeDirectory(runtime.files, loaded.directory, { asked: path, signal });
    if (typeof rows !== 'string') return rows;
    session.enter(loaded.directory);
    return succeed(`${verb} ${loaded.directory}/`, rows);
  }
  accept({ uri: loaded.uri, title: loaded.page.title, block: null });
  if (loaded.path !== undefined && loaded.stamp !== undefined) session.seen.note(loaded.path, loaded.stamp);
  const text = loaded.source.slice(startOfBody(loaded.page)).replace(/^\s*\n/u, '');
  return succeed(`${verb} ${loaded.path}`, text);
}

function reopen(call: CommandCall): CommandResult | Promise<CommandResult> {
  const { session } = call;
  if (session.topic.type === 'hub') return renderHub(session.topic.name, call);
  if (session.topic.type === 'app' && session.document === undefined)
    return openApp(call, session.topic.name);
  const path = session.document === undefined ? session.cwd : pathOfUri(session.document.uri);
  if (path === undefined)
    return fail(
      'INVALID_TARGET',
      'Usage: /open <target>',
      'A path, ~/path, a hub name, app:NAME or bash:NAME.',
    );
  return showFile(call, path, 'Opened', (document) => session.show(document));
}

function openApp({ runtime }: CommandCall, target: string): CommandResult {
  const topic = parseTopic(target);
  if (topic?.type !== 'app') return fail('INVALID_TARGET', `Not an app: ${target}`);
  const installed = Object.keys(readRegistry(runtime.agent.home).apps);
  const list = `Installed: ${installed.length === 0 ? '(none)' : installed.join(', ')}`;
  if (!installed.includes(topic.app)) return fail('NOT_FOUND', `App '${topic.app}' is not installed.`, list);
  return fail(
    'COMMAND_UNSUPPORTED',
    `App '${topic.app}' is installed, but apps cannot be opened by this version.`,
  );
}

function pathIn({ runtime, session }: CommandCall, target: string): string | Failure {
  try {
    return target.startsWith('file:')
      ? (pathOfUri(target) ?? target)
      : runtime.files.resolve(session, target);
  } catch (thrown) {
    if (thrown instanceof TypeError) return fail('INVALID_TARGET', `Not a file address: ${target}`);
    return runtime.files.explain(thrown, target);
  }
}
