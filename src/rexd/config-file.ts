// A configuration file: the TOML of the specification, checked key by key.

import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { toError } from '../base/errors.js';
import { LOG_LEVELS } from '../base/log.js';
import { describeIssues, sayIssue } from '../base/schema-issues.js';
import { COMMAND_CLASSES } from '../guard/command-classes.js';
import { LimitSet } from '../guard/limits.js';
import { hasCommandRules, policyOf } from './command-rules.js';
import { lineOfKey } from './config-line.js';
import { readSource } from './config-source.js';
import { REXD_LIMITS, type RexdLimit } from './limits.js';
import {
  ConfigError,
  DEFAULTS,
  HARD_LINKS,
  MAX_RESUME_WINDOW_MS,
  type RexdConfig,
  SANDBOX_MODES,
} from './settings.js';

/** Rotated audit files that may be kept: each rotation renames all of them. */
export const MAX_AUDIT_FILES = 1000;
/** An audit file holds at least the longest entry there can be. */
export const MIN_AUDIT_BYTES = 64 * 1024;

/** A session that expires sooner could not be used between two requests. */
export const MIN_SESSION_IDLE_MS = 100;
/** A week: who wants more wants a detached process. */
export const MAX_SESSION_IDLE_MS = 7 * 24 * 3600 * 1000;

const text = z.string().check(z.minLength(1));
const absolutePath = z.string().check(z.refine((path) => path.startsWith('/'), 'must be an absolute path'));
const urlPath = z
  .string()
  .check(
    z.refine((path) => /^\/[\w./~-]*$/.test(path) && !path.includes('//'), 'expected a path such as "/rpc"'),
  );
const hostName = z
  .string()
  .check(
    z.refine(
      (host) => /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host),
      'expected a name or name:port',
    ),
  );
/** A whole name: whoever writes a pattern here should learn that it would match nothing. */
const variable = z
  .string()
  .check(
    z.refine((name) => /^[A-Za-z_]\w*$/.test(name), 'expected the name of a variable, without patterns'),
  );
const limits = Object.fromEntries(
  Object.keys(REXD_LIMITS).map((name) => [name, z.optional(z.number())]),
) as Record<RexdLimit, z.ZodMiniOptional<z.ZodMiniNumber>>;

const Server = z.strictObject({
  stdio: z._default(z.boolean(), DEFAULTS.server.stdio),
  log_level: z._default(z.enum(LOG_LEVELS), DEFAULTS.server.log_level),
  report_version: z._default(text, DEFAULTS.server.report_version),
  state_dir: z.optional(absolutePath),
  http_listen: z.optional(text),
  http_path: z._default(urlPath, DEFAULTS.server.http_path),
  ws_path: z._default(urlPath, DEFAULTS.server.ws_path),
  unix_socket: z.optional(absolutePath),
  token: z.optional(text),
  token_file: z.optional(absolutePath),
  tls_cert: z.optional(absolutePath),
  tls_key: z.optional(absolutePath),
  tls_client_ca: z.optional(absolutePath),
  allow_remote: z._default(z.boolean(), DEFAULTS.server.allow_remote),
  behind_proxy: z._default(z.boolean(), DEFAULTS.server.behind_proxy),
  allowed_hosts: z._default(z.array(hostName), []),
  session_idle_ms: z._default(
    z.int().check(z.gte(MIN_SESSION_IDLE_MS), z.lte(MAX_SESSION_IDLE_MS)),
    DEFAULTS.server.session_idle_ms,
  ),
  resume_window_ms: z._default(
    z.int().check(z.gte(0), z.lte(MAX_RESUME_WINDOW_MS)),
    DEFAULTS.server.resume_window_ms,
  ),
});
const Sandbox = z.strictObject({
  mode: z._default(z.enum(SANDBOX_MODES), DEFAULTS.security.sandbox.mode),
  network: z._default(z.boolean(), DEFAULTS.security.sandbox.network),
  read_write: z._default(z.array(absolutePath), []),
  read_only: z._default(z.array(absolutePath), []),
});
const Security = z.strictObject({
  allow_shell: z._default(z.boolean(), DEFAULTS.security.allow_shell),
  allow_detach: z._default(z.boolean(), DEFAULTS.security.allow_detach),
  allowed_roots: z._default(z.array(z.strictObject({ path: text })), []),
  hard_links: z._default(z.enum(HARD_LINKS), DEFAULTS.security.hard_links),
  allow_commands: z._default(z.array(text), []),
  deny_commands: z._default(z.array(text), []),
  sudo: z.optional(z.array(text)),
  classes: z.optional(z.array(z.enum(COMMAND_CLASSES))),
  pass_env: z._default(z.array(variable), []),
  sandbox: z.prefault(Sandbox, {}),
});
const Audit = z.strictObject({
  enabled: z._default(z.boolean(), DEFAULTS.audit.enabled),
  path: z._default(absolutePath, DEFAULTS.audit.path),
  max_bytes: z._default(z.int().check(z.gte(MIN_AUDIT_BYTES)), DEFAULTS.audit.max_bytes),
  keep: z._default(z.int().check(z.gte(1), z.lte(MAX_AUDIT_FILES)), DEFAULTS.audit.keep),
});
/** What can be written in a configuration; docs/config.md is made from it. */
export const ConfigFile = z.strictObject({
  server: z.prefault(Server, {}),
  limits: z.prefault(z.strictObject(limits), {}),
  security: z.prefault(Security, {}),
  audit: z.prefault(Audit, {}),
});

