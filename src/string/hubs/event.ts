// The verbs of the event hub: the inbox under short names, and the webhook.

import type { Command, CommandCall } from '../command.js';
import { runEventVerb } from './inbox.js';
import { type CommandResult, fail, succeed } from '../result.js';

export const EVENT_HUB_VERBS: readonly Command[] = [
  verb('list', '/list [--all]', 'the inbox; --all with acknowledged events'),
  verb('read', '/read ID', 'one event, whole'),
  verb('ack', '/ack ID', 'it is dealt with'),
  verb('clear', '/clear [--all]', 'remove acknowledged events, or all'),
  {
    name: 'webhook',
    group: 'hub',
    usage: '/webhook show|create|rotate',
    summary: 'the address that events are posted to',
    run: webhook,
  },
];

function verb(name: 'list' | 'read' | 'ack' | 'clear', usage: string, summary: string): Command {
  return { name, group: 'hub', usage, summary, run: (call) => runEventVerb(call, name, call.line.args) };
}

async function webhook({ line, runtime }: CommandCall): Promise<CommandResult> {
  const { daemon } = runtime.services;
  switch (line.args.trim()) {
    case '':
    case 'show':
    case 'create':
      return succeed('Webhook URL', await daemon.webhookUrl(runtime.agent.id));
    case 'rotate':
      return {
        ...succeed(
          'Webhook rotated. The old URL no longer works.',
          await daemon.rotateWebhook(runtime.agent.id),
        ),
        done: true,
      };
    default:
      return fail('INVALID_PAYLOAD', 'Usage: /webhook show|create|rotate');
  }
}
