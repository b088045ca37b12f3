// Which names stand for a secret, which for contents, which for an environment.

export const REDACTED = '[redacted]';

/** Anywhere in a name, once case and separators are gone. */
const SECRET_PARTS = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'secret',
  'token',
  'authorization',
  'apikey',
  'accesskey',
  'privatekey',
  'signingkey',
  'encryptionkey',
  'masterkey',
  'accountkey',
  'sessionkey',
  'sshkey',
  'authkey',
  'cookie',
  'credential',
  'bearer',
  'connectionstring',
  'jwt',
];
/** Only as the whole name: as a part they are in too many harmless words. */
const SECRET_WHOLE = new Set([
  'auth',
  'pass',
  'pwd',
  'pin',
  'otp',
  'totp',
  'mfa',
  'dsn',
  'sid',
  'pgpassword',
  'xauth',
]);
/** A name whose last word is one of these speaks about a secret and does not hold it. */
const ABOUT = new Set(
  `file path stdin name type env prompt ttl age length limit count expiry expires enabled required url endpoint
  policy`.split(/\s+/),
);
/** Said in two words, of which the last alone says nothing. */
const ABOUT_IN_TWO = new Set(['expires at', 'expires in']);
/** How many of them, not what they are. */
const AMOUNT = /(tokens|tokencount|tokensused)$/;

const CONTENTS = new Set([
  'content',
  'contents',
  'stdin',
  'data',
  'body',
  'input',
  'output',
  'stdout',
  'stderr',
  'patchtext',
  'oldstring',
  'newstring',
  'blob',
  'payload',
]);
const ENVIRONMENTS = new Set(['env', 'envs', 'environ', 'environment', 'environmentvariables']);
const COMMANDS = new Set(['argv', 'args', 'command', 'cmd', 'commandline']);

/** Nobody names a field at such length: it is hidden rather than searched. */
export const MAX_NAME_CHARS = 256;
/** Names whose judgement is kept; beyond, all are forgotten and judged anew. */
export const MAX_KNOWN_NAMES = 1000;

export type NameKind = 'secret' | 'contents' | 'environment' | 'command' | 'plain';

/** What a field of this name holds, going by the name alone. */
export function kindOfName(name: string, value: unknown): NameKind {
  if (isSecretName(name, value)) return 'secret';
  const plain = lookUp(name).plain;
  if (CONTENTS.has(plain)) return 'contents';
  if (ENVIRONMENTS.has(plain)) return 'environment';
  return COMMANDS.has(plain) ? 'command' : 'plain';
}

/** True of `API_KEY`, `x-api-key`, `dbPassword`, `--auth-token`; false of `token_file`, and of `max_tokens` with a number. */
export function isSecretName(name: string, value: unknown = ''): boolean {
  if (name.length > MAX_NAME_CHARS) return true;
  const { plain, secret, about } = lookUp(name);
  if (!secret || SECRET_WHOLE.has(plain)) return secret;
  if (typeof value === 'number' && AMOUNT.test(plain)) return false;
  return !(about && (typeof value !== 'object' || value === null));
}

/** `--db-password`, `-token`; not `-p`, and not `--no-password` or `--ask-pass`, which take no secret. */
export function isSecretFlag(flag: string): boolean {
  const name = flag.replace(/^-{1,2}/, '');
  return (
    name.length > 2 &&
    !/^(no|ask|prompt|with|without|skip|disable|enable|use|show|hide)-/i.test(name) &&
    isSecretName(name)
  );
}

interface Name {
  readonly plain: string;
  readonly secret: boolean;
  readonly about: boolean;
}

const known = new Map<string, Name>();

/** The same few names come with every request; what is found out about them is kept. */
function lookUp(name: string): Name {
  let found = known.get(name);
  if (found === undefined) {
    const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    const secret = SECRET_WHOLE.has(plain) || SECRET_PARTS.some((part) => plain.includes(part));
    found = { plain, secret, about: secret && isAbout(name) };
    if (known.size >= MAX_KNOWN_NAMES) known.clear();
    known.set(name, found);
  }
  return found;
}

/** Only whole words count: `secret_message` ends in `age`, and is a secret. Where no word can be told, it is one too. */
function isAbout(name: string): boolean {
  const words = splitWords(name);
  return ABOUT.has(words.at(-1) ?? '') || ABOUT_IN_TWO.has(words.slice(-2).join(' '));
}

/** `db_password-file`, `dbPasswordFile`, `DBPasswordFile`: separators, digits and a change of case part words. */
function splitWords(name: string): string[] {
  const parted = name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  return parted.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
}
