// The audit log of a target, through the target: no client may touch the file, but a command can read what its user can.

import type { RexClient } from '../../client/rex/rex-client.js';
import { DEFAULT_COMMAND, type Target } from '../../client/rex/target.js';
import { LocalError } from '../../base/errors.js';
import { type ReadOptions, rotatedFiles } from './audit-local.js';

/** As many as rexd keeps unless it is told otherwise; those that are not there are passed by. */
const KEPT = 5;
const PRINT = 'for file do if [ -f "$file" ]; then cat -- "$file"; fi; done';

/** Oldest first; undefined when none is kept. Its own rexd is asked, with the configuration that the target gives it. */
export async function remoteAuditFiles(client: RexClient, target: Target): Promise<string[] | undefined> {
  const command = (target.transport === 'ssh' ? target.command : 'rexd') ?? DEFAULT_COMMAND;
  const check = `${command.replaceAll(/\s--?stdio\b/g, '')} --check --json`;
  const { stdout, stderr, exitCode } = await client.run({ shell: true, command: check });
  if (exitCode !== 0)
    throw new LocalError(
      'no_audit_path',
      `where its audit log is cannot be told: ${stderr.toString('utf8').trim()}`,
    );
  const { audit } = JSON.parse(stdout.toString('utf8')) as { audit?: string | null };
  return typeof audit === 'string' ? rotatedFiles(audit, KEPT) : undefined;
}

export async function* readRemoteLog(
  client: RexClient,
  files: readonly string[],
  { follow, signal }: ReadOptions,
): AsyncGenerator<Buffer, void> {
  const { hard_timeout_ms: timeout_ms, max_output_bytes } = client.session.limits;
  const limits = { timeout_ms, max_output_bytes, stdin: '' };
  const [current = '', ...older] = files.toReversed();
  const all = follow ? older.toReversed() : files;
  const argv = ['sh', '-c', PRINT, 'sh', ...all];
  for await (const { stream, bytes } of await client.start({ argv, ...limits }, { signal }))
    if (stream === 'stdout') yield bytes;
  if (!follow) return;
  const tail = ['tail', '-n', '+1', '-F', current];
  for await (const { stream, bytes } of await client.start({ argv: tail, ...limits }, { signal }))
    if (stream === 'stdout') yield bytes;
}
