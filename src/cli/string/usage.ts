// The flags of `string`, and the text that explains it. Flags stand before the topic: all that follows it is the command's.

import { parseFlags, type Flags, type Usage } from '../flags.js';

export const USAGE: Usage = {
  program: 'string',
  summary: 'topics, shells, documents and events of an agent, through the daemon stringd',
  synopsis: [
    "string [flags] TOPIC 'COMMAND'     one command; words after the topic are the command",
    'string [flags] TOPIC               a prompt in that topic',
    "string [flags] '/COMMAND'          one command in the topic main",
    'string [flags] HUB [VERB …]        app, bash, tool, event, system, agent: what there is, and what to do with it',
    'string [flags] TOPIC -             the command, or after a command that takes one its body, from standard input',
    'string --chanflow                  text in, text out: blocks for the channel string are executed',
    'string --mcp                       an MCP server on standard input and output',
    'string daemon start|stop|status|foreground',
    'string mcp config --client NAME',
    'string lint FILE…                  what is wrong with a document, line by line; --json for programs',
    'string new app|tool NAME           the first files of a package, here',
    'string completions bash|zsh|fish',
  ].join('\n  '),
  flags: {
    agent: {
      value: 'ID',
      summary: 'the agent (default: STRING_AGENT_ID, the project’s, the user’s, "default")',
    },
    port: { value: 'PORT', summary: 'the port of the daemon (default: STRING_PORT, else 3923)' },
    json: { summary: 'print {"ok","topic","content"}, and "code" for a failure, as one line of JSON' },
    raw: { summary: 'print the answer without its envelope, and pass on the exit status of a shell command' },
    timeout: {
      value: 'TIME',
      summary: 'call the command (with --chanflow: a block) off after this long: 90, 90s, 5m, 1h, 500ms',
    },
    'request-id': { value: 'ID', summary: 'the id of the command, to know it again or to call it off' },
    'no-start': { summary: 'do not start a daemon when there is none' },
    chanflow: { summary: 'filter standard input: execute its blocks, leave all else as it is' },
    mcp: { summary: 'serve MCP on standard input and output' },
    'ack-events': {
      summary: 'of --mcp: events that the client was told of count as acknowledged (also: STRING_MCP_ACK=1)',
    },
    daemon: { summary: 'the same as the word daemon' },
    version: { short: 'V', summary: 'print the version' },
    help: { short: 'h', summary: 'print this text' },
  },
  examples: [
    ["string '/help'", 'what can be said in a topic; starts the daemon when there is none'],
    ["string notes '/open ~/plan.md'", 'a document of the agent’s home in a topic of its own'],
    ["string bash:dev 'cd /tmp && ls'", 'a shell that stays: the next command is still in /tmp'],
    ['string bash:dev', 'a prompt in that shell; Ctrl-C calls a command off, Ctrl-D leaves'],
    ['string event', 'the inbox, and the address of the webhook that fills it'],
    ['string notes /set - < values.txt', 'a body from a file'],
    ['string --chanflow < turn.txt', 'all blocks of an agent’s turn'],
  ],
  notes: [
    'A topic is a name (main, notes), app:NAME[:CONFIG], bash:NAME, or a hub. Topics called daemon, mcp, lint, new or\ncompletions are reached as file:daemon and so on.',
    [
      'Environment:',
      '  STRING_PORT       the port of the daemon, 1 to 65535',
      '  STRING_ROOT       where everything is kept (~/.string)',
      '  STRING_DATA_DIR   the state of the daemon (STRING_ROOT/daemon)',
      '  STRING_AGENT_ID   the agent, unless --agent says otherwise',
      '  STRING_CONFIG     the file that names the agent (the nearest .string/config.json, else STRING_ROOT/config.json)',
      '  STRING_HOME       the home that the agent is given',
    ].join('\n'),
    'Exit codes: 0 done, 1 the command or the daemon failed, 2 wrong usage or configuration, 124 out of time,\n130 interrupted; with --raw the exit status of a shell command is passed on.\nOf --chanflow: 0 also when a block failed, since its answer says so; 1 when the daemon gave no answer; 124 when a block\nran out of time (it is called off, and those after it are not begun); 130 interrupted (the same).',
  ],
};

export interface Invocation {
  readonly flags: Flags;
  /** What follows the flags. */
  readonly words: readonly string[];
}

/** Throws UsageError. Everything after `--daemon` is about the daemon. */
export function readInvocation(args: readonly string[]): Invocation {
  const { flags, words } = splitArguments(args);
  return { flags: parseFlags(USAGE, flags), words };
}

/** Where the flags end, whether they are right or not. */
export function splitArguments(args: readonly string[]): {
  flags: readonly string[];
  words: readonly string[];
} {
  const end = endOfFlags(args);
  return { flags: args.slice(0, end), words: args.slice(args[end] === '--' ? end + 1 : end) };
}

function endOfFlags(args: readonly string[]): number {
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '-' || arg === '--' || !arg.startsWith('-')) break;
    if (arg === '--daemon') return at + 1;
    const flag = /^--([^=]+)$/.exec(arg)?.[1] ?? '';
    const takesNext = Object.hasOwn(USAGE.flags, flag) && USAGE.flags[flag]?.value !== undefined;
    if (takesNext && args[at + 1]?.startsWith('-') === false) at += 1;
  }
  return at;
}
