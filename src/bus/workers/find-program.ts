// Whether a pool's program is there to be started, without starting it.

import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { placesOf } from '../../host/process/search-path.js';
import type { PoolConfig } from '../config/schema.js';
import { workerEnvironment } from './worker-environment.js';

/** What is in the way, as a sentence; undefined when nothing is. */
export function findProgramProblem(pool: PoolConfig, env: NodeJS.ProcessEnv): string | undefined {
  const cwd = pool.cwd ?? '.';
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `pool ${pool.id}: working directory not found: ${cwd}`;
  const places = placesOf(pool.command, workerEnvironment(pool, env)['PATH']);
  if (places.some((place) => isExecutable(resolve(cwd, place)))) return undefined;
  return `pool ${pool.id}: program not found: ${pool.command}`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
