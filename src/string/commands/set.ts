// /set: what the topic, or its app, remembers by name.

import { LocalError } from '../../base/errors.js';
import { readEnv, scopeOf, writeEnv } from '../packages/env-store.js';
import { type CommandResult, confirm, fail, succeed } from '../result.js';
import { type Assignment, parseAssignments } from './assignments.js';
import type { Command, CommandCall } from '../command.js';

/** Shown of a secret, so that one can tell which it is. */
const SHOWN_CHARS = 3;
/** A shorter one would be given away by its beginning. */
const SHORT_SECRET_CHARS = 8;

export const setCommand: Command = {
  name: 'set',
  group: 'state',
  usage: '/set [{name} = "value"]',
  summary: 'list variables, or set {name} for this topic or $NAME for its app',
  run: async (call) => {
    const { args, body } = call.line;
    if (body === undefined && ['', '--reveal'].includes(args.trim())) return await list(call);
    try {
      return await assign(call, parseAssignments(args, body));
    } catch (thrown) {
      if (thrown instanceof LocalError) return fail('INVALID_PAYLOAD', thrown.message);
      throw thrown;
    }
  },
};

async function assign({ session, runtime }: CommandCall, all: readonly Assignment[]): Promise<CommandResult> {
  const { topic } = session;
  const forApp = all.filter(({ scope }) => scope === 'app');
  const [first] = forApp;
  if (first !== undefined && topic.type !== 'app')
    return fail('INVALID_TARGET', `$${first.name} is app-scoped: set it in an app topic, such as app:NAME.`);
  session.setVariables(all.filter(({ scope }) => scope === 'topic').map(({ name, value }) => [name, value]));
  if (forApp.length > 0 && topic.type === 'app')
    await writeEnv(
      runtime.agent.home,
      topic,
      Object.fromEntries(forApp.map(({ name, value }) => [name, value])),
    );
  if (all.length === 0) return fail('INVALID_PAYLOAD', 'Invalid assignment: nothing to set');
  const suffix = topic.type === 'app' ? ` (${scopeOf(topic)})` : '';
  return confirm(
    all
      .map(({ scope, name, value }) =>
        scope === 'app' ? `$${name} = ${shown(value)}${suffix}` : `{${name}} = ${shown(value)}`,
      )
      .join('\n'),
  );
}

async function list({ session, runtime, line }: CommandCall): Promise<CommandResult> {
  const reveal = line.args.trim() === '--reveal';
  const { topic } = session;
  const env = topic.type === 'app' ? await readEnv(runtime.agent.home, topic) : {};
  const rows = [
    ...[...session.variables].map(([name, value]) => `{${name}} = ${shown(value)}`),
    ...Object.entries(env).map(([name, value]) => `$${name} = ${reveal ? shown(value) : mask(value)}`),
  ];
  return rows.length === 0 ? succeed('No variables set.') : succeed('Variables', rows.join('\n'));
}

function shown(value: string): string {
  const lines = value.split('\n').length;
  return lines > 1 ? `(${lines} lines)` : `"${value}"`;
}

function mask(value: string): string {
  const head = value.length < SHORT_SECRET_CHARS ? '' : value.slice(0, SHOWN_CHARS);
  return `"${head}…(${value.length} chars)"`;
}
