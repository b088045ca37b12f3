// The configs there are: configs/<name>.yml or .yaml, one for each server.

import { lstat, readdir, unlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import { HugindError } from '../errors.js';
import type { Home } from '../home.js';
import { isName } from '../names.js';
import { readYamlText } from './read-yaml.js';

/** Configs that are looked at; nobody has a server for each of more. */
export const MAX_CONFIGS = 10_000;

const ENDINGS = ['.yml', '.yaml'] as const;
/** Older versions keep their own settings under it. */
const RESERVED = 'config';

export interface NamedPath {
  readonly name: string;
  readonly path: string;
}

/** Sorted. Of two that differ in their ending alone, `.yml` counts. */
export async function listConfigs({ configs }: Home): Promise<NamedPath[]> {
  const found = new Map<string, string>();
  for (const file of (await namesIn(configs)).sort().slice(0, MAX_CONFIGS)) {
    const ending = ENDINGS.find((each) => file.endsWith(each));
    const name = file.slice(0, -(ending ?? '').length);
    if (ending === undefined || !isName(name) || name === RESERVED) continue;
    found.set(name, join(configs, file));
  }
  return [...found].map(([name, path]) => ({ name, path })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Undefined when there is none of that name. */
export async function findConfig({ configs }: Home, name: string): Promise<string | undefined> {
  assertConfigName(name);
  for (const ending of ENDINGS) {
    const path = join(configs, `${name}${ending}`);
    if ((await lstat(path).catch(() => undefined)) !== undefined) return path;
  }
  return undefined;
}

export function newConfigPath({ configs }: Home, name: string): string {
  assertConfigName(name);
  return join(configs, `${name}.yml`);
}

export async function removeConfig(home: Home, name: string): Promise<string | undefined> {
  const path = await findConfig(home, name);
  if (path !== undefined) await unlink(path);
  return path;
}

/** A path, or the name of a config. Rejects when there is neither. */
export async function readConfigText(home: Home, given: string): Promise<{ path: string; text: string }> {
  const path = expandHome(given);
  const isPlainName = isName(given) && given !== RESERVED;
  const text = await readYamlText(path).catch((thrown: unknown) => {
    if (isPlainName && thrown instanceof HugindError && thrown.code === 'not_found') return undefined;
    throw thrown;
  });
  if (text !== undefined) return { path, text };
  const named = isPlainName ? await findConfig(home, given) : undefined;
  const found = named === undefined ? undefined : await readYamlText(named);
  if (named === undefined || found === undefined)
    throw new HugindError('not_found', `Config file not found: ${given.slice(0, 256)}`);
  return { path: named, text: found };
}

export function expandHome(path: string): string {
  return resolve(path.replace(/^~(?=\/|$)/, () => homedir()));
}

function assertConfigName(name: string): void {
  if (!isName(name) || name === RESERVED)
    throw new HugindError(
      'invalid_params',
      name === RESERVED ? 'name: "config" is reserved' : 'name: that is no name of a config',
    );
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
