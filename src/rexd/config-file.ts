// A configuration file: the TOML of the specification, checked key by key.

import { readFileSync, statSync } from 'node:fs';
import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { errnoOf, toError } from '../base/errors.js';
import { LOG_LEVELS } from '../base/log.js';
import { describeIssues, sayIssue } from '../base/schema-issues.js';
import { LimitSet } from '../guard/limits.js';
import { REXD_LIMITS, type RexdLimit } from './limits.js';
import { ConfigError, DEFAULTS, type RexdConfig } from './settings.js';

/** A configuration is a page of text; whatever is larger is some other file. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

const text = z.string().check(z.minLength(1));
const limits = Object.fromEntries(
  Object.keys(REXD_LIMITS).map((name) => [name, z.optional(z.number())]),
) as Record<RexdLimit, z.ZodMiniOptional<z.ZodMiniNumber>>;

const Server = z.strictObject({
  stdio: z._default(z.boolean(), DEFAULTS.server.stdio),
  log_level: z._default(z.enum(LOG_LEVELS), DEFAULTS.server.log_level),
  report_version: z._default(text, DEFAULTS.server.report_version),
});
const Security = z.strictObject({
  allow_shell: z._default(z.boolean(), DEFAULTS.security.allow_shell),
  allowed_roots: z._default(z.array(z.strictObject({ path: text })), []),
});
const Audit = z.strictObject({
  enabled: z._default(z.boolean(), DEFAULTS.audit.enabled),
  path: z._default(
    z.string().check(z.refine((path) => path.startsWith('/'), 'must be an absolute path')),
    DEFAULTS.audit.path,
  ),
});
const ConfigFile = z.strictObject({
  server: z.prefault(Server, {}),
  limits: z.prefault(z.strictObject(limits), {}),
  security: z.prefault(Security, {}),
  audit: z.prefault(Audit, {}),
});

export function readConfigFile(file: string): RexdConfig {
  const value = parseToml(file, readSource(file));
  const checked = z.safeParse(ConfigFile, value);
  if (!checked.success) {
    const issues = describeIssues(checked.error.issues, value, knownKeys).map((issue) => sayIssue(issue, ''));
    throw new ConfigError(file, issues.join('; '));
  }
  try {
    return { ...checked.data, limits: new LimitSet(REXD_LIMITS, checked.data.limits), file };
  } catch (thrown) {
    throw new ConfigError(file, `limits.${toError(thrown).message}`, thrown);
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

function readSource(file: string): string {
  let source: Buffer;
  try {
    // A FIFO would keep us waiting and a device would never end.
    if (!statSync(file).isFile()) throw new ConfigError(file, 'is not a regular file');
    source = readFileSync(file);
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw thrown;
    const errno = errnoOf(thrown);
    throw new ConfigError(file, errno === 'ENOENT' ? 'no such file' : `cannot be read (${errno})`, thrown);
  }
  if (source.length > MAX_CONFIG_BYTES)
    throw new ConfigError(file, `is larger than ${MAX_CONFIG_BYTES} bytes`);
  return source.toString('utf8');
}

function parseToml(file: string, source: string): unknown {
  try {
    return parse(source);
  } catch (thrown) {
    throw new ConfigError(file, toError(thrown).message.trimEnd(), thrown);
  }
}
