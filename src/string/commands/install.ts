// /install and /uninstall: packages of an agent, from a file, a folder or an address.

import { parseArguments, UnterminatedQuoteError } from '../arguments.js';
import { FilesError } from '../../host/files/path-errors.js';
import { StoreCorruptError } from '../../host/store/json-store.js';
import { isInside } from '../../host/files/is-inside.js';
import { parsePage } from '../document/page.js';
import { pathOfUri } from '../files/agent-files.js';
import { describePackage } from '../actions/describe-package.js';
import {
  folderOfPackage,
  type PackageKind,
  type PackageMeta,
  placeFiles,
  readMeta,
  register,
  removeFiles,
  unregister,
} from '../packages/package-store.js';
import { type PackageSource, readLocal, readRemote } from '../packages/read-source.js';
import { readRegistry } from '../packages/registry.js';
import { RefusedError, refuse } from '../refused.js';
import { type CommandResult, confirm, fail, succeed } from '../result.js';
import { MAX_SEGMENT_CHARS } from '../topic.js';
import type { Command, CommandCall } from '../command.js';

export const installCommand: Command = {
  name: 'install',
  group: 'act',
  usage: '/install [SOURCE] [--app|--tool] [--as NAME] [--link] [--dry-run]',
  summary: 'install a package from a file, a folder or an address; --dry-run shows what it could do',
  run: (call) => guard(call, () => install(call)),
};

export const uninstallCommand: Command = {
  name: 'uninstall',
  group: 'act',
  usage: '/uninstall NAME',
  summary: 'remove a package; what was set for it stays',
  run: (call) => guard(call, () => uninstall(call)),
};

const FLAGS = ['app', 'tool', 'link', 'dry-run'];

async function install(call: CommandCall): Promise<CommandResult> {
  const { runtime } = call;
  const { home } = runtime.agent;
  const { help, options, operands } = parseArguments(call.line.args, { flags: FLAGS });
  const odd = [...options.keys()].find((name) => name !== 'as' && !FLAGS.includes(name));
  const problem =
    odd !== undefined
      ? `Unknown option: ${odd.length === 1 ? '-' : '--'}${odd}`
      : options.get('as') === true
        ? '--as needs a name'
        : operands.length > 1
          ? `One source at a time; one with blanks in it needs quotes: ${operands.join(' ')}`
          : undefined;
  if (problem !== undefined) return fail('INVALID_PAYLOAD', problem, `Usage: ${installCommand.usage}`);
  if (help) return succeed(`Usage: ${installCommand.usage}`, installCommand.summary);
  const asked = operands[0] ?? call.session.document?.uri;
  if (asked === undefined) return fail('COMMAND_UNSUPPORTED', 'No source specified and no document is open.');
  if (options.has('app') && options.has('tool'))
    return fail('INVALID_PAYLOAD', 'Either --app or --tool, not both.');
  const { files, source, fallbackName, wantsLink } = await readSource(call, asked);
  const page = parsePage(files.main());
  const { frontmatter } = page;
  const as = options.get('as');
  const name = sanitise(typeof as === 'string' ? as : (frontmatter.name ?? fallbackName));
  if (name === '') return fail('INVALID_PAYLOAD', 'Invalid package name');
  const kind = kindOf(options, frontmatter.type);
  if (kind === undefined)
    return fail(
      'INVALID_PAYLOAD',
      `Cannot determine package type for "${name}"`,
      `Say which: /install ${asked} --app, or /install ${asked} --tool`,
    );
  if (options.has('dry-run'))
    return succeed(`Would install ${kind}:${name}`, describePackage(page, source, files));
  const meta: PackageMeta = {
    ...(frontmatter.namespace !== undefined && { namespace: frontmatter.namespace }),
    name: frontmatter.name ?? fallbackName,
    ...(frontmatter.version !== undefined && { version: frontmatter.version }),
    source,
    installedAt: new Date().toISOString(),
  };
  await refuseOther(home, name, meta);
  const isLink = options.has('link') || wantsLink;
  if (isLink && !/^https?:/iu.test(source))
    return fail('INVALID_TARGET', '--link is for addresses of the web only.');
  const use = kind === 'app' ? `Use: /open app:${name}` : `Use: /tool:${name}`;
  if (isLink) {
    removeFiles(home, name);
    await register(home, kind, name, source, meta);
    return confirm(`Linked ${kind}:${name}\n  Source: ${source}\n${use}`);
  }
  runtime.policy.note({
    what: 'install',
    topic: call.session.topic.name,
    allowed: true,
    about: `${kind}:${name} ${source}`,
  });
  const uri = placeFiles(home, name, files);
  await register(home, kind, name, uri, { ...meta, sha256: files.hashes() });
  return confirm(
    `Installed ${kind}:${name}\n  Source: ${source}\n  Path: ${folderOfPackage(home, name)}\n${use}`,
  );
}