export async function readConfigFile(file: string, source = readSource(file)): Promise<RexdConfig> {
  const value = parseToml(file, source);
  const lineOf = (key: string): number | undefined => lineOfKey(source, key);
  const checked = z.safeParse(ConfigFile, value);
  if (!checked.success) {
    const issues = describeIssues(checked.error.issues, value, knownKeys).map((issue) => {
      return sayLine(lineOf(issue.path)) + sayIssue(issue, '');
    });
    throw new ConfigError(file, issues.join('; '));
  }
  const settings = checked.data;
  const policy = policyOf(settings.security);
  // A wrong rule is told at the start, not by the first command.
  const at = { file, lineOf };
  if (hasCommandRules(settings.security)) await inFile(at, 'security', policy);
  const limits = await inFile(at, 'limits', () => new LimitSet(REXD_LIMITS, settings.limits));
  return { ...settings, limits, policy, file, lineOf };
}

/** What a rule or a limit is refused for, with the file, the line and the key it stands under. */
async function inFile<T>(
  { file, lineOf }: { readonly file: string; readonly lineOf: (key: string) => number | undefined },
  table: string,
  build: () => T | Promise<T>,
): Promise<T> {
  try {
    return await build();
  } catch (thrown) {
    const message = `${table}.${toError(thrown).message}`;
    const [key = table] = /^[\w.]+/.exec(message) ?? [];
    throw new ConfigError(file, sayLine(lineOf(key)) + message, thrown);
  }
}

/** A root that cannot be used is found out only when all of them are known; it is told like everything else. */
export function refuseRoot(config: RexdConfig, nth: number, why: string, cause: unknown): ConfigError {
  const key = `security.allowed_roots[${nth}].path`;
  return new ConfigError(config.file ?? '', `${sayLine(config.lineOf(key))}${key}: ${why}`, cause);
}

function sayLine(line: number | undefined): string {
  return line === undefined ? '' : `line ${line}: `;
}

function knownKeys(at: readonly PropertyKey[]): readonly string[] {
  const tables: Readonly<Record<string, object>> = {
    '': ConfigFile.shape,
    server: Server.shape,
    limits,
    security: Security.shape,
    'security.sandbox': Sandbox.shape,
    audit: Audit.shape,
  };
  const table = tables[at.map(String).join('.')];
  return table === undefined ? ['path'] : Object.keys(table);
}

function parseToml(file: string, source: string): unknown {
  try {
    return parse(source);
  } catch (thrown) {
    throw new ConfigError(file, toError(thrown).message.trimEnd(), thrown);
  }
}
