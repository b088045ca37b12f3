// Patterns for commands: a program by name or absolute path, then globs for its arguments.

import { basename, dirname, normalize } from 'node:path/posix';
import { LocalError } from '../base/errors.js';

/** `git push --force`, or the same as a list of words when a word holds spaces. */
export type CommandPattern = string | readonly string[];

/** A pattern is as long as a long command line that a person would write; what is longer is a mistake in the file. */
export const MAX_PATTERN_CHARS = 4096;
/** Rules of one list: every command is held against all of them, so this bounds the time a decision takes. */
export const MAX_RULES = 1000;

const SYSTEM_FOLDERS = new Set(
  ['', '/usr', '/usr/local', '/opt/homebrew', '/run/current-system/sw'].flatMap((root) => [
    `${root}/bin`,
    `${root}/sbin`,
  ]),
);

/** What a pattern is held against. */
export interface NamedCommand {
  readonly argv: readonly string[];
  /** `argv[0]` with `.` and `..` taken out; symbolic links are not looked at. */
  readonly program: string;
  readonly base: string;
  /** Found by name through PATH or in a folder of the system, and `untouched`. */
  readonly trusted: boolean;
  /** Nothing is set for it but what is known to change no code. */
  readonly untouched: boolean;
  /** More arguments, which cannot be seen, follow those of `argv`. */
  readonly open: boolean;
}

export class CommandRuleError extends LocalError {
  override readonly name = 'CommandRuleError';

  constructor(rule: string, wrong: string) {
    super('bad_command_rule', `${rule}: ${wrong}`, { facts: { rule } });
  }
}

type Token = { readonly star: true } | { readonly char: string | undefined };
type Glob = readonly Token[];

export interface CompiledPattern {
  readonly text: string;
  readonly program: Glob;
  readonly programBase: Glob;
  readonly byPath: boolean;
  /** `undefined` stands for any number of arguments. */
  readonly args: readonly (Glob | undefined)[];
}

/**
 * In a word `*` is any text, `?` one character, `\` takes the meaning from the next one. A word `**` is any number of
 * arguments. More arguments may follow than the pattern has, unless it ends in the word `$`. Throws a
 * CommandRuleError that names the rule.
 */
export function compilePattern(pattern: CommandPattern, rule: string): CompiledPattern {
  const words = typeof pattern === 'string' ? pattern.split(/\s+/).filter((word) => word !== '') : pattern;
  const text = Array.isArray(pattern) ? JSON.stringify(pattern) : String(pattern);
  const fail = (wrong: string): never => {
    throw new CommandRuleError(`${rule} ${JSON.stringify(text.slice(0, 80))}`, wrong);
  };
  if (!Array.isArray(words) || words.some((word) => typeof word !== 'string')) return fail('expected words');
  if (text.length > MAX_PATTERN_CHARS) return fail(`longer than ${MAX_PATTERN_CHARS} characters`);
  const [program, ...rest] = words as readonly string[];
  if (program === undefined || program === '') return fail('names no program');
  if (program === '**' || program === '$') return fail(`begins with ${program}, expected a program`);
  if (program.includes('/') && !program.startsWith('/'))
    return fail('expected a bare name or an absolute path');
  const closed = rest.at(-1) === '$';
  const args = closed ? rest.slice(0, -1) : rest;
  if (args.includes('$')) return fail('`$` may only come last (write `\\$` for the character)');
  const glob = (word: string): Glob => compileGlob(word) ?? fail('ends in a backslash');
  const path = program.includes('/') ? normalize(program) : program;
  return {
    text,
    program: glob(path),
    programBase: glob(basename(path)),
    byPath: path.includes('/'),
    args: [...args.map((word) => (word === '**' ? undefined : glob(word))), ...(closed ? [] : [undefined])],
  };
}

/** For a refusal: matches as widely as can be meant, since what cannot be told apart should be refused. */
export function matchesWidely(pattern: CompiledPattern, command: NamedCommand): boolean {
  const isPath = command.program.startsWith('/');
  const program =
    pattern.byPath && isPath
      ? otherPaths(command).some((path) => matchGlob(pattern.program, path))
      : matchGlob(pattern.programBase, command.base);
  if (!program) return false;
  if (!command.open) return matchArgs(pattern.args, command);
  // What follows unseen may be whatever the rest of the pattern asks for.
  return Array.from({ length: pattern.args.length + 1 }, (_, end) => pattern.args.slice(0, end)).some(
    (beginning) => matchArgs(beginning, command),
  );
}

/** For a permission: matches only what is surely meant. A name stands for what PATH or the system has, not for any file so named. */
export function matchesNarrowly(pattern: CompiledPattern, command: NamedCommand): boolean {
  const program = pattern.byPath
    ? command.untouched && command.program.startsWith('/') && matchGlob(pattern.program, command.program)
    : command.trusted && matchGlob(pattern.program, command.base);
  // Arguments that follow unseen are only allowed where any may follow.
  const mayFollow = !command.open || (pattern.args.length > 0 && pattern.args.at(-1) === undefined);
  return program && mayFollow && matchArgs(pattern.args, command);
}

/** Whether `program` is a path to something in a folder that only the system installs into. */
export function isInSystem(program: string): boolean {
  return SYSTEM_FOLDERS.has(dirname(program));
}

/** The folders of the system are links to each other more often than not: `/bin/rm` is `/usr/bin/rm`. */
function otherPaths({ program, base }: NamedCommand): string[] {
  const others = isInSystem(program) ? [...SYSTEM_FOLDERS].map((folder) => `${folder}/${base}`) : [];
  return [program, ...others];
}

function matchArgs(pattern: CompiledPattern['args'], command: NamedCommand): boolean {
  const args = command.argv.slice(1);
  return matchStarred(
    args.length,
    pattern.length,
    (p) => pattern[p] === undefined,
    (i, p) => matchGlob(pattern[p] ?? [], args[i] ?? ''),
  );
}

function matchGlob(glob: Glob, text: string): boolean {
  return matchStarred(
    text.length,
    glob.length,
    (p) => 'star' in (glob[p] ?? {}),
    (i, p) => {
      const token = glob[p];
      return token !== undefined && 'char' in token && (token.char === undefined || token.char === text[i]);
    },
  );
}

/** Without regular expressions: time is at most items × pattern, so no pattern and no argument can stall the server. */
function matchStarred(
  items: number,
  pattern: number,
  isStar: (p: number) => boolean,
  isEqual: (item: number, p: number) => boolean,
): boolean {
  let [item, p] = [0, 0];
  let [starAt, retryFrom] = [-1, 0];
  while (item < items) {
    if (p < pattern && isStar(p)) {
      [starAt, retryFrom] = [p, item];
      p += 1;
    } else if (p < pattern && isEqual(item, p)) {
      item += 1;
      p += 1;
    } else if (starAt >= 0) {
      retryFrom += 1;
      [item, p] = [retryFrom, starAt + 1];
    } else return false;
  }
  while (p < pattern && isStar(p)) p += 1;
  return p === pattern;
}

/** Undefined when the pattern ends in the middle of an escape. */
function compileGlob(word: string): Glob | undefined {
  const tokens: Token[] = [];
  for (let i = 0; i < word.length; i++) {
    const char = word[i];
    if (char === '*') tokens.push({ star: true });
    else if (char === '?') tokens.push({ char: undefined });
    else if (char === '\\') {
      i += 1;
      if (i === word.length) return undefined;
      tokens.push({ char: word[i] });
    } else tokens.push({ char });
  }
  return tokens;
}
