// The verbs of the agent hub: who is registered, and where each may work.

import { LocalError } from '../../base/errors.js';
import { parseArguments } from '../arguments.js';
import type { Command, CommandCall } from '../command.js';
import { type CommandResult, confirm, fail, show } from '../result.js';
import type { AgentPlace } from '../services.js';

export const AGENT_VERBS: readonly Command[] = [
  verb('list', '/list', 'all agents', async (call) => show(await listAgents(call))),
  verb('current', '/current', 'the agent this is', ({ runtime }) => {
    const { agent, services } = runtime;
    return show(`${agent.id}\t${agent.home}\tconfig: ${services.agents.configFile}`);
  }),
  verb('add', '/add ID [--home PATH] [--allow PATH,PATH]', 'register an agent', add),
  verb('use', '/use ID [--local]', 'make it the agent of clients that name none', use),
  verb('set-home', '/set-home ID PATH', 'give an agent another home', setHome),
  verb('rm', '/rm ID', 'remove an agent, with its topics and shells', remove, ['remove']),
];

export async function listAgents({ runtime }: CommandCall): Promise<string> {
  const agents = await runtime.services.agents.list();
  if (agents.length === 0) return 'No agents registered.';
  return agents.map(({ id, home }) => `${id === runtime.agent.id ? '* ' : '  '}${id}\t${home}`).join('\n');
}

async function add(call: CommandCall): Promise<CommandResult> {
  const { operands, options } = parseArguments(call.line.args);
  const [id] = operands;
  const [home, allow] = [options.get('home'), options.get('allow')];
  if (id === undefined || home === true || allow === true)
    return usage('/add ID [--home PATH] [--allow PATH,PATH]');
  const { agent, created } = await call.runtime.services.agents.register({
    id,
    ...(home !== undefined && { home }),
    ...(allow !== undefined && { allowedPaths: allow.split(',').filter((path) => path !== '') }),
  });
  return confirm(
    [
      `${created ? 'Added' : 'Updated'} ${describe(agent)}`,
      ...allowedOf(agent),
      `next: string agent use ${id}`,
    ].join('\n'),
  );
}

async function use({ line, runtime }: CommandCall): Promise<CommandResult> {
  const { operands, options } = parseArguments(line.args, { flags: ['local'] });
  const [id] = operands;
  if (id === undefined) return usage('/use ID [--local]');
  const { agents } = runtime.services;
  const local = options.has('local');
  const { file } = await agents.use(id, { local });
  const known = (await agents.list()).some((agent) => agent.id === id);
  const note = known ? [] : [`Note: agent '${id}' is not registered yet. Add it with /add ${id}.`];
  return confirm(
    [`Current agent set to '${id}' (${local ? 'local' : 'global'}: ${file}).`, ...note].join('\n'),
  );
}

async function setHome({ line, runtime }: CommandCall): Promise<CommandResult> {
  const [id, home] = parseArguments(line.args).operands;
  if (id === undefined || home === undefined) return usage('/set-home ID PATH');
  const { agents } = runtime.services;
  if (!(await agents.list()).some((agent) => agent.id === id))
    return fail('NOT_FOUND', `Unknown agent: ${id}`);
  const { agent } = await agents.register({ id, home });
  return confirm(`Set home for '${id}' -> ${agent.home}`);
}

async function remove({ line, runtime }: CommandCall): Promise<CommandResult> {
  const [id] = parseArguments(line.args).operands;
  if (id === undefined) return usage('/rm ID');
  const removed = await runtime.services.agents.remove(id);
  return removed ? confirm(`Removed agent '${id}'.`) : show(`Agent '${id}' did not exist.`);
}

function verb(
  name: string,
  usage: string,
  summary: string,
  run: (call: CommandCall) => CommandResult | Promise<CommandResult>,
  aliases: readonly string[] = [],
): Command {
  return { name, aliases, group: 'hub', usage, summary, run: (call) => explained(() => run(call)) };
}

/** A path or an id that is not acceptable is the caller's to mend; anything else is not. */
async function explained(run: () => CommandResult | Promise<CommandResult>): Promise<CommandResult> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof LocalError) return fail('INVALID_PAYLOAD', thrown.message);
    throw thrown;
  }
}

function usage(text: string): CommandResult {
  return fail('INVALID_PAYLOAD', `Usage: ${text}`);
}

function describe({ id, home }: AgentPlace): string {
  return `agent '${id}' (home: ${home})`;
}

function allowedOf({ allowedPaths }: AgentPlace): string[] {
  return allowedPaths.length === 0 ? [] : [`allowedPaths: ${allowedPaths.join(', ')}`];
}
