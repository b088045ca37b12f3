// What a configuration comes to, for `rexd --check`.

import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errnoOf } from '../base/errors.js';
import { isInside } from '../host/files/is-inside.js';
import { auditExposure, detachProblem } from '../rexd/own-folders.js';
import { describeSandbox, prepareSandbox, saySandbox } from '../rexd/prepare-sandbox.js';
import type { RexdConfig } from '../rexd/settings.js';
import { type Flags, UsageError } from './flags.js';
import { readSettings } from './rexd-start.js';

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
