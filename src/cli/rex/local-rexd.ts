// The rexd of this machine, for the target `local`.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { standardPlaces } from '../../rexd/config.js';

/**
 * A configuration is honoured as it is. Without one everything is allowed: whoever types `rex exec local` can do as much
 * without us, and a command is not held by roots anyway. Who wants agents held in a folder writes a configuration.
 */
export function localRexdCommand(env: NodeJS.ProcessEnv): string[] {
  const beside = join(import.meta.dirname, 'rexd.js');
  const program = isThere(beside) ? [process.execPath, beside] : ['rexd'];
  const configured = standardPlaces(env).some(isThere);
  return [...program, '--stdio', ...(configured ? [] : ['--root', '/'])];
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