async function readSource({ runtime, session, signal }: CommandCall, asked: string): Promise<PackageSource> {
  const text = asked.replace(/^chanflow:\/\//iu, 'https://');
  const isWeb = /^https?:\/\//iu.test(text);
  const here = session.document?.uri ?? '';
  if (isWeb || (/^https?:/iu.test(here) && !/^(?:[/~.]|file:)/u.test(text))) {
    const url = isWeb ? text : new URL(text, here).href;
    // What the agent typed may be anywhere; the page that is open was reached before.
    return await readRemote(url, 'any', signal);
  }
  const path = text.startsWith('file:') ? pathOfUri(text) : runtime.files.resolve(session, text);
  return await readLocal(runtime.files, path ?? text, { home: runtime.agent.home, signal });
}

/** The same name for something else is not an upgrade. */
async function refuseOther(home: string, name: string, meta: PackageMeta): Promise<void> {
  const registry = readRegistry(home);
  const isThere = Object.hasOwn(registry.apps, name) || Object.hasOwn(registry.tools, name);
  const known = isThere ? await readMeta(home, name) : undefined;
  if (known === undefined || (known.name === meta.name && known.namespace === meta.namespace)) return;
  refuse(
    'CONFLICT',
    `Another package is installed as "${name}": ${describe(known)}, not ${describe(meta)}`,
    `Use --as NAME for another name, or /uninstall ${name} first.`,
  );
}

function describe({ namespace, name = '' }: PackageMeta): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

async function uninstall({ line, runtime }: CommandCall): Promise<CommandResult> {
  const name = line.args.trim().replace(/^(?:app|tool):/u, '');
  if (name === '') return fail('COMMAND_UNSUPPORTED', 'Usage: /uninstall <name>');
  const { home } = runtime.agent;
  const { apps, tools } = readRegistry(home);
  const kind: PackageKind | undefined = Object.hasOwn(apps, name)
    ? 'app'
    : Object.hasOwn(tools, name)
      ? 'tool'
      : undefined;
  // A name that somebody has written into config.json must not lead elsewhere.
  if (kind === undefined || name !== sanitise(name)) return fail('NOT_FOUND', `Package not found: ${name}`);
  const folder = folderOfPackage(home, name);
  const closed: string[] = [];
  for (const { topic, document } of Array.from(runtime.sessions.values())) {
    const path = document === undefined ? undefined : pathOfUri(document.uri);
    const isIts = path !== undefined && isInside(path, folder);
    if (!isIts && !(topic.type === 'app' && topic.app === name)) continue;
    await runtime.closeTopic(topic);
    closed.push(topic.name);
  }
  await unregister(home, name);
  removeFiles(home, name);
  const topics = closed.length === 0 ? '' : `\n  Closed: ${closed.join(', ')}`;
  return confirm(`Uninstalled ${kind}:${name}${topics}`);
}

function kindOf(options: ReadonlyMap<string, unknown>, type: string | undefined): PackageKind | undefined {
  if (options.has('app')) return 'app';
  if (options.has('tool')) return 'tool';
  return type === 'app' || type === 'tool' ? type : undefined;
}

function sanitise(name: string): string {
  return name
    .replaceAll(/[^A-Za-z0-9_-]+/gu, '-')
    .slice(0, MAX_SEGMENT_CHARS)
    .replaceAll(/^-+|-+$/gu, '');
}

async function guard(
  { runtime, line }: CommandCall,
  run: () => Promise<CommandResult>,
): Promise<CommandResult> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof RefusedError) return thrown.failure;
    if (thrown instanceof UnterminatedQuoteError) return fail('INVALID_PAYLOAD', thrown.message);
    if (thrown instanceof StoreCorruptError) return fail('LOAD_ERROR', thrown.message);
    if (thrown instanceof FilesError) return runtime.files.explain(thrown, line.args);
    throw thrown;
  }
}
