// What a caller gives an action: words, options and files become the values of its fields.

import { parseArguments, splitWords, UnterminatedQuoteError } from '../arguments.js';
import { RefusedError } from '../refused.js';
import { type Failure, fail } from '../result.js';
import type { Action, Field } from './action.js';
import { checkField } from './check-field.js';
import { textOf, type Value } from './value.js';

/** Of a value that comes by `--field-file`. */
export const MAX_FIELD_FILE_BYTES = 1024 * 1024;
/** Names listed when one is unknown. */
const LISTED_NAMES = 20;

/** What is around a caller: its topic, its files, the variables of its app. */
export interface Surroundings {
  readonly variables: ReadonlyMap<string, string>;
  readonly shortcut: (name: string) => Value | undefined;
  readonly shortcutNames: () => readonly string[];
  /** The text of a file of the caller's. */
  readonly readFile: (path: string) => Promise<string | Failure>;
  /** `$NAME` of the app; undefined when it is not set. */
  readonly env: (name: string) => string | undefined;
}

export interface Inputs {
  readonly help: boolean;
  readonly dryRun: boolean;
  /** Of fields, and of options that no field was declared for. */
  readonly values: ReadonlyMap<string, Value>;
  /** Those whose value is the author's, with secrets in it: `$NAME` as it was written. */
  readonly secretDefaults: ReadonlyMap<string, string>;
  /** `$ARGS`. */
  readonly args: readonly string[];
}

export async function readInputs(
  action: Action,
  text: string,
  around: Surroundings,
): Promise<Inputs | Failure> {
  try {
    return await read(action, text, around);
  } catch (thrown) {
    if (thrown instanceof RefusedError) return thrown.failure;
    if (thrown instanceof UnterminatedQuoteError) return fail('INVALID_PAYLOAD', thrown.message);
    throw thrown;
  }
}

