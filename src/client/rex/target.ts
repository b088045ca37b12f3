// Targets: the hosts commands can be sent to, in the file that other clients of REXD share.

import * as z from 'zod/mini';
import { LocalError } from '../../base/errors.js';
import { describeIssues, sayIssue } from '../../base/schema-issues.js';

/** Always there, never in the file: this machine. */
export const LOCAL = 'local';
/** Where rexd is when a target does not say. */
export const DEFAULT_COMMAND = '/usr/local/bin/rexd --stdio';
/** An alias is typed and shown, and stands in commands. */
export const ALIAS = /^[A-Za-z0-9][\w.-]{0,63}$/;

const text = z.string().check(z.minLength(1), z.maxLength(4096));

/** No host or user may look like an option of ssh that was never asked for. */
const word = text.check(z.refine((value) => !value.startsWith('-'), 'must not begin with "-"'));

/** They may come to stand in a command of the user's ssh configuration ("ProxyCommand … %h"), which a shell reads. */
const plain = word.check(
  z.refine(
    (value) => !/[\s'"`$;&<>|(){}\p{Cc}]|\\$/u.test(value),
    'must be a name without spaces, quotes or $;&<>|(){}',
  ),
);

const file = text.check(
  z.refine((path) => path.startsWith('/') || path.startsWith('~/'), 'must be an absolute path'),
);

const everywhere = {
  workspaceRoots: z._default(z.array(text).check(z.maxLength(64)), []),
  defaultCwd: z.optional(text),
  loginShell: z.optional(z.boolean()),
  description: z.optional(z.string()),
};

/** Loose: what other clients keep in the file stays in it. */
const SshTarget = z.looseObject({
  transport: z.literal('ssh'),
  host: plain,
  user: z.optional(plain),
  port: z.optional(z.int().check(z.gte(1), z.lte(65_535))),
  identityFile: z.optional(text),
  sshOptions: z.optional(z.array(text).check(z.maxLength(64))),
  command: z.optional(text),
  /** Of what goes over ssh; without it `auto`: where the connection is slower than compressing. */
  compression: z.optional(z.enum(['auto', 'on', 'off'])),
  ...everywhere,
});
export type SshTarget = z.output<typeof SshTarget>;

const online = {
  url: text,
  /** Where the token is: this file is shared and copied, and no place for secrets. */
  tokenFile: z.optional(file),
  tokenEnv: z.optional(text.check(z.regex(/^[A-Za-z_]\w*$/, 'expected the name of a variable'))),
  token: z.optional(
    z.unknown().check(z.refine(() => false, 'does not belong into this file; use tokenFile or tokenEnv')),
  ),
  /** Whom to believe beside the authorities of the machine, and who we are. */
  caFile: z.optional(file),
  certFile: z.optional(file),
  keyFile: z.optional(file),
  ...everywhere,
};
/** A daemon that is reached by POST, or by a WebSocket. */
const HttpTarget = z.looseObject({ transport: z.literal('http'), ...online });
const WebSocketTarget = z.looseObject({ transport: z.literal('ws'), ...online });
export type OnlineTarget = z.output<typeof HttpTarget> | z.output<typeof WebSocketTarget>;

/** A daemon of this machine and this user. */
const UnixTarget = z.looseObject({ transport: z.literal('unix'), socket: file, ...everywhere });
export type UnixTarget = z.output<typeof UnixTarget>;

/** By ssh unless it says otherwise, as in the files of clients that know nothing else. */
export const Target = z.pipe(
  z.transform((value: unknown) =>
    typeof value === 'object' && value !== null && !('transport' in value)
      ? { transport: 'ssh', ...value }
      : value,
  ),
  z.discriminatedUnion('transport', [SshTarget, HttpTarget, WebSocketTarget, UnixTarget]),
);
export type Target = z.output<typeof Target>;

/** For people: the host, the address or the path. */
export function whereIs(target: Target): string {
  if (target.transport === 'ssh') return target.host;
  return target.transport === 'unix' ? target.socket : target.url;
}

const TargetsFile = z.looseObject({
  version: z._default(z.literal(1), 1),
  targets: z._default(z.record(z.string(), Target), {}),
});
export type TargetsFile = z.output<typeof TargetsFile>;

export class TargetsError extends LocalError {
  override readonly name = 'TargetsError';

  constructor(message: string, cause?: unknown) {
    super('bad_targets', message, { cause });
  }
}

/** Throws a TargetsError that names the file and the field. */
export function parseTargets(source: string, file: string): TargetsFile {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (cause) {
    throw new TargetsError(`${file}: is no JSON`, cause);
  }
  const checked = z.safeParse(TargetsFile, value);
  if (!checked.success) {
    const issues = describeIssues(checked.error.issues, value).map((issue) => sayIssue(issue, ''));
    throw new TargetsError(`${file}: ${issues.join('; ')}`);
  }
  for (const alias of Object.keys(checked.data.targets)) assertAlias(alias, file);
  return checked.data;
}

export function assertAlias(alias: string, file?: string): void {
  const where = file === undefined ? '' : `${file}: `;
  if (alias === LOCAL) throw new TargetsError(`${where}"${LOCAL}" is this machine and cannot be another`);
  if (!ALIAS.test(alias))
    throw new TargetsError(`${where}"${alias}" is no name for a target: letters, digits, ".", "_" and "-"`);
}
