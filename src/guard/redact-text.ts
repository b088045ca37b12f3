// Secrets that give themselves away in plain text: by their shape, their label or the place they stand in.

import { hideByPlace } from './redact-argv.js';
import { isSecretFlag, isSecretName, REDACTED } from './redact-names.js';
import { redactShellText } from './redact-shell-text.js';

/** A cut can leave the first characters of a secret that can no longer be told by its shape: the last word goes too. */
const CUT_WORD = /\S{1,128}$/;

const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g;
const HEADER =
  /(["']?)\b((?:proxy-)?authorization|(?:set-)?cookie2?|x-[\w-]{0,40}(?:key|token|auth|secret)[\w-]{0,40})(["']?\s{0,4}[:=]\s{0,4})(["']?)/gi;
// Also as it looks inside quotes: {\"password\":\"…\"}.
const PAIR = /(?<![\w.-])([\w.-]+)\\{0,4}["']?\s{0,4}[:=]\s{0,4}/g;
const VALUE = /"(?:[^"\\]|\\[\s\S])*"?|\\{1,4}"[^"]*"?|'[^']*'?|[^\s"'&;]+/y;
const FLAG = /(^|\s)(-{1,2}[A-Za-z][\w-]{1,63})(\s{1,4})("[^"]*"?|'[^']*'?|\S+)/g;
const USER_FLAG = /(\s(?:-u|-U|--user|--proxy-user)(?:=|\s{0,4})["']?)([^\s"':=]+):([^\s"']+)/g;
const MYSQL = /\b((?:mysql|mariadb)[\w-]{0,12}\b[^\n;|&]{0,200}?\s-p)([^\s"']+)/g;
const SSHPASS = /\b(sshpass\s{1,4}-p\s{0,4})("[^"]*"?|'[^']*'?|\S+)/g;
const BEARER = /\b(bearer)\s{1,4}[\w.~+/=-]{6,}/gi;
const BASIC = /\b(basic)\s{1,4}[A-Za-z0-9+/]{6,}={1,2}/gi;
const SHAPES = new RegExp(
  [
    '(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}',
    'gh[pousr]_[A-Za-z0-9]{16,}',
    'github_pat_\\w{20,}',
    'gl(?:pat|ptt|dt|rt|cbt|soat)-[\\w-]{16,}',
    'sk-[\\w-]{16,}',
    '[srp]k_(?:live|test)_[A-Za-z0-9]{10,}',
    'xox[abeoprs]-[A-Za-z0-9-]{10,}',
    'AIza[\\w-]{30,}',
    'ya29\\.[\\w-]{20,}',
    'npm_[A-Za-z0-9]{30,}',
    'hf_[A-Za-z0-9]{20,}',
    'pypi-[\\w-]{30,}',
    'do[pot]_v1_[a-f0-9]{40,}',
    'SG\\.[\\w-]{16,}\\.[\\w-]{16,}',
    'hv[sb]\\.[\\w-]{20,}',
    'AGE-SECRET-KEY-1[A-Z0-9]{20,}',
    'eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*)?',
  ]
    .map((shape) => `\\b${shape}`)
    .join('|'),
  'g',
);

/** `text` without what looks like a secret, cut to about `maxChars`. Every expression here runs in time linear in that. */
export function redactText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return withoutSecrets(text);
  const kept = withoutSecrets(text.slice(0, maxChars)).replace(CUT_WORD, '');
  return `${kept}…<${text.length} characters>`;
}

/** The words of a command without secrets, as many as there were. */
export function redactArgv(argv: readonly string[], maxWordChars: number): string[] {
  const hidden = hideByPlace(argv);
  return argv.map((word, at) => redactText(hidden[at] ?? word, maxWordChars));
}

/** Labels, places and quotes all need one of these; without them only a shape can give a secret away. */
const LABELLED = /[:=@\s"']/;

function withoutSecrets(text: string): string {
  if (text.length < 6) return text; // too short for a label and a secret
  if (!LABELLED.test(text)) return text.replaceAll(SHAPES, REDACTED);
  const inPlace = redactShellText(text).replaceAll(PRIVATE_KEY, REDACTED);
  return redactPairs(redactHeaders(redactUrls(inPlace)))
    .replaceAll(FLAG, (all, before: string, flag: string, space: string) =>
      isSecretFlag(flag) ? `${before}${flag}${space}${REDACTED}` : all,
    )
    .replaceAll(USER_FLAG, (all, flag: string, user: string, password: string) =>
      /^\d+$/.test(user) && /^\d+$/.test(password) ? all : `${flag}${user}:${REDACTED}`,
    )
    .replaceAll(MYSQL, `$1${REDACTED}`)
    .replaceAll(SSHPASS, `$1${REDACTED}`)
    .replaceAll(BEARER, `$1 ${REDACTED}`)
    .replaceAll(BASIC, `$1 ${REDACTED}`)
    .replaceAll(SHAPES, REDACTED);
}

/** From `://` to the last `@` of the word: a password that was put in as it is may hold any of `/`, `?`, `#` and `@`. */
function redactUrls(text: string): string {
  if (!text.includes('://')) return text;
  return text.replaceAll(/[^\s"']+/g, (word) => {
    const last = word.lastIndexOf('@');
    for (let at = word.indexOf('://'); at !== -1 && at < last; at = word.indexOf('://', at + 3)) {
      const slash = word.indexOf('/', at + 3);
      const host = word.slice(at + 3, slash === -1 ? undefined : slash);
      // `https://host/@scope/name`: nothing stands before the host.
      if (/[:@]/.test(host)) return `${word.slice(0, at + 3)}${REDACTED}${word.slice(last)}`;
    }
    return word;
  });
}

/** `name=value`, also when it is itself the value of an innocent name: `--env=DB_PASSWORD=…`, `https://h/?token=…`. */
function redactPairs(text: string): string {
  let out = '';
  let from = 0;
  PAIR.lastIndex = 0;
  for (let found = PAIR.exec(text); found !== null; found = PAIR.exec(text)) {
    const [all, name = ''] = found;
    if (!isSecretName(name)) continue; // on inside the value
    VALUE.lastIndex = found.index + all.length;
    if (!VALUE.test(text)) continue;
    out += `${text.slice(from, found.index + all.length)}${REDACTED}`;
    from = PAIR.lastIndex = VALUE.lastIndex;
  }
  return out + text.slice(from);
}

/** The value of a header goes to the end of the line, or of the quotes it stands in: it may well hold spaces. */
function redactHeaders(text: string): string {
  let out = '';
  let from = 0;
  HEADER.lastIndex = 0;
  for (let found = HEADER.exec(text); found !== null; found = HEADER.exec(text)) {
    const [all, before = '', , between = '', opening = ''] = found;
    const start = found.index + all.length;
    const quote = opening !== '' ? opening : /^["']/.test(between) ? '' : before;
    const end = endOfValue(text, start, quote);
    out += text.slice(from, start) + (end > start ? REDACTED : '');
    from = end;
    HEADER.lastIndex = Math.max(end, start);
  }
  return out + text.slice(from);
}

function endOfValue(text: string, start: number, quote: string): number {
  const line = text.slice(start).search(/[\r\n]/);
  const closing = quote === '' ? -1 : text.indexOf(quote, start);
  const ends = [line === -1 ? text.length : start + line, closing === -1 ? text.length : closing];
  return Math.min(...ends);
}
