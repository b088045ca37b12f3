// Where and when a command is really run: whose turn it has to wait for, if any.

import { parseCommandLine } from './command-line.js';
import { readOpenArguments } from './open-arguments.js';
import { OUT_OF_TURN } from './bash/meta-commands.js';
import { isHub, parseTopic, type Topic, type TopicOptions } from './topic.js';

/**
 * The topic whose turn the command has to wait for: the caller's own, or the one that it opens (`/open app:x`,
 * `/open bash:x`, `/open <hub>`, `/open --tab x …`), whoever says it.
 */
export function targetOf(topic: Topic, cmd: string, options: TopicOptions = {}): Topic {
  if (topic.type === 'bash') return topic; // there it is text for the shell
  if (!OPENS.test(cmd)) return topic;
  const line = parseCommandLine(cmd);
  if (line?.verb !== 'open' || line.suffix !== undefined) return topic;
  const { target, tab } = readOpenArguments(line.args);
  const [word = ''] = target.split(/[\s#]/u, 1);
  if (isHub(word) || /^(?:app|bash):/u.test(word)) return parseTopic(word, options) ?? topic;
  const fork = tab === undefined || tab === '' ? undefined : parseTopic(tab, options);
  return fork?.type === 'tab' ? fork : topic;
}

/** Most commands open nothing, and need not be taken apart to see that. */
const OPENS = /^\s*\/\/?open(?:\s|$)/iu;

/** `/open bash:x` for that very shell, by whatever way it came there. No program is called `/open`, so nothing is lost. */
export function opensShell(topic: Topic, cmd: string): boolean {
  const line = parseCommandLine(cmd);
  return line?.word.toLowerCase() === 'open' && line.body === undefined && line.args.trim() === topic.name;
}

/** What is said about a command that runs in a shell cannot wait for its end: `//interrupt`, `//send`, `//tail`, … */
export function skipsTheQueue(topic: Topic, cmd: string): boolean {
  if (topic.type !== 'bash' || !cmd.trimStart().startsWith('//')) return false;
  return OUT_OF_TURN.has(parseCommandLine(cmd)?.verb ?? '');
}
