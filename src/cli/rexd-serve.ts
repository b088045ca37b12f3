// What `rexd` does once its flags are known: serve a client, or say what a configuration comes to.

import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errnoOf, LocalError } from '../base/errors.js';
import { isInside } from '../host/files/is-inside.js';
import { openStandardStreams } from '../host/runtime/bun-stdio.js';
import { auditExposure, detachProblem } from '../rexd/own-folders.js';
import { describeSandbox, prepareSandbox, saySandbox } from '../rexd/prepare-sandbox.js';
import type { MeetingPlace } from '../rexd/resume/meeting-place.js';
import { beginsPlainly, relayedLink } from '../rexd/resume/relayed-link.js';
import type { RexdConfig } from '../rexd/settings.js';
import { readFirstBytes } from '../wire/transport/early-stdio.js';
import type { Link } from '../wire/transport/link.js';
import { processLink } from '../wire/transport/stdio.js';
import { EXIT } from './exit-codes.js';
import { type Flags, UsageError } from './flags.js';
import { letGoOfStdio } from './let-go-of-stdio.js';
import { readSettings, type Settings, startServer } from './rexd-start.js';
import { assertServable } from './standard-streams.js';

/** Serves as the flags and the configuration say: sockets when any is named, else standard input and output. */
export async function serve(flags: Flags): Promise<number> {
  const onSockets = flags.has('http') || flags.has('unix');
  if (onSockets && flags.has('stdio'))
    throw new UsageError('choose one: --stdio is for one client, --http and --unix are for many');
  const settings = await readSettings(flags);
  const { http_listen, unix_socket } = settings.config.server;
  const passed = arePassedSockets(process.env);
  if (
    onSockets ||
    (!flags.has('stdio') && (passed || http_listen !== undefined || unix_socket !== undefined))
  ) {
    const { serveSockets } = await import('./rexd-daemon.js');
    return await serveSockets(flags, settings);
  }
  if (flags.has('allow-remote')) throw new UsageError('--allow-remote goes with --http');
  return await serveStdio(flags, settings);
}

/** Only those meant for us: the variables are inherited by whoever is started next. */
function arePassedSockets(env: NodeJS.ProcessEnv): boolean {
  return env['LISTEN_FDS'] !== undefined && env['LISTEN_PID'] === String(process.pid);
}

async function serveStdio(flags: Flags, settings: Settings): Promise<number> {
  const { config } = settings;
  if (!flags.has('stdio') && process.stdin.isTTY)
    throw new UsageError('nothing to serve: pass --stdio, --http or --unix');
  assertServable();
  if (!flags.has('stdio') && !config.server.stdio) {
    throw new UsageError(`nothing to serve: server.stdio is false in ${config.file}; pass --stdio`);
  }
  let place: MeetingPlace | undefined;
  const { server, log, close } = await startServer(flags, settings, {
    announce: async (session) => {
      const { MeetingPlace } = await import('../rexd/resume/meeting-place.js');
      place ??= new MeetingPlace({
        stateDir: settings.stateDir,
        onLink: (link) => void server.serve(link),
      });
      await place.announce(session);
    },
  });
  let code: number = EXIT.ok;
  // Before the signals: until a client has said something there is nothing to put in order, and a signal may just end us.
  const first = readFirstBytes();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Hung up: what led to the client is gone, and whoever can be resumed waits for another connection.
      if (signal === 'SIGHUP' && server.hasResumable) {
        server.disconnect();
        return;
      }
      code = signal === 'SIGINT' ? EXIT.interrupted : EXIT.ok;
      void server.close();
    });
  }
  const lost = await server.serve(stdioLink(first, settings));
  if (lost !== undefined && !isReaderGone(lost)) code = EXIT.failed;
  log.debug('the connection is over');
  if (server.hasResumable) {
    code = EXIT.ok;
    letGoOfStdio();
    await server.quiet();
  }
  await place?.close();
  await close();
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
    server: describeServer(config, stateDir),
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
    `resume: ${facts.server.resume_window_ms === 0 ? 'off' : `for ${facts.server.resume_window_ms} ms after a connection was lost`}`,
    ...sayRules(facts),
    `sandbox: ${saySandbox(facts.sandbox)}`,
    `audit:  ${facts.audit ?? 'off'}${facts.audit_in_root === null ? '' : `, which commands can change: it lies in ${facts.audit_in_root}`}`,
    `log:    ${facts.server.log_level}`,
    `serves: ${sayServes(facts.server)}, as version ${facts.server.report_version}`,
    'limits:',
    ...Object.entries(facts.limits).map(([name, value]) => `  ${name} = ${value}`),
    ...config.limits.clamped.map(({ name, asked, given }) => `  (${name}: ${asked} asked, ${given} given)`),
  ].join('\n');
}

/** The token is nobody's to read. */
function describeServer({ server }: RexdConfig, stateDir: string) {
  const { token, ...shown } = server;
  return { ...shown, ...(token !== undefined && { token: '(set)' }), state_dir: stateDir };
}

function sayServes({ stdio, http_listen, unix_socket }: RexdConfig['server']): string {
  const sockets = [
    ...(http_listen === undefined ? [] : [`http on ${http_listen}`]),
    ...(unix_socket === undefined ? [] : [`unix:${unix_socket}`]),
  ];
  if (sockets.length > 0) return `${sockets.join(' and ')}, or stdio with --stdio`;
  return stdio ? 'stdio' : 'nothing unless --stdio is given';
}

/** A plain link, but for a client that asks first for a session which may be another server's. */
function stdioLink(first: Buffer | undefined, { config, stateDir }: Settings): Link {
  const link = processLink(first, openStandardStreams);
  if (config.server.resume_window_ms === 0 || beginsPlainly(first)) return link;
  return relayedLink(link, async (id) => {
    const { findSession } = await import('../rexd/resume/find-session.js');
    return await findSession(stateDir, id);
  });
}

/** Who stops reading has ended the connection; a full disk has not. */
function isReaderGone(lost: Error): boolean {
  if (lost instanceof LocalError && lost.code === 'taken_over') return true;
  return ['EPIPE', 'ECONNRESET'].includes(errnoOf(lost.cause) ?? '');
}

/** Without making anything, so it can only look at what is there. */
function assertWritable(what: string, file: string): void {
  const there = existsSync(file) ? file : nearestFolder(file);
  // To root everything there looks writable, and yet nobody can make a file.
  if (there !== file && isKernelFolder(there))
    throw new UsageError(`${what}: no file can be made in ${there}, which is the kernel's; choose another`);
  try {
    accessSync(there, constants.W_OK);
  } catch (thrown) {
    throw new UsageError(
      `${what}: ${there} cannot be written (${errnoOf(thrown)}); choose another file or give us the right`,
    );
  }
}

/** Of the file systems that only show what the kernel knows. */
function isKernelFolder(folder: string): boolean {
  return KERNEL_FILE_SYSTEMS.has(statfsSync(folder).type);
}

/** /proc and /sys, by the numbers they go by. */
const KERNEL_FILE_SYSTEMS = new Set([0x9fa0, 0x62656572]);

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
