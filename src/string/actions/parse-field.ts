// One field of an action: `name, -x: type (required, max:50) "description" = "default"`, the last three in any order.

import { type Field, FIELD_TYPES, type FieldType } from './action.js';

export interface ParsedField {
  readonly field?: Field;
  /** What could not be understood; without a field, all of it. */
  readonly problems: readonly string[];
}

const HEAD = /^([A-Za-z_][\w-]*)(?:\s*,\s*-([A-Za-z0-9]))?\s*:\s*([^\s("'=]+)\s*/u;
const LIMIT = /^(min|max)\s*[:=]\s*(-?\d+(?:\.\d+)?)$/u;
const CONSTRAINTS = /^\(([^)]*)\)\s*/u;
const DOUBLE = /^"((?:[^"\\]|\\.)*)"\s*/su;
const SINGLE = /^'([^']*)'\s*/u;
/** What follows `=` without quotes ends where a description or constraints begin. */
const BARE = /^([^\s"'(]\S*(?:\s+(?!["'(])\S+)*)\s*/u;

/** Other words for the same types. */
const OTHER_NAMES: Readonly<Record<string, FieldType>> = {
  text: 'string',
  str: 'string',
  integer: 'number',
  int: 'number',
  float: 'number',
  bool: 'boolean',
  file: 'path',
  object: 'json',
  array: 'json',
  enum: 'string',
};

export function parseField(text: string): ParsedField {
  const head = HEAD.exec(text.trim());
  if (head === null) return { problems: [`not a field: ${text.trim()}`] };
  const [all, name = '', short, typeWord = ''] = head;
  const problems: string[] = [];
  const found = readRest(text.trim().slice(all.length), problems);
  const choices = typeWord.includes('|') ? splitChoices(typeWord) : found.choices;
  const type = typeWord.includes('|') ? 'string' : typeOf(typeWord);
  if (type === undefined) problems.push(`unknown type ${typeWord}, taken for string`);
  return {
    field: {
      name,
      short,
      type: type ?? 'string',
      required: found.required,
      description: found.description,
      default: found.default,
      choices,
      min: found.min,
      max: found.max,
    },
    problems,
  };
}

interface Rest {
  required: boolean;
  description: string | undefined;
  default: string | undefined;
  choices: readonly string[] | undefined;
  min: number | undefined;
  max: number | undefined;
}

function readRest(text: string, problems: string[]): Rest {
  const rest: Rest = {
    required: false,
    description: undefined,
    default: undefined,
    choices: undefined,
    min: undefined,
    max: undefined,
  };
  let left = text;
  while (left !== '') {
    const before = left;
    const constraints = CONSTRAINTS.exec(left);
    if (constraints !== null) {
      left = left.slice(constraints[0].length);
      for (const each of (constraints[1] ?? '').split(',')) readConstraint(each.trim(), rest, problems);
      continue;
    }
    const isDefault = left.startsWith('=');
    if (isDefault) left = left.slice(1).trimStart();
    const value = readValue(left, isDefault);
    if (value === undefined) {
      if (isDefault) rest.default = '';
      else problems.push(`not understood: ${before}`);
      if (!isDefault || left !== '') return rest;
      continue;
    }
    left = left.slice(value.length);
    if (isDefault) rest.default = value.text;
    else rest.description = value.text;
  }
  return rest;
}

function readValue(text: string, bare: boolean): { text: string; length: number } | undefined {
  const double = DOUBLE.exec(text);
  if (double !== null)
    return { text: (double[1] ?? '').replaceAll(/\\(["\\])/gu, '$1'), length: double[0].length };
  const single = SINGLE.exec(text) ?? (bare ? BARE.exec(text) : null);
  return single === null ? undefined : { text: single[1] ?? '', length: single[0].length };
}

function readConstraint(text: string, rest: Rest, problems: string[]): void {
  const limit = LIMIT.exec(text);
  if (text === 'required') rest.required = true;
  else if (text === 'optional') rest.required = false;
  else if (limit !== null) rest[limit[1] === 'min' ? 'min' : 'max'] = Number(limit[2]);
  else if (text.includes('|')) rest.choices = splitChoices(text);
  else if (text !== '') problems.push(`unknown constraint: ${text}`);
}

function splitChoices(text: string): readonly string[] {
  return text.split('|').map((each) => each.trim());
}

function typeOf(word: string): FieldType | undefined {
  const lower = word.toLowerCase();
  return (
    FIELD_TYPES.find((type) => type === lower) ??
    (Object.hasOwn(OTHER_NAMES, lower) ? OTHER_NAMES[lower] : undefined)
  );
}
