// The command line of an action with its values in place: a script for bash that has none of them, and an environment
// that has them all. Bash never reads a value as text of a command, so there is nothing in one that it could run.

import { type CommandPart, type Quote, readCommand } from './read-command.js';
import { refuseRisk, type Risk } from './command-risk.js';
import { LocalError } from '../../base/errors.js';
import type { Slot } from './slot.js';

/** A string of an environment may have 128 KiB with its name; larger values come by a file. */
export const MAX_ENVIRONMENT_VALUE_BYTES = 96 * 1024;
const PREFIX = 'STRING_SLOT_';

export class UnfitValueError extends LocalError {
  override readonly name = 'UnfitValueError';

  constructor(slot: string, why: string) {
    super('unfit_value', `${slot}: ${why}`);
  }
}

export interface SlotValue {
  /** Absent, for a field that was not given: nothing stands there then, not even an empty word. */
  readonly text?: string;
}

export interface CommandValues {
  /** Undefined for a slot that is none of ours: it is left as it is. */
  readonly slot: (slot: Slot) => SlotValue | undefined;
  /** Of `{...args}`. */
  readonly spread: () => readonly string[];
  /** `$NAME` that the app has a value for: also put into single quotes. */
  readonly isOwn: (name: string) => boolean;
  /** Those that the environment has in any case, such as HOME: kept together where bash would split them. */
  readonly isSet: (name: string) => boolean;
}

export interface FilledCommand {
  readonly script: string;
  /** For the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Too large for it: to be read from files. */
  readonly large: Readonly<Record<string, string>>;
  /** The same with the values in it, quoted; not to be run. */
  readonly shown: string;
}

/** `$ARGS` are the arguments of the script. Throws UnfitValueError. */
export function fillCommand(command: string, values: CommandValues, args: readonly string[]): FilledCommand {
  const env: Record<string, string> = {};
  const large: Record<string, string> = {};
  let count = 0;
  const keep = (value: string): string => {
    const name = `${PREFIX}${(count += 1)}`;
    if (Buffer.byteLength(value) > MAX_ENVIRONMENT_VALUE_BYTES) large[name] = value;
    else env[name] = value;
    return name;
  };
  let script = '';
  let shown = '';
  for (const part of readCommand(command)) {
    const filled = fillPart(part, values, args, keep);
    script += filled.script;
    shown += filled.shown;
  }
  return { script, env, large, shown };
}

interface Filled {
  readonly script: string;
  readonly shown: string;
}

function fillPart(
  part: CommandPart,
  values: CommandValues,
  args: readonly string[],
  keep: (value: string) => string,
): Filled {
  if (part.kind === 'text') return { script: part.text, shown: part.text };
  if (part.kind === 'variable') return fillVariable(part, values, args);
  const { slot, quote, risk } = part;
  if (slot.spread) {
    const all = values.spread();
    for (const each of all) assertFit(slot.raw, each, risk);
    return fillSpread(all, quote, keep);
  }
  const found = values.slot(slot);
  if (found === undefined) return { script: slot.raw, shown: slot.raw };
  const value = found.text;
  if (value === undefined) return { script: '', shown: '' };
  assertFit(slot.raw, value, risk);
  // Where bash calculates, quotes are in the way; nothing but digits has come so far.
  if (risk === 'number') return { script: value, shown: value };
  return { script: inside(quote, `\${${keep(value)}}`), shown: insideLiteral(quote, value) };
}

function assertFit(place: string, value: string, risk: Risk | undefined): void {
  if (value.includes('\0')) throw new UnfitValueError(place, 'a command cannot be given a NUL character');
  const why = risk === undefined ? undefined : refuseRisk(risk, value);
  if (why !== undefined) throw new UnfitValueError(place, why);
}

function fillVariable(
  { name, raw, quote, risk }: Extract<CommandPart, { kind: 'variable' }>,
  { isOwn, isSet }: CommandValues,
  args: readonly string[],
): Filled {
  if (name === 'ARGS') {
    for (const each of args) assertFit(raw, each, risk);
    const joined = args.join(' ');
    const shown =
      quote === 'plain' ? args.map((each) => quoteForShell(each)).join(' ') : insideLiteral(quote, joined);
    return { script: quote === 'plain' ? '"$@"' : inside(quote, '$*'), shown };
  }
  const inQuotes = quote === 'single' || quote === 'ansi';
  if (inQuotes ? !isOwn(name) : !(isOwn(name) || isSet(name))) return { script: raw, shown: raw };
  return { script: inside(quote, `\${${name}}`), shown: raw };
}

function fillSpread(args: readonly string[], quote: Quote, keep: (value: string) => string): Filled {
  const names = args.map((each) => `\${${keep(each)}}`);
  if (quote !== 'plain')
    return { script: inside(quote, names.join(' ')), shown: insideLiteral(quote, args.join(' ')) };
  return {
    script: names.map((name) => `"${name}"`).join(' '),
    shown: args.map((each) => quoteForShell(each)).join(' '),
  };
}

/** An expansion, kept in one piece: what is quoted otherwise is closed before it and opened again behind it. */
function inside(quote: Quote, expansion: string): string {
  switch (quote) {
    case 'double':
      return expansion;
    case 'single':
      return `'"${expansion}"'`;
    case 'ansi':
      return `'"${expansion}"$'`;
    default:
      return `"${expansion}"`;
  }
}

function insideLiteral(quote: Quote, value: string): string {
  switch (quote) {
    case 'double':
      return `"${quoteForShell(value)}"`;
    case 'single':
      return value.replaceAll("'", String.raw`'\''`);
    case 'ansi':
      return `'${quoteForShell(value)}$'`;
    default:
      return quoteForShell(value);
  }
}

export function quoteForShell(value: string): string {
  if (/^[\w\-./=@:+,]+$/u.test(value)) return value;
  return `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
