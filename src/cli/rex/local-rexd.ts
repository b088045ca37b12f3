// The rexd of this machine, for the target `local`.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_TIMER_MS } from '../../base/deadline.js';
import { standardPlaces } from '../../rexd/standard-places.js';

/**
 * A configuration is honoured as it is. Without one everything is allowed: whoever types `rex exec local` can do as much
 * without us, and a command is not held by roots anyway. Who wants agents held in a folder writes a configuration.
 */
export function localRexdCommand(env: NodeJS.ProcessEnv): string[] {
  const beside = besideUs();
  const program = isThere(beside) ? [process.execPath, beside] : ['rexd'];
  const configured = standardPlaces(env).some(isThere);
  return [...program, '--stdio', ...(configured ? [] : ['--root', '/', ...LIMITS])];
}

/** Where the one that was installed with us lies, if it was. */
export function besideUs(): string {
  return join(import.meta.dirname, 'rexd.js');
}

/** The recommended limits are for agents. A person who runs a build at home waits longer and reads more. */
const LIMITS = Object.entries({
  max_output_bytes: Number.MAX_SAFE_INTEGER,
  max_file_read_bytes: 64 * 1024 * 1024,
  hard_timeout_ms: MAX_TIMER_MS,
  default_timeout_ms: 3_600_000,
  max_processes_per_session: 64,
}).flatMap(([name, value]) => ['--limit', `${name}=${value}`]);

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
