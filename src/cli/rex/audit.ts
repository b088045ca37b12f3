// rex audit: what was asked of a target, as its rexd has written it down, already redacted.

import type { TargetChoice } from '../../client/rex/select-target.js';
import { LineSplitter } from '../../wire/ndjson/line-splitter.js';
import { UsageError } from '../flags.js';
import { type AuditLine, type AuditQuery, matches, parseAuditLine } from './audit-line.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { printable } from '../colours.js';
import { parseDuration } from '../parse-duration.js';

interface AuditOptions {
  readonly method?: string;
  readonly session?: string;
  readonly since?: number;
  readonly failed?: boolean;
  readonly follow?: boolean;
  readonly file?: string;
}

export const auditCommand: RexCommand = {
  examples: [
    ['rex audit', 'all that was asked of this machine, oldest first'],
    ['rex audit server-a --since 1h --failed', 'what was refused or failed there in the last hour'],
    ['rex audit --method "fs.*" --follow', 'what touches files, as it happens'],
    ['rex audit --session s_01m7hdzggdt0cea1azkn6x4bde --json', 'one session, for a program'],
  ],
  define: (command, run) => {
    command
      .argument('[target]', 'where; without one, see "rex target which"')
      .option('-m, --method <name>', 'only this method; "fs.*" for a family')
      .option('-s, --session <id>', 'only this session')
      .option('--since <time>', 'only after this: 10m, 2h, 1d ago, or a date', parseSince)
      .option('--failed', 'only what was refused or failed')
      .option('-f, --follow', 'go on with what is asked from now on')
      .option('--file <path>', 'the log, where the target does not say')
      .action(run(audit));
  },
};

async function audit(
  context: RexContext,
  [target]: readonly string[],
  options: AuditOptions,
): Promise<number> {
  const choice = await context.choose(target);
  const query: AuditQuery = {
    method: options.method,
    sessionId: options.session,
    sinceMs: options.since,
    failed: options.failed === true,
  };
  const source = await openLog(context, choice, options);
  const lines: string[] = [];
  const splitter = new LineSplitter((bytes, start, end) => lines.push(bytes.toString('utf8', start, end)));
  for await (const chunk of source) {
    splitter.push(chunk);
    for (const line of lines.splice(0)) {
      const entry = parseAuditLine(line);
      if (entry === undefined || !matches(entry, query)) continue;
      // What clients have called themselves and asked for is theirs to choose: nothing of it moves a cursor.
      await context.out(context.json ? `${line}\n` : `${printable(sayEntry(entry))}\n`);
    }
  }
  return 0;
}

/** The log and those it was rotated to, oldest first. */
async function openLog(
  context: RexContext,
  choice: TargetChoice,
  options: AuditOptions,
): Promise<AsyncIterable<Buffer>> {
  const follow = options.follow === true;
  const { readLocalLog, localAuditFiles } = await import('./audit-local.js');
  if (choice.target === undefined) {
    const files = options.file === undefined ? await localAuditFiles(process.env) : [options.file];
    if (files === undefined) noLog(context, choice);
    return readLocalLog(files, { follow, signal: context.signal });
  }
  const { remoteAuditFiles, readRemoteLog } = await import('./audit-remote.js');
  const client = await context.connect(choice);
  const files = options.file === undefined ? await remoteAuditFiles(client, choice.target) : [options.file];
  if (files === undefined) noLog(context, choice);
  return readRemoteLog(client, files, { follow, signal: context.signal });
}

function noLog(context: RexContext, { alias }: TargetChoice): never {
  return context.fail(
    `${alias} keeps no audit log`,
    'Turn it on there: [audit] enabled = true in the configuration of rexd; or name a file with --file.',
  );
}

function sayEntry({
  timestamp,
  method,
  session_id,
  client_name,
  error,
  exit_code,
  duration_ms,
  params,
}: AuditLine): string {
  const end =
    error === undefined
      ? `ok${typeof exit_code === 'number' ? ` exit ${exit_code}` : ''}`
      : `FAILED ${error.code} ${error.message}`;
  const time = duration_ms === undefined ? '' : ` ${duration_ms.toFixed(1)}ms`;
  return `${timestamp}  ${session_id ?? '-'}  ${client_name ?? '-'}  ${method}  ${end}${time}  ${JSON.stringify(params ?? {})}`;
}

/** A moment, in milliseconds since 1970. */
function parseSince(text: string): number {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return Date.now() - parseDuration(text);
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new UsageError(`--since: "${text}" is no time: write 10m, 2h, 1d, or 2026-01-31T12:00`);
  return at;
}
