// Secrets among the words of a command that their place gives away.

import { basename } from 'node:path/posix';
import { isSecretFlag, isSecretName, REDACTED } from './redact-names.js';

interface SecretOptions {
  /** Options with the secret attached: `-psecret`. */
  readonly attached?: readonly string[];
  /** Options with the secret as the next argument. */
  readonly next?: readonly string[];
  /** Options with `user:password`, attached or next. */
  readonly user?: readonly string[];
}

const mysql: SecretOptions = { attached: ['-p'] };
const ldap: SecretOptions = { attached: ['-w'], next: ['-w'] };
const registry: SecretOptions = { attached: ['-p'], next: ['-p'] };
const archive: SecretOptions = { attached: ['-p'] };

/** Short options that hold a secret in these programs and something else in others. */
const PROGRAMS: ReadonlyMap<string, SecretOptions> = new Map([
  ...['mysql', 'mysqldump', 'mysqladmin', 'mysqlimport', 'mariadb', 'mariadb-dump'].map(
    (name) => [name, mysql] as const,
  ),
  ...['ldapsearch', 'ldapmodify', 'ldapadd', 'ldapdelete', 'ldapwhoami'].map((name) => [name, ldap] as const),
  ...['docker', 'podman', 'nerdctl', 'helm', 'oras'].map((name) => [name, registry] as const),
  ...['7z', '7za', '7zr', '7zz'].map((name) => [name, archive] as const),
  ['sshpass', { attached: ['-p'], next: ['-p'] }],
  ['redis-cli', { next: ['-a'] }],
  ['zip', { attached: ['-P'], next: ['-P'] }],
  ['unzip', { attached: ['-P'], next: ['-P'] }],
  ['curl', { next: ['-b', '-E'], user: ['-u', '-U', '--user', '--proxy-user'] }],
  ['openssl', { next: ['-k', '-K', '-passin', '-passout'] }],
  ['smbclient', { user: ['-U'] }],
]);
/** Programs that take the name of a setting and then its value. */
const CONFIGURE = new Set(['config', 'configure', 'config:set']);

/** Whether a text can be about one of the programs above at all. */
const NAMES_PROGRAM = new RegExp(
  [...PROGRAMS.keys(), 'htpasswd', ...CONFIGURE].map((name) => name.replaceAll('.', '\\.')).join('|'),
);

export function namesProgram(text: string): boolean {
  return NAMES_PROGRAM.test(text);
}

/**
 * What is to be shown in place of each word: after flags that name a secret, in `NAME=value`, and behind the short
 * options of the programs that are known to take one. Undefined for a word whose place says nothing. Wrappers need no
 * unwrapping: a known program anywhere among the words counts.
 */
export function hideByPlace(argv: readonly string[]): (string | undefined)[] {
  const names = argv.map((word) => basename(word.slice(-256)));
  const programs = [...new Set(names)].flatMap((name) => optionsOf(name, names));
  const configures = names.some((name) => CONFIGURE.has(name));
  const givesPassword = names.includes('htpasswd') && argv.some((word) => /^-[A-Za-z]*b/.test(word));
  let hideNext: 'all' | 'password' | undefined;
  return argv.map((word, at) => {
    const hiding = hideNext;
    hideNext = undefined;
    if (hiding === 'all' || (givesPassword && at === argv.length - 1)) return REDACTED;
    if (hiding === 'password') return hidePassword(word);
    for (const { attached = [], next = [], user = [] } of programs) {
      if (next.includes(word)) hideNext = 'all';
      else if (user.includes(word)) hideNext = 'password';
      const option = attached.find(
        (each) => word.startsWith(each) && word.length > each.length && !word.startsWith('--'),
      );
      if (option !== undefined) return `${option}${REDACTED}`;
      const userOption = user.find((each) => each.length === 2 && word.startsWith(each) && word.length > 2);
      if (userOption !== undefined) return `${userOption}${hidePassword(word.slice(2))}`;
    }
    if (hideNext !== undefined) return word;
    const equals = word.indexOf('=');
    const name = equals === -1 ? word : word.slice(0, equals);
    if (
      /^-{1,2}[A-Za-z]/.test(name)
        ? isSecretFlag(name)
        : /^[\w./:@-]{1,128}$/.test(name) && isSetting(name, equals, configures)
    ) {
      if (equals !== -1) return `${name}=${REDACTED}`;
      hideNext = 'all';
    }
    return undefined;
  });
}

function optionsOf(name: string, names: readonly string[]): SecretOptions[] {
  const options = PROGRAMS.get(name);
  if (options === undefined || (options === registry && !names.includes('login'))) return [];
  return [options];
}

/** `NAME=value` anywhere; `NAME value` only where settings are made that way. */
function isSetting(name: string, equals: number, configures: boolean): boolean {
  return (equals !== -1 || configures) && isSecretName(name);
}

function hidePassword(word: string): string {
  const colon = word.search(/[:%]/);
  return colon === -1 ? word : `${word.slice(0, colon + 1)}${REDACTED}`;
}
