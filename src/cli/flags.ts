// Command-line flags of the servers: one table gives the parsing, the help and the errors.
//
// Written out: a server that is started once per connection cannot spend 7 ms on a framework for its flags, and even
// node:util's parseArgs takes a whole one.

import { LocalError } from '../base/errors.js';
import { nearest } from '../base/nearest.js';

export interface Flag {
  readonly summary: string;
  readonly short?: string;
  /** Name of the value in the help, for flags that take one. */
  readonly value?: string;
  /** The value may be left out, and is then empty; it is given as `--name=VALUE` only. */
  readonly optional?: boolean;
  readonly repeatable?: boolean;
}

export interface Usage {
  readonly program: string;
  readonly summary: string;
  readonly synopsis: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Command and what it does. */
  readonly examples: readonly (readonly [string, string])[];
  /** Anything else worth a paragraph: files read, environment, exit codes. */
  readonly notes?: readonly string[];
}

export class UsageError extends LocalError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super('usage', message);
  }
}

export interface Flags {
  /** True when the flag was given. */
  has(name: string): boolean;
  /** Its value; of a repeated flag, the last. */
  value(name: string): string | undefined;
  /** Every value of a repeatable flag, in order. */
  values(name: string): readonly string[];
}

export function parseFlags(usage: Usage, args: readonly string[]): Flags {
  const given = new Map<string, (string | true)[]>();
  for (const { name, flag, shown, value } of readFlags(usage, args)) {
    const earlier = given.get(name) ?? [];
    // Which of two did they mean? The wrong guess could allow what was not to be allowed.
    if (earlier.length > 0 && flag.repeatable !== true)
      throw new UsageError(`${shown} may be given only once`);
    given.set(name, [...earlier, value]);
  }
  return {
    has: (name) => given.has(name),
    value: (name) => given.get(name)?.map(String).at(-1),
    values: (name) => given.get(name)?.map(String) ?? [],
  };
}

export function helpText(usage: Usage): string {
  const rows = Object.entries(usage.flags).map(([name, flag]) => {
    const left = `${flag.short === undefined ? '    ' : `-${flag.short}, `}--${name}${sayValue(flag)}`;
    return [left, `${flag.summary}${flag.repeatable === true ? ' (repeatable)' : ''}`] as const;
  });
  return [
    `${usage.program}: ${usage.summary}`,
    `Usage:\n  ${usage.synopsis}`,
    `Options:\n${columns(rows)}`,
    `Examples:\n${usage.examples.map(([command, what]) => `  # ${what}\n  ${command}`).join('\n')}`,
    ...(usage.notes ?? []),
  ].join('\n\n');
}

function sayValue({ value, optional }: Flag): string {
  if (value === undefined) return '';
  return optional === true ? `[=${value}]` : ` ${value}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

interface GivenFlag {
  readonly name: string;
  readonly flag: Flag;
  /** As it was written: `--config`, `-f`. */
  readonly shown: string;
  readonly value: string | true;
}

/** No generator: its first use costs a binary more than all the rest of this. */
function readFlags(usage: Usage, args: readonly string[]): GivenFlag[] {
  const given: GivenFlag[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, dashes = '', written = '', inline] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
    if (arg === '--') {
      if (rest[0] !== undefined) throw new UsageError(`unexpected argument "${rest[0]}"`);
    } else if (dashes === '' || arg === '-') {
      throw new UsageError(`unexpected argument "${arg}"`);
    } else if (dashes === '--' || Object.hasOwn(usage.flags, written)) {
      // One dash before a long name: scripts written for another implementation of the same protocol have it so.
      given.push(readFlag(usage, written, `--${written}`, inline, rest));
    } else {
      given.push(...readLetters(usage, arg.slice(1), rest));
    }
  }
  return given;
}

/** `-hf x` and `-hfx`: each letter a flag, and what follows one that takes a value is its value. */
function readLetters(usage: Usage, letters: string, rest: string[]): GivenFlag[] {
  const given: GivenFlag[] = [];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters.charAt(at);
    const name = Object.keys(usage.flags).find((each) => usage.flags[each]?.short === letter) ?? letter;
    const tail = letters.slice(at + 1);
    const takes = Object.hasOwn(usage.flags, name) && usage.flags[name]?.value !== undefined;
    given.push(readFlag(usage, name, `-${letter}`, takes && tail !== '' ? tail : undefined, rest));
    if (takes) break;
  }
  return given;
}

function readFlag(
  usage: Usage,
  name: string,
  shown: string,
  inline: string | undefined,
  rest: string[],
): GivenFlag {
  const flag = Object.hasOwn(usage.flags, name) ? usage.flags[name] : undefined; // not `--constructor`
  if (flag === undefined) {
    const close = shown.startsWith('--') ? nearest(name, Object.keys(usage.flags)) : undefined;
    throw new UsageError(`unknown option ${shown}${close === undefined ? '' : `; did you mean --${close}?`}`);
  }
  if (flag.value === undefined) {
    if (inline !== undefined) throw new UsageError(`${shown} takes no value`);
    return { name, flag, shown, value: true };
  }
  if (flag.optional === true) return { name, flag, shown, value: inline ?? '' };
  // `--root --stdio` has forgotten a value; a value that really begins with a dash can be given as `--root=-odd`.
  const isNext = rest[0] === '-' || rest[0]?.startsWith('-') === false;
  const value = inline ?? (isNext ? rest.shift() : undefined) ?? '';
  if (value === '') throw new UsageError(`${shown} needs a value: ${shown} ${flag.value}`);
  return { name, flag, shown, value };
}
