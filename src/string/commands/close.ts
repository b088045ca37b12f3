// /close: the topic ends, and nothing of it is left.

import { confirm } from '../result.js';
import type { Command } from '../command.js';
import { noDocument } from '../view/no-document.js';

export const closeCommand: Command = {
  name: 'close',
  group: 'topics',
  usage: '/close',
  summary: 'end this topic: document, history and variables are gone',
  run: async ({ session, runtime }) => {
    if (session.isEmpty) return noDocument();
    await runtime.closeTopic(session.topic);
    return confirm(`Closed: ${session.document?.uri ?? session.topic.name}`);
  },
};
