// /events: the inbox of the agent, from any topic.

import type { Command } from '../command.js';
import { isEventVerb, runEventVerb } from '../hubs/inbox.js';

export const eventsCommand: Command = {
  name: 'events',
  group: 'events',
  usage: '/events[.read|.ack|.clear] [ID] [--all]',
  summary: 'the inbox: list, read, acknowledge, clear',
  run: (call) => {
    const { suffix, args } = call.line;
    const [, first = '', rest = ''] = /^\s*([a-z]*)\s*(.*)$/su.exec(args) ?? [];
    if (suffix !== undefined) return runEventVerb(call, suffix.toLowerCase(), args);
    return isEventVerb(first) ? runEventVerb(call, first, rest) : runEventVerb(call, 'list', args);
  },
};
