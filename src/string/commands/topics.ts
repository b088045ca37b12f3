// /topics, /sessions, /session: which topics are open, and closing one of them.

import { describeTopic } from '../hubs/describe-topic.js';
import { type CommandResult, confirm, fail, show } from '../result.js';
import type { Session } from '../session/session.js';
import { isTopicType, parseTopic, TOPIC_TYPES, type TopicType } from '../topic.js';
import type { Command, CommandCall } from '../command.js';

export const topicsCommand: Command = {
  name: 'topics',
  aliases: ['sessions'],
  group: 'topics',
  usage: '/topics [tab|app|bash|hub]',
  summary: 'the open topics',
  run: (call) => listTopics(call, call.line.args.trim()),
};

export const sessionCommand: Command = {
  name: 'session',
  group: 'topics',
  usage: '/session [list|close [TOPIC]]',
  summary: 'list topics, or close one',
  run: (call) => {
    const [verb = '', name, ...more] = call.line.args.split(/\s+/u).filter((word) => word !== '');
    if (verb === '' || (verb === 'list' && more.length === 0)) return listTopics(call, name ?? '');
    if (verb === 'close' && more.length === 0) return close(call, name ?? call.session.topic.name);
    return fail('INVALID_PAYLOAD', `Unknown: /session ${verb}`, 'Usage: /session [list|close [TOPIC]]');
  },
};

export function listTopics({ runtime, session }: CommandCall, filter: string): CommandResult {
  if (filter !== '' && !isTopicType(filter))
    return fail('INVALID_PAYLOAD', `Unknown topic type: ${filter}`, `Valid types: ${TOPIC_TYPES.join(', ')}`);
  const kind = filter === '' ? '' : `${filter} `;
  const found = [...runtime.sessions.values()].filter(({ topic }) => filter === '' || topic.type === filter);
  if (found.length === 0) return show(`No ${kind}topics open.`);
  const width = (pick: (each: Session) => string): number =>
    Math.max(...found.map((each) => pick(each).length));
  const [nameChars, typeChars] = [width(({ topic }) => topic.name), width(({ topic }) => topic.type)];
  const rows = found.map((each) => {
    const { name, type } = each.topic;
    const mark = name === session.topic.name ? '*' : ' ';
    return `${mark} ${name.padEnd(nameChars)}  ${type.padEnd(typeChars)}  ${describeTopic(runtime, each)}`;
  });
  const header = filter === '' ? 'Active topics:' : `${filter} topics:`;
  return show(`${header}\n\n${rows.join('\n')}\n\n${count(found.length, filter)} open.`);
}

async function close({ runtime }: CommandCall, name: string): Promise<CommandResult> {
  const topic = parseTopic(name);
  if (topic === undefined || runtime.sessions.get(topic.name) === undefined)
    return fail('NOT_FOUND', `No such topic: ${name}`);
  if (runtime.sessions.size === 1) return fail('INVALID_TARGET', 'Cannot close last session.');
  await runtime.closeTopic(topic);
  return confirm(`Closed session: ${topic.name}`);
}

function count(topics: number, filter: TopicType | ''): string {
  return `${topics} ${filter === '' ? '' : `${filter} `}${topics === 1 ? 'topic' : 'topics'}`;
}