async function read(action: Action, text: string, around: Surroundings): Promise<Inputs> {
  const { fields } = action;
  const takesAll = fields.length === 0 && /\$\{?ARGS\b/u.test(action.target);
  const dryRun = findDryRun(action, text, takesAll);
  const { help, options, operands } = parseArguments(text, {
    flags: fields.some(({ name }) => name === 'dry-run') ? [] : ['dry-run'],
    booleans: fields.filter(({ type }) => type === 'boolean').map(({ name }) => name),
    short: Object.fromEntries(
      fields.flatMap(({ name, short }) => (short === undefined ? [] : [[short, name]])),
    ),
  });
  const nothing = { help, dryRun, values: new Map(), secretDefaults: new Map(), args: [] };
  if (help) return nothing;
  const values = new Map<string, Value>();
  const literal = await readFieldFiles(action, options, around);
  const words = new Map(options);
  if (dryRun) words.delete('dry-run');
  if (takesAll) words.clear();
  for (const name of literal.used) words.delete(name);
  refuseUnknown(action, words);
  fillByPosition(action, words, literal.values, operands);
  for (const [name, given] of words) values.set(name, resolveValue(fields, name, given, around));
  for (const [name, value] of literal.values) values.set(name, value);
  checkAll(fields, values);
  const secretDefaults = addDefaults(fields, values, around);
  const ordered = inOrder(fields, values);
  const args = takesAll || /\$\{?ARGS\b/u.test(action.target) ? readArgs(text, dryRun, around) : [];
  return { help, dryRun, values: ordered, secretDefaults, args };
}

/** As the author declared them, whichever way they were given; then what was not declared. */
function inOrder(fields: readonly Field[], values: ReadonlyMap<string, Value>): Map<string, Value> {
  const declared = fields.flatMap(({ name }) => {
    const value = values.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return new Map([...declared, ...values]);
}

/** Of a program that takes whatever comes, `--dry-run` may be its own: there it has to come first. */
function findDryRun({ fields }: Action, text: string, takesAll: boolean): boolean {
  if (fields.some(({ name }) => name === 'dry-run')) return false;
  const words = splitWords(text).map((word) => (word.quoted ? '' : word.text));
  if (takesAll) return words[0] === '--dry-run';
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).includes('--dry-run');
}

interface FieldFiles {
  readonly values: ReadonlyMap<string, string>;
  readonly used: readonly string[];
}

/** What is in a file is taken as it is. */
async function readFieldFiles(
  { fields }: Action,
  options: ReadonlyMap<string, string | true>,
  { readFile }: Surroundings,
): Promise<FieldFiles> {
  const values = new Map<string, string>();
  const used: string[] = [];
  for (const { name } of fields) {
    const option = `${name}-file`;
    const path = options.get(option);
    if (path === undefined || fields.some((other) => other.name === option)) continue;
    if (path === true) refuse(`Flag --${option} requires a value (a path).`);
    if (options.has(name)) refuse(`pass either --${name} or --${option}`);
    const content = await readFile(path);
    if (typeof content !== 'string') throw new RefusedError(content);
    values.set(name, content);
    used.push(option);
  }
  return { values, used };
}

/** To a command they would mean nothing, and what they were meant for would be missed; a request takes them along. */
function refuseUnknown({ method, fields, target }: Action, words: ReadonlyMap<string, unknown>): void {
  if (method !== 'CLI' || fields.length === 0 || /\$\{?ARGS\b|\{\.\.\.args\}/u.test(target)) return;
  const isKnown = (name: string): boolean =>
    fields.some((field) => field.name === name) || target.includes(`{${name}`);
  const odd = [...words.keys()].find((name) => !isKnown(name));
  if (odd === undefined) return;
  refuse(
    `Unknown flag: ${odd.length === 1 ? '-' : '--'}${odd}`,
    `Flags: ${fields.map(({ name }) => `--${name}`).join(', ')}`,
    'A value that begins with a dash: --name=VALUE, or after --',
  );
}

/** Those that have no value yet, in the order in which they were declared. */
function fillByPosition(
  { fields, target }: Action,
  words: Map<string, string | true>,
  files: ReadonlyMap<string, string>,
  operands: readonly string[],
): void {
  if (fields.length === 0) return;
  const free = fields.filter(({ name }) => !words.has(name) && !files.has(name));
  if (operands.length > free.length && !/\$\{?ARGS\b/u.test(target))
    refuse(
      `Too many positional arguments: ${operands.length} given, ${free.length} of the fields are free.`,
      'Quote a value that has blanks in it.',
    );
  for (const [at, { name }] of free.entries()) {
    const operand = operands[at];
    if (operand !== undefined) words.set(name, operand);
  }
}

function resolveValue(
  fields: readonly Field[],
  name: string,
  given: string | true,
  around: Surroundings,
): Value {
  const field = fields.find((each) => each.name === name);
  if (given === true) {
    if (field !== undefined && field.type !== 'boolean')
      refuse(`Flag --${name} requires a value (declared type: ${field.type}).`);
    return 'true';
  }
  const text = expand(given, around);
  if (!/^@[\w-]+(?:\.[\w-]+)?$/u.test(text)) return text;
  const value = around.shortcut(text.slice(1));
  if (value === undefined) {
    const names = around.shortcutNames();
    const listed = names.slice(0, LISTED_NAMES).map((each) => `@${each}`);
    const more = names.length > listed.length ? `, … ${names.length - listed.length} more` : '';
    throw new RefusedError(
      fail(
        'NOT_FOUND',
        `Unknown shortcut: ${text}`,
        `Available: ${listed.length === 0 ? '(none)' : listed.join(', ')}${more}`,
      ),
    );
  }
  return value;
}

/** `{name}` of the topic; a secret is nothing that a caller can ask for. */
function expand(text: string, { variables }: Surroundings): string {
  const [secret] = /\$[A-Za-z_]\w*/u.exec(text) ?? [];
  if (secret !== undefined)
    refuse(
      `$var cannot be used in command arguments: ${secret}`,
      'Actions refer to $NAME themselves; {name} is a variable of this topic.',
    );
  return text.replaceAll(/\{([A-Za-z_]\w*)\}/gu, (whole, name: string) => variables.get(name) ?? whole);
}

function checkAll(fields: readonly Field[], values: ReadonlyMap<string, Value>): void {
  for (const field of fields) {
    const value = values.get(field.name);
    const problem = value === undefined ? undefined : checkField(field, value);
    if (problem !== undefined) refuse(problem);
  }
}

function addDefaults(
  fields: readonly Field[],
  values: Map<string, Value>,
  { env }: Surroundings,
): Map<string, string> {
  const secret = new Map<string, string>();
  for (const { name, default: text } of fields) {
    if (text === undefined || values.has(name)) continue;
    const value = text.replaceAll(/\$([A-Za-z_]\w*)/gu, (_, variable: string) => {
      secret.set(name, text);
      return env(variable) ?? refuse(...unresolved(variable));
    });
    values.set(name, value);
  }
  return secret;
}

/** What is said of a `$NAME` that is needed and not set. */
export function unresolved(name: string): [string, string] {
  return [`Unresolved environment variable: $${name}`, `Set it in the app's topic: /set $${name} = "..."`];
}

function readArgs(text: string, dryRun: boolean, around: Surroundings): string[] {
  const words = splitWords(text).map((word) => ({ ...word }));
  if (dryRun)
    words.splice(
      words.findIndex((word) => !word.quoted && word.text === '--dry-run'),
      1,
    );
  if (words[0]?.quoted === false && words[0].text === '--') words.shift();
  return words.map((word) => {
    const value = expand(word.text, around);
    return /^@[\w-]+$/u.test(value) ? textOf(around.shortcut(value.slice(1)) ?? value) : value;
  });
}

function refuse(message: string, ...context: string[]): never {
  throw new RefusedError(fail('INVALID_PAYLOAD', message, ...context));
}
