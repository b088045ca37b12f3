// The audit log of a target, through the target: no client may touch the file, but a command can read what its user can.

import type { RexClient } from '../../client/rex/rex-client.js';
import { DEFAULT_COMMAND, type Target } from '../../client/rex/target.js';
import { LocalError } from '../../base/errors.js';
import { type ReadOptions, rotatedFiles } from './audit-local.js';

/** As many as rexd keeps unless it is told otherwise; those that are not there are passed by. */
const KEPT = 5;
/** Of one file at a time: a target ends what prints more than it allows. */
const STRETCH_BYTES = 4 * 1024 * 1024;
/** $1 file, $2 the first byte, counted from 1, $3 how many. */
const PRINT = `
[ -e "$1" ] || exit 0
[ -f "$1" ] && [ -r "$1" ] || { echo "$1 cannot be read there" >&2; exit 1; }
tail -c "+$2" -- "$1" | head -c "$3"`;

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
  const current = files.at(-1) ?? '';
  for (const file of follow ? files.slice(0, -1) : files) yield* readFile(client, file, signal);
  if (!follow) return;
  yield* print(client, ['tail', '-n', '+1', '-F', '--', current], signal);
  throw new LocalError('no_more', 'the target does not let the log be followed any longer');
}

async function* readFile(client: RexClient, file: string, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const length = Math.min(STRETCH_BYTES, client.session.limits.max_output_bytes);
  for (let at = 0, read = length; read === length; at += read) {
    read = 0;
    const argv = ['sh', '-c', PRINT, 'sh', file, String(at + 1), String(length)];
    for await (const bytes of print(client, argv, signal)) {
      read += bytes.length;
      yield bytes;
    }
  }
}

/** What it prints. Rejects when it fails: half a log is not taken for a whole one. */
async function* print(
  client: RexClient,
  argv: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const { hard_timeout_ms: timeout_ms, max_output_bytes } = client.session.limits;
  const running = await client.start(
    { argv: [...argv], timeout_ms, max_output_bytes, stdin: '' },
    { signal },
  );
  let said = '';
  for await (const { stream, bytes } of running)
    if (stream === 'stdout') yield bytes;
    else said = `${said}${bytes.toString('utf8')}`.slice(-MAX_SAID_CHARS);
  const { exitCode, timedOut, outputLimitExceeded } = await running.exit;
  signal.throwIfAborted();
  if (exitCode === 0 && !timedOut && !outputLimitExceeded) return;
  throw new LocalError('cut_short', `the log could not be read to its end: ${said.trim() || exitCode}`);
}

const MAX_SAID_CHARS = 400;
