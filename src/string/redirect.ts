// Where a command is really run: `/open app:x`, `/open bash:x` and `/open <hub>` are of that topic, whoever says it.

import { parseCommandLine } from './command-line.js';
import { isHub, parseTopic, type Topic, type TopicOptions } from './topic.js';

/** The topic whose turn the command has to wait for: the caller's own, or the one that it opens. */
export function targetOf(topic: Topic, cmd: string, options: TopicOptions = {}): Topic {
  if (topic.type === 'bash') return topic; // there it is text for the shell
  const line = parseCommandLine(cmd);
  if (line?.verb !== 'open' || line.suffix !== undefined) return topic;
  const [word = ''] = line.args.split(/[\s#]/u, 1);
  if (!isHub(word) && !/^(?:app|bash):/u.test(word)) return topic;
  return parseTopic(word, options) ?? topic;
}
