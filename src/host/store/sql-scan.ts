// How many statements and placeholders an SQL text has: what the driver does not check.

export interface SqlShape {
  readonly statements: number;
  /** Plain `?`. */
  readonly placeholders: number;
  /** `?1`, `:name`, `@name`, `$name`. */
  readonly namedPlaceholders: number;
}

/** One token at a time; quoted text and comments are one token each, whatever they hold. */
const TOKEN = new RegExp(
  [
    /'(?:[^']|'')*(?:'|$)/, // text
    /"(?:[^"]|"")*(?:"|$)/, // names, in the three ways there are to quote them
    /`(?:[^`]|``)*(?:`|$)/,
    /\[[^\]]*(?:\]|$)/,
    /--[^\n]*/,
    /\/\*[^]*?(?:\*\/|$)/,
    /\s+/,
    /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/, // words; a dollar sign inside is part of it
    /\?\d*/,
    /[:@$#][\w$:]+/,
    /[^]/,
  ]
    .map((part) => part.source)
    .join('|'),
  'g',
);

export function scanSql(sql: string): SqlShape {
  let statements = 0;
  let placeholders = 0;
  let namedPlaceholders = 0;
  let begun = false;
  for (const [token] of sql.matchAll(TOKEN)) {
    if (isFiller(token)) continue;
    if (token === ';') {
      begun = false;
      continue;
    }
    if (!begun) statements += 1;
    begun = true;
    if (token === '?') placeholders += 1;
    else if (isName(token)) namedPlaceholders += 1;
  }
  return { statements, placeholders, namedPlaceholders };
}

function isFiller(token: string): boolean {
  return token.trim() === '' || token.startsWith('--') || token.startsWith('/*');
}

function isName(token: string): boolean {
  return token.length > 1 && /^[?:@$#]/.test(token);
}
