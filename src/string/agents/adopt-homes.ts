// Homes that are there and have no record: agents whose agents.json was lost, or that were brought from elsewhere.

import { readdirSync, type Dirent } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { isAgentId } from './agent-id.js';

/** Homes looked at in one start. */
export const MAX_ADOPTED_HOMES = 10_000;

/** The ids of folders that could be homes. */
export function findHomes(homesDir: string): string[] {
  return listFolder(homesDir)
    .filter((entry) => entry.isDirectory() && isAgentId(entry.name) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
    .slice(0, MAX_ADOPTED_HOMES);
}

function listFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
