// What `rexd` does once its flags are known: serve a client, or say what a configuration comes to.

import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errnoOf } from '../base/errors.js';
import { LOG_LEVELS, type Log, type LogLevel, openLog } from '../base/log.js';
import type { AuditLog } from '../guard/audit.js';
import { LimitSet } from '../guard/limits.js';
import { InvalidRootError, Roots } from '../guard/roots.js';
import { isInside } from '../host/files/is-inside.js';
import type { Withheld } from '../host/files/withheld.js';
import { makeFolders } from '../host/make-folders.js';
import { isPtyInstalled } from '../host/pty/native.js';
import { loadConfig } from '../rexd/config.js';
import { auditExposure, detachProblem, ownFolders, stateDirOf } from '../rexd/own-folders.js';
import { describeSandbox, prepareSandbox, saySandbox } from '../rexd/prepare-sandbox.js';
import { RexdServer } from '../rexd/server.js';
import type { RexdConfig } from '../rexd/settings.js';
import { readFirstBytes } from '../wire/transport/early-stdio.js';
import { processLink } from '../wire/transport/stdio.js';
import { EXIT } from './exit-codes.js';
import { type Flags, UsageError } from './flags.js';

export async function serveStdio(flags: Flags): Promise<number> {
  const { config, roots, own, stateDir } = await readSettings(flags);
  if (!flags.has('stdio') && !config.server.stdio) {
    throw new UsageError(`nothing to serve: server.stdio is false in ${config.file}; pass --stdio`);
  }
  const file = flags.value('log-file');
  if (file !== undefined) openOnce('--log-file', file);
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
  const server = new RexdServer({
    ...(audit !== undefined && { audit }),
    facts: {
      roots,
      limits: config.limits,
      reportVersion: config.server.report_version,
      capabilities: [
        'exec',
        'fs',
        'events',
        ...(isPtyInstalled() ? ['pty'] : []),
        ...(sandbox.sandbox === undefined ? [] : ['sandbox']),
      ],
      policy: config.policy,
      ...(sandbox.sandbox !== undefined && { sandbox: sandbox.sandbox }),
      environment: process.env,
      passedVariables: config.security.pass_env,
      stateDir,
      allowDetach: config.security.allow_detach,
      ...(noDetach !== undefined && { detachProblem: noDetach }),
    },
    log,
  });
  const exposed = auditExposure(config, sandbox, roots.real, own);
  if (exposed !== undefined)
    log.warn('commands can change the audit log: it lies in a folder they can write', { folder: exposed });
  if (roots.real.includes('/')) log.warn('the whole file system is allowed: / is one of the roots');
  log.debug('serving', { config: config.file, roots: roots.shown });
  let code: number = EXIT.ok;
  // Before the signals: until a client has said something there is nothing to put in order, and a signal may just end us.
  const first = readFirstBytes();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.once(signal, () => {
      code = signal === 'SIGINT' ? EXIT.interrupted : EXIT.ok;
      void server.close();
    });
  }
  const lost = await server.serve(processLink(first));
  if (lost !== undefined && !isReaderGone(lost)) code = EXIT.failed;
  log.debug('the connection is over');
  await audit?.close();
  await log.flush();
  return code;
}

export async function checkConfig(flags: Flags): Promise<string> {
  const { config, roots, own, stateDir } = await readSettings(flags);
  if (config.audit.enabled) assertWritable('audit.path', config.audit.path);
  const sandbox = await prepareSandbox(config, own);
  const facts = {
    config: config.file ?? null,
    roots: roots.shown,
    hard_links: config.security.hard_links,
    limits: config.limits.toJSON(),
    server: { ...config.server, state_dir: stateDir },
    allow_detach: config.security.allow_detach,
    /** The root that holds the state folder, which is withheld from clients all the same. */
    state_dir_in_root:
      roots.real.find((root) => own.folders.some((folder) => isInside(folder, root))) ?? null,
    detach_problem: detachProblem(sandbox, roots.real, own) ?? null,
    ...describePolicy(config),
    sandbox: describeSandbox(config, sandbox),
    audit: config.audit.enabled ? config.audit.path : null,
    /** The folder that commands can write and the audit log lies in; no client touches the log itself. */
    audit_in_root: auditExposure(config, sandbox, roots.real, own) ?? null,
  };
  if (flags.has('json')) return JSON.stringify(facts);
  return [
    `config: ${facts.config ?? 'none found, defaults'}`,
    `roots:  ${facts.roots.length === 0 ? 'none: every path will be refused; pass --root DIR' : facts.roots.join('\n        ')}`,
    ...(facts.hard_links === 'allow' ? [] : ['links:  files with several names (hard links) are refused']),
    `shell:  ${facts.allow_shell ? 'allowed' : 'not allowed'}`,
    `detach: ${sayDetach(facts)}`,
    ...sayRules(facts),
    `sandbox: ${saySandbox(facts.sandbox)}`,
    `audit:  ${facts.audit ?? 'off'}${facts.audit_in_root === null ? '' : `, which commands can change: it lies in ${facts.audit_in_root}`}`,
    `log:    ${facts.server.log_level}`,
    `serves: ${facts.server.stdio ? 'stdio' : 'nothing unless --stdio is given'}, as version ${facts.server.report_version}`,
    'limits:',
    ...Object.entries(facts.limits).map(([name, value]) => `  ${name} = ${value}`),
    ...config.limits.clamped.map(({ name, asked, given }) => `  (${name}: ${asked} asked, ${given} given)`),
  ].join('\n');
}

