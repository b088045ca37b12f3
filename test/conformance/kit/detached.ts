// Detached processes: started to wait for a word of the test, and looked for afterwards.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import type { ExecClient } from './exec-client.js';
import { inTime } from './in-time.js';

/** Says who it is and waits for a file to appear, then ends by `then`. */
export const waiting = (then: string): string =>
  `echo pid $$; echo oops >&2; while [ ! -e go ]; do sleep 0.02; done; ${then}`;

export async function startWaiting(
  client: ExecClient,
  then: string,
  more: Record<string, unknown> = {},
): Promise<{ id: string; pid: number }> {
  const id = await client.start({ shell: true, command: waiting(then), detach: true, ...more });
  const pid = Number((await client.output(id, '\n')).replace('pid ', ''));
  return { id, pid };
}

/** As `startWaiting`, with a time that runs out some while after it has said who it is. */
export async function startTimed(
  client: ExecClient,
  then: string,
  firstMs: number,
): Promise<{ id: string; pid: number }> {
  return await inTime(firstMs, async (timeout_ms) => {
    const id = await client.start({ shell: true, command: waiting(then), detach: true, timeout_ms });
    const pid = await client.said(id, (text) => /pid (\d+)\n/.exec(text)?.[1]);
    return pid === undefined ? undefined : { id, pid: Number(pid) };
  });
}

export const letGo = (client: ExecClient): void => writeFileSync(join(client.root, 'go'), '');

export async function listed(client: ExecClient, id: string): Promise<Record<string, unknown> | undefined> {
  const { processes } = (await client.ask('exec.list')) as { processes: Record<string, unknown>[] };
  return processes.find((process) => process['process_id'] === id);
}

export async function readWhole(client: ExecClient, id: string, stream = 'stdout'): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let offset = 0; ; ) {
    const part = await client.ask('exec.read', { process_id: id, stream, offset, encoding: 'base64' });
    const bytes = Buffer.from(String(part['data']), 'base64');
    parts.push(bytes);
    offset += bytes.length;
    if (part['eof'] === true) return Buffer.concat(parts);
  }
}

export const gone = async (pids: readonly number[]): Promise<void> => {
  await until(() => !pids.some(isAlive), `the end of ${pids.join(', ')}`);
};
