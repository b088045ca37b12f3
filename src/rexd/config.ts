// rexd's configuration: the TOML file of the specification, checked key by key, with a default for everything.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf, LocalError, toError } from '../base/errors.js';
import { LOG_LEVELS } from '../base/log.js';
import { describeIssues, sayIssue } from '../base/schema-issues.js';
import { LimitSet } from '../guard/limits.js';
import { REXD_LIMITS, type RexdLimit } from '../guard/limits-rexd.js';

/** Clients that exist check for the version of the implementation they were written against; see the room's README. */
const COMPATIBLE_VERSION = '0.1.5';

/** A configuration is a page of text; whatever is larger is some other file. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

const text = z.string().check(z.minLength(1));
const limits = Object.fromEntries(
  Object.keys(REXD_LIMITS).map((name) => [name, z.optional(z.number())]),
) as Record<RexdLimit, z.ZodMiniOptional<z.ZodMiniNumber>>;

const Server = z.strictObject({
  stdio: z._default(z.boolean(), true),
  log_level: z._default(z.enum(LOG_LEVELS), 'info'),
  report_version: z._default(text, COMPATIBLE_VERSION),
});
const Security = z.strictObject({
  allow_shell: z._default(z.boolean(), true),
  allowed_roots: z._default(z.array(z.strictObject({ path: text })), []),
});
const Audit = z.strictObject({
  enabled: z._default(z.boolean(), false),
  path: z._default(text, '/var/log/rexd/audit.log'),
});
const File = z.strictObject({
  server: z.prefault(Server, {}),
  limits: z.prefault(z.strictObject(limits), {}),
  security: z.prefault(Security, {}),
  audit: z.prefault(Audit, {}),
});

export interface RexdConfig {
  readonly server: z.output<typeof Server>;
  readonly limits: LimitSet<RexdLimit>;
  readonly security: z.output<typeof Security>;
  readonly audit: z.output<typeof Audit>;
  /** The file it came from; undefined when there is none and the defaults stand. */
  readonly file: string | undefined;
}

export class ConfigError extends LocalError {
  override readonly name = 'ConfigError';

  constructor(file: string, message: string, cause?: unknown) {
    super('bad_config', `${file}: ${message}`, { facts: { file }, cause });
  }
}

/** Where a configuration is looked for when none is named: the user's, then the machine's. */
export function standardPlaces(env: NodeJS.ProcessEnv): string[] {
  const home = env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config');
  return [join(home, 'rexd/config.toml'), '/etc/rexd/config.toml'];
}

/** The named file, which must exist; else the first of the standard places that does; else the defaults. */
export async function loadConfig(named: string | undefined, env: NodeJS.ProcessEnv): Promise<RexdConfig> {
  for (const file of named === undefined ? standardPlaces(env) : [named]) {
    const source = readSource(file, named !== undefined);
    if (source !== undefined) return checkConfig(await parseToml(file, source), file);
  }
  return checkConfig({}, undefined);
}

function checkConfig(value: unknown, file: string | undefined): RexdConfig {
  const checked = z.safeParse(File, value);
  if (!checked.success) {
    const issues = describeIssues(checked.error.issues, value, knownKeys).map((issue) => sayIssue(issue, ''));
    throw new ConfigError(file ?? 'defaults', issues.join('; '));
  }
  try {
    return { ...checked.data, limits: new LimitSet(REXD_LIMITS, checked.data.limits), file };
  } catch (thrown) {
    throw new ConfigError(file ?? 'defaults', `limits.${toError(thrown).message}`, thrown);
  }
}

function knownKeys(at: readonly PropertyKey[]): readonly string[] {
  const sections: Readonly<Record<string, object>> = {
    server: Server.shape,
    limits,
    security: Security.shape,
    audit: Audit.shape,
  };
  if (at.length === 0) return Object.keys(sections);
  return at.length > 1 ? ['path'] : Object.keys(sections[String(at[0])] ?? {});
}

function readSource(file: string, mustExist: boolean): string | undefined {
  try {
    const source = readFileSync(file);
    if (source.length <= MAX_CONFIG_BYTES) return source.toString('utf8');
  } catch (thrown) {
    const missing = errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR';
    if (missing && !mustExist) return undefined;
    throw new ConfigError(file, missing ? 'no such file' : `cannot be read (${errnoOf(thrown)})`, thrown);
  }
  throw new ConfigError(file, `is larger than ${MAX_CONFIG_BYTES} bytes`);
}

async function parseToml(file: string, source: string): Promise<unknown> {
  const { parse } = await import('smol-toml');
  try {
    return parse(source);
  } catch (thrown) {
    throw new ConfigError(file, toError(thrown).message.trimEnd(), thrown);
  }
}
