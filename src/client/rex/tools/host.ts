// The target that a call of a tool goes to, with what the tools remember about it.

import { posix } from 'node:path';
import type { RexClient } from '../rex-client.js';
import { SeenFiles } from './seen-files.js';
import { Slots } from './slots.js';

export interface RexToolTarget {
  readonly client: RexClient;
  /** For people and models: the alias of the target. */
  readonly name?: string;
  /** Where commands run and relative paths begin; the first root of the session when absent. */
  readonly cwd?: string | undefined;
  /** Commands are run by a login shell. */
  readonly login?: boolean;
  /** Goes with the result of the call: what the model should know about the target. */
  readonly notice?: string;
  /** The call is over. */
  readonly release?: () => void;
}

/** Commands that wait for one of the processes that the target allows a session. */
export const MAX_WAITING_COMMANDS = 256;

export interface ToolHost extends RexToolTarget {
  readonly slots: Slots;
  readonly seen: SeenFiles;
}

type Memory = Pick<ToolHost, 'slots' | 'seen'>;
const memories = new WeakMap<RexClient, Memory>();

export function hostOf(target: RexToolTarget): ToolHost {
  const { client } = target;
  let memory = memories.get(client);
  if (memory === undefined) {
    const { max_processes_per_session: processes } = client.session.limits;
    memory = { slots: new Slots(processes, MAX_WAITING_COMMANDS), seen: new SeenFiles() };
    memories.set(client, memory);
  }
  return { ...target, ...memory };
}

/** The folder that relative paths are relative to. */
export function folderOf({ cwd, client }: RexToolTarget): string {
  return cwd ?? client.session.workspace_roots[0] ?? '/';
}

export function resolvePath(target: RexToolTarget, path: string): string {
  return path.startsWith('~') ? path : posix.resolve(folderOf(target), path);
}

/** As short as it can be said and still be given to another tool. */
export function showPath(target: RexToolTarget, path: string): string {
  const folder = folderOf(target);
  if (path === folder) return '.';
  const inside = path.startsWith(folder === '/' ? folder : `${folder}/`);
  return inside ? path.slice(folder === '/' ? 1 : folder.length + 1) : path;
}
