// The command line of string: what was asked for, done, and its end as an exit code.

import { VERSION } from '../../base/version.js';
import { EarlyOutput } from '../early-output.js';
import { EXIT } from '../exit-codes.js';
import { leave } from '../leave.js';
import { StringContext } from './context.js';
import { readInvocation } from './usage.js';

export async function runString(args: readonly string[]): Promise<void> {
  await leave('string', async () => {
    try {
      return await main(args);
    } catch (thrown) {
      await tellAsJson(args, thrown);
      throw thrown;
    }
  });
}

/** Whoever asked for JSON gets some, whatever happened. */
async function tellAsJson(args: readonly string[], thrown: unknown): Promise<void> {
  if (!args.includes('--json')) return;
  const { describeFailure, topicOf, wantsJson } = await import('./json-failure.js');
  const line = wantsJson(args) ? describeFailure(thrown, topicOf(args)) : undefined;
  if (line !== undefined) await new EarlyOutput().write('stdout', Buffer.from(line));
}

async function main(args: readonly string[]): Promise<number> {
  const { flags, words } = readInvocation(args);
  // Whoever asks for these may have to learn from them how the rest is set.
  if (flags.has('version')) return await print(`string ${VERSION}`);
  if (flags.has('help')) return await print((await import('./help.js')).helpAbout(['help', ...words]));
  using context = new StringContext(flags);
  if (flags.has('mcp')) return await (await import('./mcp.js')).runMcp(context);
  if (flags.has('chanflow')) return await (await import('./chanflow.js')).filterChanFlow(context, words);
  if (flags.has('daemon'))
    return await (await import('./daemon.js')).daemonCommand(context, ['daemon', ...words]);
  if (words.length === 0) return await (await import('./help.js')).helpCommand(context, ['help']);
  const command = RESERVED.test(words[0] ?? '')
    ? (await import('./commands.js')).findCommand(words)
    : undefined;
  if (command !== undefined) return await (await command())(context, words);
  return await (await import('./run.js')).run(context, words);
}

async function print(text: string): Promise<number> {
  await new EarlyOutput().write('stdout', Buffer.from(`${text}\n`));
  return EXIT.ok;
}

const RESERVED = /^[a-z]+$/;
