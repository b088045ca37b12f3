// A command in a topic: read, sent once, its answer printed.

import { EXIT } from '../exit-codes.js';
import type { StringContext } from './context.js';
import { execute } from './execute.js';
import { readRequest } from './request.js';
import { showResult } from './show-result.js';

export async function run(context: StringContext, words: readonly string[]): Promise<number> {
  const request = readRequest(words);
  if (request.kind === 'run') return await runOnce(context, request.topic, request.cmd);
  if (request.kind === 'prompt') return await (await import('./repl.js')).repl(context, request.topic);
  if (request.kind === 'hub-help')
    return await context.print((await import('./help.js')).hubHelp(request.hub));
  const { readBody } = await import('./read-body.js');
  return await runOnce(context, request.topic, await readBody(request.cmd, context.signal));
}

async function runOnce(context: StringContext, topic: string, cmd: string): Promise<number> {
  if (cmd.trim() === '') context.fail('the command is empty', 'Try: string --help', EXIT.usage);
  const client = await context.client();
  return await showResult(context, topic, await execute(context, client, topic, cmd, context.signal));
}
