// `stringd` once its flags are known: opens the daemon, says where it is, and serves until it is told to end.

import { join } from 'node:path';
import { errnoOf, LocalError, toError } from '../base/errors.js';
import { LOG_LEVELS, type Log, type LogLevel, openLog } from '../base/log.js';
import { makeFolders } from '../host/make-folders.js';
import { parsePort, readConfig, type StringdConfig } from '../string/config.js';
import { DataInUseError } from '../string/daemon/data-lock.js';
import { StringDaemon } from '../string/daemon/daemon.js';
import { ListenError } from '../wire/http/address.js';
import { EXIT } from './exit-codes.js';
import { type Flags, UsageError } from './flags.js';
import { whoIsThere } from './stringd-neighbour.js';

export async function serve(flags: Flags): Promise<number> {
  const config = readSettings(flags);
  const log = openLogOf(flags, config);
  let end: (code: number) => void = () => {};
  const ending = new Promise<number>((resolve) => (end = resolve));
  const daemon = await openDaemon(flags, config, log, () => end(EXIT.ok));
  process.once('SIGTERM', () => end(EXIT.ok));
  process.once('SIGHUP', () => end(EXIT.ok));
  process.once('SIGINT', () => end(EXIT.interrupted));
  if (flags.has('end-with-stdin')) followInput(() => end(EXIT.ok));
  announce(flags, daemon);
  const code = await ending;
  await daemon.close();
  await log.flush();
  return code;
}

/** Files and /dev/null end without a close, a terminal whose other side is gone fails. */
function followInput(onEnd: () => void): void {
  for (const event of ['end', 'close', 'error']) process.stdin.once(event, onEnd);
  process.stdin.resume();
}

async function openDaemon(
  flags: Flags,
  config: StringdConfig,
  log: Log,
  onStop: () => void,
): Promise<StringDaemon> {
  try {
    return await StringDaemon.open({ config, log, onStop, cors: readCors(flags) });
  } catch (thrown) {
    const isTaken = thrown instanceof ListenError && errnoOf(thrown.cause) === 'EADDRINUSE';
    const neighbour =
      isTaken || thrown instanceof DataInUseError ? await whoIsThere(config.port, isTaken) : undefined;
    throw neighbour === undefined ? thrown : new LocalError('already_running', neighbour);
  }
}

/** For people on stderr; for programs that start us, on request, on stdout. */
function announce(flags: Flags, { url, port }: StringDaemon): void {
  if (flags.has('json')) process.stdout.write(`${JSON.stringify({ url, port, pid: process.pid })}\n`);
  process.stderr.write(`stringd: listening on ${url}\n`);
}

function readSettings(flags: Flags): StringdConfig {
  const port = flags.value('port');
  // The flag counts for more: a variable that it overrides need not be right.
  const env = port === undefined ? process.env : { ...process.env, STRING_PORT: undefined };
  const dataDir = flags.value('data-dir');
  const config = readConfig(dataDir === undefined ? env : { ...env, STRING_DATA_DIR: dataDir });
  return port === undefined ? config : { ...config, port: parsePort('--port', port, 0) };
}

function readCors(flags: Flags): 'guarded' | 'permissive' {
  const cors = flags.value('cors') ?? 'guarded';
  if (cors === 'guarded' || cors === 'permissive') return cors;
  throw new UsageError(`--cors ${cors}: expected guarded or permissive`);
}

function openLogOf(flags: Flags, config: StringdConfig): Log {
  const level = (flags.value('log-level') ?? (config.logToFile ? 'info' : 'warn')) as LogLevel;
  if (!LOG_LEVELS.includes(level)) throw new UsageError(`--log-level: one of ${LOG_LEVELS.join(', ')}`);
  if (!config.logToFile) return openLog({ name: 'stringd', level, format: 'text' });
  const folder = join(config.dataDir, 'logs');
  try {
    makeFolders(folder);
  } catch (thrown) {
    throw new UsageError(`the log cannot be kept in ${folder}: ${toError(thrown).message}`);
  }
  return openLog({ name: 'stringd', level, format: 'json', file: join(folder, 'stringd.log') });
}
