// The first words of the REXD protocol, for every suite that talks to a rexd, ours or another's.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ContenderError } from '../harness/child.js';
import { UnavailableError } from '../harness/errors.js';
import type { LineClient } from '../harness/line-client.js';

const OPEN_ID = 1;

/** How the built rexd is started. */
export function builtRexd(root: string): string[] {
  const path = join(root, 'dist', 'bin', 'rexd.js');
  if (!existsSync(path))
    throw new UnavailableError('dist/bin/rexd.js is not built; run `npm run build` first');
  return [process.execPath, path, '--stdio'];
}

/** Opens a session and returns its id. */
export async function openSession(label: string, client: LineClient): Promise<string> {
  const reply = await client.ask(OPEN_ID, 'session.open', { client_name: 'hawser-bench' });
  const result = reply.result as { session_id?: unknown } | undefined;
  if (typeof result?.session_id === 'string') return result.session_id;
  throw new ContenderError('contender_failed', `${label} refused session.open: ${JSON.stringify(reply)}`);
}
