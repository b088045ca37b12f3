// The page of each hub: what there is, and what can be done with it.

import { renderInbox } from './inbox.js';
import { join } from 'node:path';
import type { CommandCall } from '../command.js';
import { describeTopic } from './describe-topic.js';
import { documentsIn } from '../packages/find-tool.js';
import { readRegistry } from '../packages/registry.js';
import { type CommandResult, show } from '../result.js';
import type { Session } from '../session/session.js';
import { type Hub, TOPIC_TYPES, type TopicType } from '../topic.js';
import { listAgents } from './agent.js';

type Page = (call: CommandCall) => string | Promise<string>;

const PAGES: Readonly<Record<Hub, Page>> = {
  app: (call) => {
    const { apps } = readRegistry(call.runtime.agent.home);
    const open = sessionsOf(call, 'app');
    return page('app', [
      [
        `Installed (${Object.keys(apps).length})`,
        Object.entries(apps).map(([name, uri]) => `${name}  ${uri}`),
      ],
      [`Open sessions (${open.length})`, open.map((each) => rowOf(call, each))],
      ['Manage', ['/open app:NAME[:CONFIG]', '/install SOURCE --app', '/uninstall NAME']],
    ]);
  },
  tool: ({ runtime }) => {
    const { tools } = readRegistry(runtime.agent.home);
    const own = documentsIn(join(runtime.agent.home, 'tools'));
    const shared = runtime.toolsDir === undefined ? [] : documentsIn(runtime.toolsDir);
    const rows = (files: readonly string[], folder: string): string[] =>
      files.map((file) => `${file.replace(/\.md$/u, '')}  ${folder}/${file}`);
    return page('tool', [
      [
        `Installed (${Object.keys(tools).length})`,
        Object.entries(tools).map(([name, uri]) => `${name}  ${uri}`),
      ],
      ...(own.length === 0 ? [] : [[`In ~/tools (${own.length})`, rows(own, '~/tools')] as const]),
      ...(shared.length === 0
        ? []
        : [[`On this machine (${shared.length})`, rows(shared, runtime.toolsDir ?? '')] as const]),
      ['Run', ['/tool:NAME [args]', '/tool:NAME.ACTION [args]']],
      ['Manage', ['/install SOURCE --tool', '/uninstall NAME']],
    ]);
  },
  bash: (call) => {
    const open = sessionsOf(call, 'bash');
    const rows = open.map(({ topic }) => {
      const shell = call.runtime.shells.get(topic.name);
      return `${topic.name}  ${shell === undefined ? '(no shell)' : `alive · cwd: ${shell.cwd}`}`;
    });
    return page('bash', [
      [`Sessions (${open.length})`, rows],
      [
        'Use',
        [
          'send text to a topic bash:NAME: it goes to the shell',
          '//help in such a topic lists what else there is',
        ],
      ],
    ]);
  },
  event: async (call) => {
    const { daemon } = call.runtime.services;
    const url = await daemon.webhookUrl(call.runtime.agent.id);
    return `${await renderInbox(call, false)}\n\n## Webhook\n  ${url}\n  /webhook rotate makes a new one`;
  },
  system: ({ runtime }) => {
    const { apps, tools } = readRegistry(runtime.agent.home);
    const types = [...runtime.sessions.values()].map(({ topic }) => topic.type);
    const each = TOPIC_TYPES.map((type) => `${types.filter((other) => other === type).length} ${type}`);
    return page('system', [
      [
        'Stats',
        [
          `home: ${runtime.agent.home}`,
          `apps: ${Object.keys(apps).length}`,
          `tools: ${Object.keys(tools).length}`,
          `sessions: ${types.length} (${each.join(', ')})`,
        ],
      ],
      ['Controls', ['/status', '/stop']],
      ['Env', ['STRING_PORT', 'STRING_DATA_DIR', 'STRING_ROOT', 'STRING_AGENT_ID']],
    ]);
  },
  agent: async (call) =>
    page('agent', [
      ['Agents', (await listAgents(call)).split('\n')],
      [
        'Manage',
        [
          '/list',
          '/current',
          '/add ID [--home PATH] [--allow PATH,PATH]',
          '/use ID [--local]',
          '/set-home ID PATH',
          '/rm ID',
        ],
      ],
    ]),
};

export async function renderHub(hub: Hub, call: CommandCall): Promise<CommandResult> {
  return show(await PAGES[hub](call));
}

function page(hub: Hub, sections: readonly (readonly [string, readonly string[]])[]): string {
  const parts = sections.map(([title, rows]) => {
    const lines = rows.length === 0 ? ['(none)'] : rows;
    return `## ${title}\n${lines.map((row) => `  ${row}`).join('\n')}`;
  });
  return [`# ${hub} hub`, ...parts].join('\n\n');
}

function sessionsOf({ runtime }: CommandCall, type: TopicType): Session[] {
  return [...runtime.sessions.values()].filter(({ topic }) => topic.type === type);
}

function rowOf({ runtime }: CommandCall, session: Session): string {
  return `${session.topic.name}  ${describeTopic(runtime, session)}`;
}
