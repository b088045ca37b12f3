// Command-line flags of the servers: one table gives the parsing, the help and the errors.
//
// node:util's parseArgs, not a framework: a server that is started once per connection cannot spend 7 ms on its flags.

import { parseArgs } from 'node:util';
import { LocalError } from '../base/errors.js';
import { nearest } from '../base/nearest.js';

export interface Flag {
  readonly summary: string;
  readonly short?: string;
  /** Name of the value in the help, for flags that take one. */
  readonly value?: string;
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
  const options = Object.fromEntries(
    Object.entries(usage.flags).map(([name, flag]) => [
      name,
      {
        type: flag.value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: true,
        ...(flag.short !== undefined && { short: flag.short }),
      },
    ]),
  );
  const given = new Map<string, (string | boolean)[]>();
  const { tokens } = parseArgs({
    args: args.map((arg) => longForm(usage, arg)),
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`unexpected argument "${token.value}"`);
    if (token.kind !== 'option') continue;
    const value = checked(usage, token);
    const earlier = given.get(token.name) ?? [];
    // Which of two did they mean? The wrong guess could allow what was not to be allowed.
    if (earlier.length > 0 && usage.flags[token.name]?.repeatable !== true)
      throw new UsageError(`${token.rawName} may be given only once`);
    given.set(token.name, [...earlier, value]);
  }
  return {
    has: (name) => given.has(name),
    value: (name) => given.get(name)?.map(String).at(-1),
    values: (name) => given.get(name)?.map(String) ?? [],
  };
}

export function helpText(usage: Usage): string {
  const rows = Object.entries(usage.flags).map(([name, flag]) => {
    const left = `${flag.short === undefined ? '    ' : `-${flag.short}, `}--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
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

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

/** `-config x` as `--config x`: scripts written for another implementation of the same protocol use one dash. */
function longForm(usage: Usage, arg: string): string {
  const name = /^-([a-z][a-z-]+)(=|$)/.exec(arg)?.[1];
  return name !== undefined && Object.hasOwn(usage.flags, name) ? `-${arg}` : arg;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function checked(usage: Usage, { name, rawName, value, inlineValue }: OptionToken): string | boolean {
  const flag = Object.hasOwn(usage.flags, name) ? usage.flags[name] : undefined; // not `--constructor`
  if (flag === undefined) {
    const close = nearest(name, Object.keys(usage.flags));
    throw new UsageError(
      `unknown option ${rawName}${close === undefined ? '' : `; did you mean --${close}?`}`,
    );
  }
  if (flag.value === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    return true;
  }
  // `--root --stdio` has forgotten a value; a value that really begins with dashes can be given as `--root=--odd`.
  const forgotten = value?.startsWith('--') === true && inlineValue !== true;
  if (value === undefined || value === '' || forgotten)
    throw new UsageError(`${rawName} needs a value: ${rawName} ${flag.value}`);
  return value;
}
