// Which agent a call is for: what was said, what the environment says, what the project says, what the user chose.

import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errnoOf, LocalError } from '../../base/errors.js';
import { isAgentId, MAX_AGENT_ID_CHARS } from '../../string/agents/agent-id.js';
import { ConfigError, type Environment, homeOfUser } from '../../string/config.js';
import { DEFAULT_AGENT } from '../../wire/stringd-defaults.js';
import { UsageError } from '../flags.js';

/** Folders that are looked at from the current one up. */
export const MAX_PARENTS = 64;
const FILE = join('.string', 'config.json');

export interface AgentChoice {
  readonly id: string;
  /** The file that says so, or would. */
  readonly file: string;
}

export interface AgentPlaces {
  /** Where everything of String is: `~/.string`. */
  readonly root: string;
  readonly cwd: string;
  /** What `--agent` says. */
  readonly flag?: string | undefined;
}

const WANTED = `1 to ${MAX_AGENT_ID_CHARS} letters, digits, "_", "." or "-"`;

/**
 * Throws a LocalError for a file that is there and cannot be read: another agent's topics would be used in silence. The same
 * for a name that no agent can have, by whoever gave it.
 */
export function chooseAgent(env: Environment, { root, cwd, flag }: AgentPlaces): AgentChoice {
  const users = join(root, 'config.json');
  const named = text(env['STRING_CONFIG']);
  const ofEnvironment = flag === undefined ? text(env['STRING_AGENT_ID']) : undefined;
  if (flag !== undefined && !isAgentId(flag))
    throw new UsageError(`--agent ${JSON.stringify(flag)}: expected ${WANTED}`);
  if (ofEnvironment !== undefined && !isAgentId(ofEnvironment))
    throw new ConfigError('STRING_AGENT_ID', ofEnvironment, WANTED);
  const asked = flag ?? ofEnvironment;
  const nearest =
    named === undefined
      ? findUpwards(cwd, usersFile(env))
      : { file: resolve(named), id: readAgent(resolve(named), asked === undefined) };
  const said = asked ?? nearest?.id;
  const file = nearest?.file ?? users;
  if (said !== undefined) return { id: said, file };
  return { id: (named === undefined ? readAgent(users) : undefined) ?? DEFAULT_AGENT, file };
}

/** Undefined where nobody has a home. */
function usersFile(env: Environment): string | undefined {
  const home = env['HOME'] ?? homeOfUser();
  return home === undefined ? undefined : join(home, FILE);
}

/** The nearest file of a project that names an agent. The one in the home is the user's, and may lie elsewhere now. */
function findUpwards(
  cwd: string,
  users: string | undefined,
): { readonly file: string; readonly id: string } | undefined {
  let folder = cwd;
  for (let step = 0; step < MAX_PARENTS; step++) {
    const file = join(folder, FILE);
    const id = file === users ? undefined : readAgent(file);
    if (id !== undefined) return { file, id };
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return undefined;
}

/** Undefined when there is no such file, unless it must be there, or when it names none. */
function readAgent(file: string, isMandatory = false): string | undefined {
  let content: string;
  try {
    content = readRegularFile(file);
  } catch (thrown) {
    if (!isMandatory && isAbsent(file, errnoOf(thrown))) return undefined;
    const named = isMandatory ? ', which STRING_CONFIG names,' : '';
    throw new LocalError('bad_config', `${file}${named} cannot be read: ${(thrown as Error).message}`);
  }
  let id: unknown;
  try {
    const value = JSON.parse(content) as { readonly currentAgent?: unknown } | null;
    id = value?.currentAgent;
  } catch (thrown) {
    throw new LocalError('bad_config', `${file} is not valid JSON: ${(thrown as Error).message}`);
  }
  if (typeof id !== 'string' || id.trim() === '') return undefined;
  if (!isAgentId(id))
    throw new LocalError('bad_config', `${file} names the agent ${JSON.stringify(id)}: expected ${WANTED}`);
  return id;
}

/** Whatever else lies there may keep its reader waiting for ever. */
function readRegularFile(file: string): string {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw new LocalError('bad_config', 'it is not a regular file');
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** In a folder that is closed to us there is nothing of ours; a file that we see and may not read is another matter. */
function isAbsent(file: string, errno: string | undefined): boolean {
  if (errno !== 'EACCES') return errno === 'ENOENT' || errno === 'ENOTDIR';
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return true;
  }
}

/** A variable that is there and blank is as good as none. */
function text(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}
