// What only a client knows about its agent: which one is current, and the file of the project that says so.

import { join, resolve } from 'node:path';
import type { ExecResult, StringClient } from '../../client/string/string-client.js';
import { isAgentId } from '../../string/agents/agent-id.js';
import { parseArguments } from '../../string/arguments.js';
import type { StringContext } from './context.js';
import { joinWords } from './quote-words.js';

/** Undefined when it is for the daemon to answer. */
export async function answerHere(
  context: StringContext,
  client: StringClient,
  cmd: string,
): Promise<ExecResult | undefined> {
  const [, verb = '', args = ''] = /^\/(\w+)\s*(.*)$/su.exec(cmd) ?? [];
  await client.ready();
  if (verb === 'current') {
    const { home } = await client.ensureAgent();
    return succeed(`${context.agent.id}\t${home}\tconfig: ${context.agent.file}`);
  }
  const { operands, options, help } = parseArguments(args, { flags: ['local'] });
  const [id] = operands;
  if (id === undefined || help || !options.has('local')) return undefined;
  if (!isAgentId(id)) return { ...succeed(`Invalid agent: ${id}`), ok: false, code: 'INVALID_PAYLOAD' };
  const file = join(projectFolder(), '.string', 'config.json');
  const { writeCurrentAgent } = await import('../../string/agents/current-agent.js');
  await writeCurrentAgent(file, id);
  const known = (await client.listAgents()).some((agent) => agent.id === id);
  const note = known
    ? []
    : [`Note: agent '${id}' is not registered yet. Add it with: string agent add ${id}`];
  return succeed([`Current agent set to '${id}' (local: ${file}).`, ...note].join('\n'));
}

/** Paths are relative to where the user is, which the daemon does not know. */
export function withWholePaths(cmd: string): string {
  const [, verb = '', args = ''] = /^\/(\S+)\s*(.*)$/su.exec(cmd) ?? [];
  const { operands, options, help } = parseArguments(args);
  if (help) return cmd;
  const whole = (path: string): string => (/^~(?:\/|$)/u.test(path) || path === '' ? path : resolve(path));
  if (verb === 'set-home') {
    const [id = '', path, ...rest] = operands;
    return path === undefined ? cmd : joinWords(['/set-home', id, whole(path), ...rest]);
  }
  const [home, allow] = [options.get('home'), options.get('allow')];
  if (verb !== 'add' || (typeof home !== 'string' && typeof allow !== 'string')) return cmd;
  return joinWords([
    '/add',
    ...operands,
    ...(typeof home === 'string' ? ['--home', whole(home)] : []),
    ...(typeof allow === 'string' ? ['--allow', allow.split(',').map(whole).join(',')] : []),
  ]);
}

function projectFolder(): string {
  const { STRING_PROJECT_DIR: own, CLAUDE_PROJECT_DIR: claudes } = process.env;
  const said = [own, claudes].find((folder) => folder !== undefined && folder.trim() !== '');
  return resolve(said ?? '.');
}

function succeed(content: string): ExecResult {
  return { ok: true, code: null, content, meta: null, topic: 'agent', topicType: 'hub', requestId: null };
}
