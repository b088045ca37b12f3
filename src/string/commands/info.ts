// /info: what is open in this topic, and what it remembers.

import { VERSION } from '../../base/version.js';
import { pathOfUri } from '../files/agent-files.js';
import { readRegistry } from '../packages/registry.js';
import { fail, succeed } from '../result.js';
import type { Topic } from '../topic.js';
import type { Command, CommandCall } from './command.js';
import { previewOf } from './preview.js';

const LABEL_CHARS = 11;
/** Of one value in the list of variables; `/set` shows it whole. */
export const MAX_SHOWN_VALUE_CHARS = 200;

type Row = readonly [label: string, value: string];

export const infoCommand: Command = {
  name: 'info',
  group: 'inspect',
  usage: '/info',
  summary: 'what is open in this topic, and what it remembers',
  run: (call) => {
    const asked = call.line.args.trim();
    if (asked.startsWith('@')) return fail('NOT_FOUND', `Shortcut not found: ${asked}`);
    const rows: Row[] = [['string', `v${VERSION}`], ...placeRows(call)];
    const { history, variables } = call.session;
    if (history.length > 0)
      rows.push(['history', `${history.length} ${history.length === 1 ? 'entry' : 'entries'}`]);
    if (variables.size > 0) rows.push(['vars', describeVariables(variables)]);
    return succeed('Session info', renderRows(rows));
  },
};

export function renderRows(rows: readonly Row[]): string {
  return rows.map(([label, value]) => `${`${label}:`.padEnd(LABEL_CHARS)}${value}`).join('\n');
}

export function describeVariables(variables: ReadonlyMap<string, string>): string {
  return [...variables]
    .map(([name, value]) => `{${name}}="${previewOf(value, MAX_SHOWN_VALUE_CHARS)}"`)
    .join(', ');
}

function placeRows({ session, runtime }: CommandCall): Row[] {
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
  const path = pathOfUri(document.uri);
  const rows: Row[] =
    path === undefined
      ? [['uri', document.uri]]
      : [
          ['file', files.shorten(path)],
          ['cwd', `${files.shorten(files.workingDirectory(session))}/`],
        ];
  if (document.title !== null) rows.push(['title', document.title]);
  if (document.block !== null) rows.push(['block', `#${document.block}`]);
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
