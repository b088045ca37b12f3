// The inbox of an agent: its page and its verbs, by whatever name they are called.

import { LocalError } from '../../base/errors.js';
import { type Arguments, parseArguments } from '../arguments.js';
import { type CommandResult, confirm, fail, show, succeed } from '../result.js';
import type { InboxEvent } from '../services.js';
import type { CommandCall } from '../command.js';
import { previewOf } from '../preview.js';

/** Newest events that a list shows. */
export const MAX_LISTED_EVENTS = 50;
/** Of an event's text in a list. */
export const MAX_PREVIEW_CHARS = 80;

const HELP = `Commands:
  /events [list] [--all]   the inbox; --all with acknowledged ones
  /events.read ID          one event, whole
  /events.ack ID           it is dealt with
  /events.clear [--all]    remove acknowledged ones, or all`;

type Verb = (call: CommandCall, args: Arguments) => Promise<CommandResult>;

const EVENT_VERBS: Readonly<Record<'list' | 'read' | 'ack' | 'clear', Verb>> = {
  list: async (call, { options }) => show(await renderInbox(call, options.has('all'))),
  read: (call, { operands }) => readEvent(call, operands[0]),
  ack: (call, { operands }) => ackEvent(call, operands[0]),
  clear: async ({ runtime }, { options }) => {
    const cleared = await runtime.services.events.clear(runtime.agent.id, { all: options.has('all') });
    return confirm(`Cleared ${cleared} ${cleared === 1 ? 'event' : 'events'}`);
  },
};

export async function runEventVerb(call: CommandCall, verb: string, args: string): Promise<CommandResult> {
  if (!isEventVerb(verb))
    return fail('COMMAND_UNSUPPORTED', `Unknown command: /events.${verb}`, ...HELP.split('\n'));
  try {
    const parsed = parseArguments(args, { flags: ['all'] });
    return parsed.help ? show(HELP) : await EVENT_VERBS[verb](call, parsed);
  } catch (thrown) {
    if (thrown instanceof LocalError && thrown.code === 'unterminated_quote')
      return fail('INVALID_PAYLOAD', thrown.message);
    throw thrown;
  }
}

export async function renderInbox({ runtime }: CommandCall, all: boolean): Promise<string> {
  const { services, agent } = runtime;
  const { total, events } = await services.events.list(agent.id, { all, limit: MAX_LISTED_EVENTS });
  const rows = events.map(
    (event) =>
      `  ${event.id}  ${event.status}  ${event.receivedAt}  ${previewOf(event.text, MAX_PREVIEW_CHARS)}`,
  );
  const more = total > events.length ? [`  … and ${total - events.length} older`] : [];
  return [
    '# event inbox',
    '',
    `## ${all ? 'Recent' : 'Unacked'} events (${total})`,
    'Order: newest-first, the most recent event is the first row.',
    '',
    ...(rows.length === 0 ? ['  (no events)'] : rows),
    ...more,
    '',
    HELP,
  ].join('\n');
}

async function readEvent({ runtime }: CommandCall, id: string | undefined): Promise<CommandResult> {
  if (id === undefined) return fail('INVALID_PAYLOAD', 'Usage: /events.read <id>');
  const event = await runtime.services.events.read(runtime.agent.id, id);
  return event === undefined
    ? fail('NOT_FOUND', `Event not found: ${id}`)
    : succeed(`Event ${id}`, describe(event));
}

async function ackEvent({ runtime }: CommandCall, id: string | undefined): Promise<CommandResult> {
  if (id === undefined) return fail('INVALID_PAYLOAD', 'Usage: /events.ack <id>');
  const acked = await runtime.services.events.ack(runtime.agent.id, id);
  return acked ? confirm(`Acked ${id}`) : fail('NOT_FOUND', `Event not found: ${id}`);
}

function describe({ id, receivedAt, source, status, text }: InboxEvent): string {
  return [
    `receivedAt: ${receivedAt}`,
    `source: ${source}`,
    `status: ${status}`,
    '',
    text,
    '',
    `next: string event ack ${id}`,
    `MCP/slash: /events.ack ${id}`,
  ].join('\n');
}

export function isEventVerb(name: string): name is keyof typeof EVENT_VERBS {
  return Object.hasOwn(EVENT_VERBS, name);
}
