// What an agent has installed: names and addresses in the config.json of its home.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

/** The file holds a line for each package; a larger one is none of ours. */
export const MAX_REGISTRY_BYTES = 1024 * 1024;

const Names = z.optional(z.record(z.string(), z.string()));
const Config = z.object({ apps: Names, tools: Names });

export interface Registry {
  readonly apps: Readonly<Record<string, string>>;
  readonly tools: Readonly<Record<string, string>>;
}

const EMPTY: Registry = { apps: {}, tools: {} };

/** Nothing, when there is no file or it makes no sense: then nothing can be opened, and nothing is claimed to be there. */
export function readRegistry(home: string): Registry {
  let fd: number;
  try {
    fd = openSync(
      join(home, 'config.json'),
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW,
    );
  } catch {
    return EMPTY;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > MAX_REGISTRY_BYTES) return EMPTY;
    const { apps = {}, tools = {} } = Config.parse(JSON.parse(readFileSync(fd, 'utf8')));
    return { apps, tools };
  } catch {
    return EMPTY;
  } finally {
    closeSync(fd);
  }
}
