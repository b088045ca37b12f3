// The command line of String as a user has it: the built program, beside a daemon of the test's own.

import { bin, type ProgramOptions, run, type RunResult } from '../../helpers/program.js';
import type { Transport } from '../clauses/clause.js';
import { ME, type StringdUnderTest } from './stringd-under-test.js';

interface Call extends ProgramOptions {
  readonly input?: string;
}

/** As the agent `me`, unless `env` says otherwise. */
export async function string(
  { base, port }: Pick<StringdUnderTest, 'base' | 'port'>,
  args: readonly string[],
  { env, ...options }: Call = {},
): Promise<RunResult> {
  return await run([process.execPath, bin('string'), ...args], {
    cwd: base,
    ...options,
    env: { ...stringEnvironment({ base, port }), ...env },
  });
}

export function stringEnvironment({
  base,
  port,
}: Pick<StringdUnderTest, 'base' | 'port'>): Record<string, string | undefined> {
  return {
    HOME: base,
    STRING_ROOT: `${base}/string`,
    STRING_DATA_DIR: `${base}/string/daemon`,
    STRING_PORT: String(port),
    STRING_AGENT_ID: 'me',
    STRING_CONFIG: undefined,
    STRING_HOME: undefined,
    STRING_PROJECT_DIR: undefined,
    CLAUDE_PROJECT_DIR: undefined,
  };
}

/** A turn in ChanFlow, answered. */
export async function turn(transport: Transport, stringd: StringdUnderTest, text: string): Promise<string> {
  if (transport !== 'cli') {
    const reply = await stringd.ask('/chanflow', { headers: ME, method: 'POST', body: text });
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
    return reply.text;
  }
  const { code, stdout, stderr } = await string(stringd, ['--chanflow'], { input: text });
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  // What reads lines for us ends the last one, too.
  return text.endsWith('\n') ? stdout : stdout.replace(/\n$/u, '');
}