/** Who stops reading has ended the connection; a full disk has not. */
function isReaderGone(lost: Error): boolean {
  return ['EPIPE', 'ECONNRESET'].includes(errnoOf(lost.cause) ?? '');
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

/** Without making anything, so it can only look at what is there. */
function assertWritable(what: string, file: string): void {
  const there = existsSync(file) ? file : nearestFolder(file);
  try {
    accessSync(there, constants.W_OK);
  } catch (thrown) {
    throw new UsageError(
      `${what}: ${there} cannot be written (${errnoOf(thrown)}); choose another file or give us the right`,
    );
  }
}

function nearestFolder(file: string): string {
  const folder = dirname(resolve(file));
  return existsSync(folder) || folder === '/' ? folder : nearestFolder(folder);
}

function describePolicy({ security }: RexdConfig) {
  const { allow_shell, allow_commands, deny_commands, sudo = null, classes = null, pass_env } = security;
  return { allow_shell, allow_commands, deny_commands, sudo, classes, pass_env };
}

function sayDetach(facts: {
  readonly allow_detach: boolean;
  readonly server: { readonly state_dir: string };
  readonly state_dir_in_root: string | null;
  readonly detach_problem: string | null;
}): string {
  if (!facts.allow_detach) return 'not allowed';
  if (facts.detach_problem !== null) return `not possible: ${facts.detach_problem}`;
  const inRoot = facts.state_dir_in_root;
  const note = inRoot === null ? '' : ` (in the root ${inRoot}, but withheld from clients)`;
  return `allowed, kept in ${facts.server.state_dir}${note}`;
}

/** Nothing for what is not restricted: the usual configuration stays one screen. */
function sayRules(policy: ReturnType<typeof describePolicy>): string[] {
  const lists = {
    allow: unlessEmpty(policy.allow_commands),
    deny: unlessEmpty(policy.deny_commands),
    sudo: policy.sudo,
    class: policy.classes,
    env: unlessEmpty(policy.pass_env),
  };
  return Object.entries(lists).flatMap(([name, rules]) =>
    rules === null ? [] : [`${`${name}:`.padEnd(8)}${rules.length === 0 ? 'nothing' : rules.join(', ')}`],
  );
}

function unlessEmpty(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
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

interface Settings {
  readonly config: RexdConfig;
  readonly roots: Roots;
  readonly stateDir: string;
  readonly own: Withheld;
}

async function readSettings(flags: Flags): Promise<Settings> {
  const loaded = await loadConfig(flags.value('config'), process.env);
  const config = flags.has('limit') ? { ...loaded, limits: withLimits(loaded, flags) } : loaded;
  const given = flags
    .values('root')
    .map((root) => (/^[/~]/.test(root) ? root : `${workingFolder()}/${root}`));
  const configured = config.security.allowed_roots.map(({ path }) => path);
  const stateDir = stateDirOf(config, process.env);
  const own = ownFolders(stateDir, config);
  const options = { allowFilesystemRoot: true, hardLinks: config.security.hard_links, withheld: own };
  try {
    return { config, roots: Roots.open([...configured, ...given], options), stateDir, own };
  } catch (thrown) {
    const nth = thrown instanceof InvalidRootError ? configured.indexOf(thrown.root) : -1;
    if (nth === -1) throw thrown;
    const { refuseRoot } = await import('../rexd/config-file.js');
    throw refuseRoot(config, nth, (thrown as Error).message, thrown);
  }
}

/** Whoever starts a server may raise what its configuration says; a session can only lower it. */
function withLimits({ limits }: RexdConfig, flags: Flags): RexdConfig['limits'] {
  const given = flags.values('limit').map((each) => {
    const [, name, number] = /^(\w+)=(\d+)$/.exec(each) ?? [];
    if (name === undefined) throw new UsageError(`--limit: expected NAME=NUMBER, got "${each}"`);
    return [name, Number(number)] as const;
  });
  return new LimitSet(limits.table, { ...limits.toJSON(), ...Object.fromEntries(given) });
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
