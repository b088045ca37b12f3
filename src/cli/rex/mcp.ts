// rex mcp: the tools of the current target for any agent that speaks MCP, over standard streams.

import { UsageError } from '../flags.js';
import { parseDuration } from '../parse-duration.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';

export const mcpCommand: RexCommand = {
  examples: [
    ['rex mcp config --client claude-code > .mcp.json', 'let Claude Code use it'],
    ['rex mcp config --client codex >> ~/.codex/config.toml', 'let Codex use it'],
    ['rex mcp --target server-a', 'what such a configuration starts: MCP on stdin and stdout'],
    ['rex target use server-b', 'every rex mcp without --target goes on there, from its next call'],
  ],
  define: (command, run) => {
    command
      .option(
        '--resume-window <time>',
        'how long commands go on when the network fails, and how long to try to come back (4s)',
        parseDuration,
      )
      .action(run<ServeOptions>(serve));
    command
      .command('config')
      .description('print the configuration of an agent that starts rex mcp')
      .requiredOption('--client <name>', 'claude-code, codex, opencode, opencode-2, cursor or vscode')
      .option('--name <name>', 'what the agent calls the server', 'rex')
      .option('--npx', 'let npx find rex, instead of naming the one that runs now')
      .action(run(printConfig));
  },
};

interface ServeOptions {
  readonly resumeWindow?: number;
}

async function serve(
  context: RexContext,
  words: readonly string[],
  options: ServeOptions,
): Promise<undefined> {
  const [extra] = words;
  if (extra !== undefined) throw new UsageError(`rex mcp takes no argument "${extra}"; it has: config`);
  const { serveMcp } = await import('./mcp/serve.js');
  await serveMcp(context, options.resumeWindow);
}

interface ConfigOptions {
  readonly client: string;
  readonly name: string;
  readonly npx?: boolean;
}

async function printConfig(
  context: RexContext,
  _words: readonly string[],
  options: ConfigOptions,
): Promise<undefined> {
  const { clientConfig, ownCommand } = await import('../mcp-client-config.js');
  const target = context.targetName;
  const args = ['mcp', ...(target === undefined ? [] : ['--target', target])];
  const config = clientConfig(options.client, {
    name: options.name,
    command: ownCommand('rex', args, { npx: options.npx === true }),
    variables: ['SSH_AUTH_SOCK'], // without the agent's socket ssh would ask for a passphrase
  });
  if (context.json) await context.outJson({ client: options.client, ...config });
  else {
    await context.out(config.content);
    context.say(config.hint);
  }
}
