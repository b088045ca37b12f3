// `string mcp config`: what an agent has to be told to start `string --mcp`. `string mcp` is `string --mcp`.

import { resolve } from 'node:path';
import { parseFlags, helpText, type Usage, UsageError } from '../flags.js';
import { clientConfig, ownCommand } from '../mcp-client-config.js';
import { type StringCommand, suggest } from './command.js';

const USAGE: Usage = {
  program: 'string mcp config',
  summary: 'print the configuration of an agent that starts string --mcp',
  synopsis: 'string [--agent ID] mcp config --client NAME',
  flags: {
    client: { value: 'NAME', summary: 'claude, codex, cursor, vscode, opencode or opencode-2' },
    name: { value: 'NAME', summary: 'what the agent calls the server (default: string)' },
    npx: { summary: 'let npx find string, instead of naming the one that runs now' },
    agent: { value: 'ID', summary: 'the agent of String that it works as' },
    help: { short: 'h', summary: 'print this text' },
  },
  examples: [
    ['string mcp config --client claude > .mcp.json', 'let Claude Code use it'],
    ['string mcp config --client codex >> ~/.codex/config.toml', 'let Codex use it'],
    ['string --agent cursor mcp config --client cursor > .cursor/mcp.json', 'with topics of its own'],
  ],
};

/** Those that say where the daemon is and who asks: an agent that hands on nothing else hands on these. */
const VARIABLES = ['STRING_PORT', 'STRING_ROOT', 'STRING_DATA_DIR', 'STRING_AGENT_ID', 'STRING_HOME'];
const PATHS: ReadonlySet<string> = new Set(['STRING_ROOT', 'STRING_DATA_DIR', 'STRING_HOME']);

/** As they are here, with whole paths: an agent is started from elsewhere. */
function valuesNow(env: NodeJS.ProcessEnv): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of VARIABLES) {
    const value = env[name]?.trim();
    if (value === undefined || value === '') continue;
    values[name] = PATHS.has(name) && !value.startsWith('~') ? resolve(value) : value;
  }
  return values;
}

export const mcpCommand: StringCommand = async (context, words) => {
  const [, verb, ...args] = words;
  if (verb === undefined) return await (await import('./mcp.js')).runMcp(context);
  if (verb !== 'config')
    throw new UsageError(
      `string mcp has no command "${verb}"${suggest(verb, ['config'])}\nTry: string mcp config --client claude`,
    );
  const flags = parseFlags(USAGE, args);
  if (flags.has('help')) return await context.print(helpText(USAGE));
  const client = flags.value('client');
  if (client === undefined) throw new UsageError('--client is missing: claude, codex, cursor or vscode');
  const agent = flags.value('agent') ?? context.flags.value('agent');
  const port = context.flags.value('port');
  const options = [
    ...(agent === undefined ? [] : ['--agent', agent]),
    ...(port === undefined ? [] : ['--port', port]),
    ...(context.flags.has('ack-events') ? ['--ack-events'] : []),
  ];
  const config = clientConfig(client, {
    name: flags.value('name') ?? 'string',
    command: ownCommand('string', ['--mcp', ...options], { npx: flags.has('npx') }),
    variables: VARIABLES,
    values: valuesNow(process.env),
  });
  if (context.json) return await context.print(JSON.stringify({ client, ...config }));
  await context.out(config.content);
  context.say(config.hint);
  return 0;
};
