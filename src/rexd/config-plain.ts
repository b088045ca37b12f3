// Reads a configuration that is written plainly: tables, and a key, a word and perhaps a comment in each line. The parser and
// the schema take longer to load than all else that the first answer needs. Whatever is not plain is theirs, and every
// error is: they say what is wrong, and where.

import { LOG_LEVELS } from '../base/log.js';
import type { LimitValues } from '../guard/limits.js';
import { REXD_LIMITS, type RexdLimit } from './limits.js';
import { DEFAULTS, HARD_LINKS, MAX_RESUME_WINDOW_MS, type RexdSettings } from './settings.js';

export interface PlainConfig {
  readonly settings: RexdSettings;
  readonly limits: LimitValues<RexdLimit>;
}

const TAB = 9;
const NEWLINE = 10;

type Value = string | number | boolean;
type Values = Record<string, Value>;
type Accepts = (value: Value) => boolean;

const isBoolean: Accepts = (value) => typeof value === 'boolean';
const isText: Accepts = (value) => typeof value === 'string' && value !== '';
const isAbsolute: Accepts = (value) => typeof value === 'string' && value.startsWith('/');
const isNumber: Accepts = (value) => typeof value === 'number';
const isWindow: Accepts = (value) => typeof value === 'number' && value <= MAX_RESUME_WINDOW_MS;
const oneOf =
  (words: readonly string[]): Accepts =>
  (value) =>
    words.includes(value as string);

const BOOLEAN_OF: Readonly<Record<string, boolean>> = { true: true, false: false };
const limitKeys: Record<string, Accepts> = {};
for (const name of Object.keys(REXD_LIMITS)) limitKeys[name] = isNumber;

/** By the line that begins them. Keys that are for a daemon, and lists, are left to the schema. */
const TABLES: Readonly<Record<string, Readonly<Record<string, Accepts>>>> = {
  '[server]': {
    stdio: isBoolean,
    log_level: oneOf(LOG_LEVELS),
    report_version: isText,
    state_dir: isAbsolute,
    resume_window_ms: isWindow,
  },
  '[limits]': limitKeys,
  '[security]': { allow_shell: isBoolean, allow_detach: isBoolean, hard_links: oneOf(HARD_LINKS) },
  '[audit]': { enabled: isBoolean },
  '[[security.allowed_roots]]': { path: isText },
};

/** Just what the schema would give, or undefined when it has to be asked. */
export function readPlainly(source: string): PlainConfig | undefined {
  if (!isPlainText(source)) return undefined;
  const tables: Record<string, Values> = {};
  const roots: { path?: string }[] = [];
  let known: Readonly<Record<string, Accepts>> = {};
  let table: Values = {};
  for (const written of source.split('\n')) {
    const line = written.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (Object.hasOwn(TABLES, line)) {
      known = TABLES[line] ?? {};
      table = {};
      if (line.startsWith('[[')) roots.push(table);
      // Twice, or after one of its own tables, is wrong or unusual.
      else if (tables[line] !== undefined || (line === '[security]' && roots.length > 0)) return undefined;
      else tables[line] = table;
      continue;
    }
    const equals = line.indexOf('=');
    const key = line.slice(0, Math.max(0, equals)).trimEnd();
    const value = readValue(line.slice(equals + 1).trimStart());
    if (value === undefined || !Object.hasOwn(known, key) || Object.hasOwn(table, key)) return undefined;
    if (known[key]?.(value) !== true) return undefined;
    table[key] = value;
  }
  if (roots.some(({ path }) => path === undefined)) return undefined;
  return {
    settings: {
      server: { ...DEFAULTS.server, ...tables['[server]'] },
      security: {
        ...DEFAULTS.security,
        ...tables['[security]'],
        allowed_roots: roots as { path: string }[],
      },
      audit: { ...DEFAULTS.audit, ...tables['[audit]'] },
    },
    limits: tables['[limits]'] ?? {},
  };
}

/** Line by line and in ASCII. With anything else in it, even in a comment, it is not ours to judge. */
function isPlainText(source: string): boolean {
  for (let at = 0; at < source.length; at++) {
    const char = source.charCodeAt(at);
    if ((char < 0x20 && char !== TAB && char !== NEWLINE) || char > 0x7e) return false;
  }
  return true;
}

/** A word, a number or a text without escapes, and perhaps a comment behind it. */
function readValue(text: string): Value | undefined {
  const quote = text.charAt(0);
  if (quote === '"' || quote === "'") {
    const end = text.indexOf(quote, 1);
    const content = text.slice(1, end);
    const rest = text.slice(end + 1).trimStart();
    const isPlain = end !== -1 && (rest === '' || rest.startsWith('#')) && !content.includes('\\');
    return isPlain ? content : undefined;
  }
  const comment = text.indexOf('#');
  const word = comment === -1 ? text : text.slice(0, comment).trimEnd();
  if (Object.hasOwn(BOOLEAN_OF, word)) return BOOLEAN_OF[word];
  const number = Number(word);
  return Number.isSafeInteger(number) && number >= 0 && String(number) === word ? number : undefined;
}
