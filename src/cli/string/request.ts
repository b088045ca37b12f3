// What the words of a command line ask for: a command in a topic, a prompt, the help of a hub.

import { isHub, parseTopic } from '../../string/topic.js';
import { UsageError } from '../flags.js';
import { joinEditWords, joinShellWords, joinWords } from './quote-words.js';

export type Request =
  | { readonly kind: 'run'; readonly topic: string; readonly cmd: string }
  /** The command is to be read from standard input; after `cmd`, if there is one, as its body. */
  | { readonly kind: 'run-input'; readonly topic: string; readonly cmd: string | undefined }
  | { readonly kind: 'prompt'; readonly topic: string }
  | { readonly kind: 'hub-help'; readonly hub: string };

const DEFAULT_TOPIC = 'main';
/** Commands that do something with what follows their first line. */
const TAKES_BODY = /^\/\/?(?:write|append|edit|replace|set|act|action|tool)\b/iu;

/** At least one word. Throws UsageError for what is no topic. */
export function readRequest(words: readonly string[]): Request {
  const [first = '', ...rest] = words;
  if (first.startsWith('/') || first === '-') return readCommand(DEFAULT_TOPIC, words);
  if (isHub(first)) return readHub(first, rest);
  if (first === 'webhook')
    throw new UsageError('there is no command webhook; the address is shown by: string event webhook show');
  const topic = parseTopic(first);
  if (topic === undefined || first.trim() === '')
    throw new UsageError(
      `invalid topic: ${first}\nA topic is a name, app:NAME, bash:NAME or a hub; a command begins with /.`,
    );
  if (rest.length === 0) return { kind: 'prompt', topic: first };
  if (topic.type !== 'bash') return readCommand(first, rest);
  if (rest.length === 1 && rest[0] === '-') return { kind: 'run-input', topic: first, cmd: undefined };
  if (rest.at(-1) === '-' && /^\/\/(?:send|set)$/iu.test(rest[0] ?? ''))
    return { kind: 'run-input', topic: first, cmd: joinWords(rest.slice(0, -1)) };
  const isMeta = rest[0]?.startsWith('//') === true;
  return { kind: 'run', topic: first, cmd: isMeta ? joinWords(rest) : joinShellWords(rest) };
}

function readCommand(topic: string, words: readonly string[]): Request {
  if (words.length === 1 && words[0] === '-') return { kind: 'run-input', topic, cmd: undefined };
  if (words.at(-1) === '-' && TAKES_BODY.test(words[0] ?? ''))
    return { kind: 'run-input', topic, cmd: joinWords(words.slice(0, -1)) };
  const [first = '', ...rest] = words;
  // These words are for a shell, to which more means something than to String.
  if (/^\/\/?exec$/iu.test(first))
    return { kind: 'run', topic, cmd: `${first} ${joinShellWords(rest)}`.trimEnd() };
  if (/^\/\/?(?:write|append|edit|replace)$/iu.test(first))
    return { kind: 'run', topic, cmd: joinEditWords(words) };
  // Text and not words: nothing in it is quoted.
  if (/^\/\/?search$/iu.test(first) || (/^\/\/?set$/iu.test(first) && rest.length === 1))
    return { kind: 'run', topic, cmd: words.join(' ') };
  return { kind: 'run', topic, cmd: joinWords(words) };
}

/** The verbs of a hub are commands, whose slash may be left out; without one its page is shown. */
function readHub(hub: string, words: readonly string[]): Request {
  const [verb] = words;
  if (verb === undefined || verb === '') return { kind: 'run', topic: hub, cmd: '/open' };
  if (words.length === 1 && ['--help', '-h', 'help'].includes(verb)) return { kind: 'hub-help', hub };
  const cmd = joinWords(words);
  return { kind: 'run', topic: hub, cmd: cmd.startsWith('/') ? cmd : `/${cmd}` };
}
