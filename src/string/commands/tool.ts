// /tool:NAME: an action of a tool, run in the topic of whoever asks for it.

import { actionsOf } from '../actions/action-page.js';
import { describeActions } from '../actions/describe-action.js';
import { runAction } from '../actions/run-action.js';
import { openScene, type Scene, topicScope } from '../actions/scene.js';
import { findTool } from '../packages/find-tool.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import { parseTopic } from '../topic.js';
import { textOf } from './act.js';
import type { Command, CommandCall } from '../command.js';

export const toolCommand: Command = {
  name: 'tool',
  group: 'act',
  usage: '/tool:NAME[.ACTION] [ARGS]',
  summary: 'run a tool, or one of its actions; --help, --dry-run',
  run: runTool,
};

async function runTool(call: CommandCall): Promise<CommandResult> {
  const text = textOf(call);
  const [, first = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/u.exec(text) ?? [];
  const named = call.line.suffix ?? first;
  const [, name = '', id] = /^([A-Za-z0-9_-]+)(?:\.([A-Za-z0-9_-]+))?$/u.exec(named) ?? [];
  if (name === '') return fail('INVALID_PAYLOAD', 'Usage: /tool:NAME[.ACTION] [ARGS]');
  const args = call.line.suffix === undefined ? rest : text;
  const loaded = await findTool(call, name);
  if (!loaded.ok) return loaded;
  const actions = actionsOf(loaded.page);
  const wanted = id ?? loaded.page.frontmatter.default;
  const names = `Available: ${actions.all.length === 0 ? '(none)' : actions.all.map((each) => each.id).join(', ')}`;
  if (wanted === undefined) {
    if (/^(?:--help|-h)$/u.test(args.trim())) return describeActions(actions.all, `/tool:${name}.`);
    return fail('INVALID_PAYLOAD', `No default action for tool:${name}. ${names}`);
  }
  const action = actions.find(wanted);
  if (action === undefined) return fail('NOT_FOUND', `Action not found: "${wanted}"`, names);
  const own = parseTopic(`app:${name}`);
  const scene = await openScene(call, loaded, [...(own?.type === 'app' ? [own] : []), ...topicScope(call)]);
  const unset = /^(?:--help|-h)$/u.test(args.trim()) ? undefined : findUnset(scene, name);
  return unset ?? (await runAction(scene, action, args));
}

function findUnset({ loaded, env }: Scene, tool: string): Failure | undefined {
  const missing = loaded.page.frontmatter.env.find(({ name }) => !env.has(name));
  if (missing === undefined) return undefined;
  const about = missing.description === undefined ? '' : ` — "${missing.description}"`;
  return fail(
    'INVALID_PAYLOAD',
    `ERROR(ENV_REQUIRED): tool requires $${missing.name}${about}`,
    `Set it in app:${tool}: /set $${missing.name} = "..."`,
  );
}
