// /info: what is open in this topic, and what it remembers.

import { VERSION } from '../../base/version.js';
import { type CurrentPage, currentPage } from '../view/current-page.js';
import { actionsOf } from '../actions/action-page.js';
import { isWeb } from '../load/resolve-target.js';
import { pathOfUri } from '../files/agent-files.js';
import { readRegistry } from '../packages/registry.js';
import { RefusedError } from '../refused.js';
import { type CommandResult, type Failure, fail, show, succeed } from '../result.js';
import type { Topic } from '../topic.js';
import type { Command, CommandCall } from '../command.js';
import { previewOf } from '../preview.js';

const LABEL_CHARS = 11;
/** Of one value in the list of variables; `/set` shows it whole. */
export const MAX_SHOWN_VALUE_CHARS = 200;

export type Row = readonly [label: string, value: string];

export const infoCommand: Command = {
  name: 'info',
  group: 'inspect',
  usage: '/info [@SHORTCUT | --json]',
  summary: 'what is open in this topic, and what it remembers; or what a shortcut stands for',
  run: async (call) => {
    const asked = call.line.args.trim();
    if (asked.startsWith('@')) return describeShortcut(call, asked);
    const page = call.session.document === undefined ? undefined : await currentPage(call);
    const rows: Row[] = [
      ['string', `v${VERSION}`],
      ...accessRows(call),
      ...(await policyRows(call)),
      ...placeRows(call, page),
      ...pageRows(call, page),
    ];
    const { history, variables, facts } = call.session;
    if (history.length > 0)
      rows.push(['history', `${history.length} ${history.length === 1 ? 'entry' : 'entries'}`]);
    if (variables.size > 0) rows.push(['vars', describeVariables(variables)]);
    const warnings = page?.ok === false ? [page.message] : (facts?.warnings ?? []);
    if (asked === '--json')
      return show(JSON.stringify({ ...Object.fromEntries(rows), warnings }, undefined, 2));
    const list =
      warnings.length === 0 ? '' : `\n\nWarnings:\n${warnings.map((each) => `  ${each}`).join('\n')}`;
    return succeed('Session info', `${renderRows(rows)}${list}`);
  },
};

/** Said where an agent looks, since it changes what a mistake can cost. */
function accessRows({ runtime }: CommandCall): Row[] {
  return runtime.files.isFull
    ? [['access', 'full: every file that the daemon can reach (STRING_ACCESS)']]
    : [];
}

/** What is off for this agent, so that nobody looks for the mistake elsewhere. */
async function policyRows({ runtime }: CommandCall): Promise<Row[]> {
  try {
    const { switchedOff } = await runtime.policy.read();
    return switchedOff.length === 0 ? [] : [['policy', `off: ${switchedOff.join(', ')}`]];
  } catch (thrown) {
    if (thrown instanceof RefusedError) return [['policy', 'cannot be read, so that nothing is run']];
    throw thrown;
  }
}

function describeShortcut({ session }: CommandCall, asked: string): CommandResult {
  const found = session.shortcuts.resolve(asked);
  if (found === undefined) return fail('NOT_FOUND', `Shortcut not found: ${asked}`);
  return succeed(
    `${asked} → ${typeof found.value === 'string' ? found.value : `(${found.value.join(', ')})`}`,
  );
}

export function renderRows(rows: readonly Row[]): string {
  return rows.map(([label, value]) => `${`${label}:`.padEnd(LABEL_CHARS - 1)} ${value}`).join('\n');
}

export function describeVariables(variables: ReadonlyMap<string, string>): string {
  return [...variables]
    .map(([name, value]) => `{${name}}="${previewOf(value, MAX_SHOWN_VALUE_CHARS)}"`)
    .join(', ');
}

function placeRows({ session, runtime }: CommandCall, page: CurrentPage | Failure | undefined): Row[] {
  const { document, topic } = session;
  const { files } = runtime;
  if (document === undefined) {
    if (topic.type === 'app') return appRows(topic, Object.keys(readRegistry(runtime.agent.home).apps));
    if (topic.type === 'hub') return [['hub', topic.name]];
    return [
      ['cwd', `${files.shorten(files.workingDirectory(session))}/`],
      ['file', '(none open)'],
    ];
  }
  if (topic.type === 'app') {
    const { name, version } = page?.ok === true ? page.page.frontmatter : {};
    return [
      ['app', topic.name],
      ['name', name ?? topic.app],
      ...(version === undefined ? [] : [['version', version] as const]),
    ];
  }
  const path = pathOfUri(document.uri);
  if (path === undefined) return [[isWeb(document.uri) ? 'url' : 'uri', document.uri]];
  return [
    ['file', files.shorten(path)],
    ['cwd', `${files.shorten(files.workingDirectory(session))}/`],
  ];
}

function pageRows({ session }: CommandCall, page: CurrentPage | Failure | undefined): Row[] {
  const { document, shortcuts } = session;
  const rows: Row[] = [];
  if (document === undefined) return rows;
  if (document.title !== null) rows.push(['title', document.title]);
  if (document.block !== null) rows.push(['block', `#${document.block}`]);
  if (page?.ok !== true) return rows;
  const { blocks } = page.page;
  if (blocks.length > 0) rows.push(['blocks', blocks.map((id) => `#${id}`).join(', ')]);
  if (shortcuts.menus.length > 0) rows.push(['menus', shortcuts.menus.map(({ name }) => name).join(', ')]);
  const names = [
    ...[...shortcuts.page.keys()].map((id) => `@${id}`),
    ...(shortcuts.auto.size === 0 ? [] : [`+${shortcuts.auto.size} auto`]),
  ];
  if (names.length > 0) rows.push(['shortcuts', names.join(', ')]);
  const actions = actionsOf(page.page).all.map(({ id, method }) => `${id}(${method})`);
  if (actions.length > 0) rows.push(['actions', actions.join(', ')]);
  if (page.original !== undefined)
    rows.push(['source', 'converted from HTML (use /source to view original)']);
  return rows;
}

function appRows(topic: Extract<Topic, { type: 'app' }>, installed: readonly string[]): Row[] {
  if (installed.includes(topic.app))
    return [
      ['app', topic.name],
      ['status', 'installed, not yet opened'],
      ['hint', `/open ${topic.name}`],
    ];
  return [
    ['app', topic.name],
    ['status', 'not installed'],
    ['installed', installed.length === 0 ? '(none)' : installed.join(', ')],
    ['hint', '/install SOURCE --app'],
  ];
}
