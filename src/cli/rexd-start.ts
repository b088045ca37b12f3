// What every way of serving needs before its first client: the settings, the log, the audit log and the server.

import { closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errnoOf } from '../base/errors.js';
import { LOG_LEVELS, type Log, type LogLevel, openLog } from '../base/log.js';
import type { AuditLog } from '../guard/audit.js';
import { InvalidRootError, Roots } from '../guard/roots.js';
import type { Withheld } from '../host/files/withheld.js';
import { makeFolders } from '../host/make-folders.js';
import { isPtyInstalled } from '../host/pty/native.js';
import { loadConfig } from '../rexd/config.js';
import type { ResumeFacts } from '../rexd/context.js';
import { auditExposure, detachProblem, ownFolders, stateDirOf } from '../rexd/own-folders.js';
import { prepareSandbox } from '../rexd/prepare-sandbox.js';
import type { RexdServer, RexdServerOptions } from '../rexd/server.js';
import type { RexdConfig } from '../rexd/settings.js';
import { type Flags, UsageError } from './flags.js';

export interface Settings {
  readonly config: RexdConfig;
  readonly roots: Roots;
  readonly stateDir: string;
  readonly own: Withheld;
}

export async function readSettings(flags: Flags): Promise<Settings> {
  const loaded = await loadConfig(flags.value('config'), process.env);
  const config = flags.has('limit') ? { ...loaded, limits: withLimits(loaded, flags) } : loaded;
  const given = flags
    .values('root')
    .map((root) => (/^[/~]/.test(root) ? root : `${workingFolder()}/${root}`));
  const configured = config.security.allowed_roots.map(({ path }) => path);
  const stateDir = stateDirOf(config, process.env);
  const own = ownFolders(stateDir, config, process.env);
  const options = {
    allowFilesystemRoot: true,
    hardLinks: config.security.hard_links,
    withheld: own,
    ownsWorkingDirectory: true,
  };
  try {
    return { config, roots: Roots.open([...configured, ...given], options), stateDir, own };
  } catch (thrown) {
    const nth = thrown instanceof InvalidRootError ? configured.indexOf(thrown.root) : -1;
    if (nth === -1) throw thrown;
    const { refuseRoot } = await import('../rexd/config-file.js');
    throw refuseRoot(config, nth, (thrown as Error).message, thrown);
  }
}

/** All that a server is made of. */
export interface PreparedServer extends Pick<RexdServerOptions, 'facts' | 'log' | 'audit'> {
  /** Writes what is still to be written. */
  readonly close: () => Promise<void>;
}

/** What every way of serving needs before its first client, but for the server itself. */
export async function prepareServer(
  flags: Flags,
  { config, roots, own, stateDir }: Settings,
  announce?: ResumeFacts['announce'],
): Promise<PreparedServer> {
  const named = flags.value('log-file');
  if (named !== undefined) openOnce('--log-file', named);
  const file = named === undefined ? undefined : resolve(named); // it is opened again, by then perhaps from elsewhere
  const log = openLog({
    name: 'rexd',
    level: logLevel(flags) ?? config.server.log_level,
    ...(file !== undefined && { file }),
  });
  const sandbox = await prepareSandbox(config, own);
  const noDetach = detachProblem(sandbox, roots.real, own);
  if (sandbox.reason !== undefined)
    log.warn('commands run without a sandbox', {
      reason: sandbox.reason,
      mode: config.security.sandbox.mode,
    });
  const audit = await openAudit(config, log);
  const windowMs = config.server.resume_window_ms;
  const facts = {
    roots,
    limits: config.limits,
    reportVersion: config.server.report_version,
    capabilities: [
      'exec',
      'fs',
      'events',
      ...(isPtyInstalled() ? ['pty'] : []),
      ...(sandbox.sandbox === undefined ? [] : ['sandbox']),
      ...(windowMs === 0 ? [] : ['resume']),
    ],
    policy: config.policy,
    ...(sandbox.sandbox !== undefined && { sandbox: sandbox.sandbox }),
    environment: process.env,
    passedVariables: config.security.pass_env,
    stateDir,
    allowDetach: config.security.allow_detach,
    ...(noDetach !== undefined && { detachProblem: noDetach }),
    ...(windowMs > 0 && { resume: { windowMs, ...(announce !== undefined && { announce }) } }),
  };
  const exposed = auditExposure(config, sandbox, roots.real, own);
  if (exposed !== undefined)
    log.warn('commands can change the audit log: it lies in a folder they can write', { folder: exposed });
  if (roots.real.includes('/')) log.warn('the whole file system is allowed: / is one of the roots');
  log.debug('serving', { config: config.file, roots: roots.shown });
  const close = async (): Promise<void> => {
    await audit?.close();
    await log.flush();
  };
  return { facts, log, ...(audit !== undefined && { audit }), close };
}

/** Loads it first: that takes longer than a first answer. */
export async function makeServer(options: RexdServerOptions): Promise<RexdServer> {
  const { RexdServer } = await import('../rexd/server.js');
  return new RexdServer(options);
}

/** Whoever starts a server may raise what its configuration says; a session can only lower it. */
function withLimits({ limits }: RexdConfig, flags: Flags): RexdConfig['limits'] {
  const given = flags.values('limit').map((each) => {
    const [, name, number] = /^(\w+)=(\d+)$/.exec(each) ?? [];
    if (name === undefined) throw new UsageError(`--limit: expected NAME=NUMBER, got "${each}"`);
    return [name, Number(number)] as const;
  });
  return limits.with(Object.fromEntries(given));
}

function workingFolder(): string {
  try {
    return process.cwd();
  } catch (thrown) {
    throw new UsageError(`the folder we are in is gone (${errnoOf(thrown)}); give --root an absolute path`);
  }
}

function logLevel(flags: Flags): LogLevel | undefined {
  const asked = flags.value('log-level');
  if (asked === undefined) return undefined;
  const level = LOG_LEVELS.find((known) => known === asked);
  if (level === undefined)
    throw new UsageError(`--log-level: expected one of ${LOG_LEVELS.join(', ')}, got "${asked}"`);
  return level;
}

/** At the start and by name: a file nobody can write would otherwise be missed when it is needed. */
function openOnce(what: string, file: string): void {
  try {
    makeFolders(dirname(resolve(file)));
    closeSync(openSync(file, 'a', 0o600));
  } catch (thrown) {
    throw new UsageError(`${what}: ${file} cannot be written (${errnoOf(thrown)})`);
  }
}

async function openAudit(config: RexdConfig, log: Log): Promise<AuditLog | undefined> {
  if (!config.audit.enabled) return undefined;
  const { AuditLog } = await import('../guard/audit.js');
  const audit = new AuditLog({
    path: config.audit.path,
    maxBytes: config.audit.max_bytes,
    keep: config.audit.keep,
    onError: (error) => log.error('the audit log cannot be written', { reason: error.message }),
  });
  process.once('exit', () => audit.flushSync());
  return audit;
}
