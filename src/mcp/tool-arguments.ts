// What a model wrote as arguments, read as it was meant: other names, numbers in quotes, null for "none".

import * as z from 'zod/mini';
import { describeIssues, sayIssue } from '../base/schema-issues.js';
import { type JsonSchema, toJsonSchema } from './json-schema.js';
import type { ToolDefinition } from './tool.js';

export type ReadArguments =
  | { readonly ok: true; readonly args: unknown; readonly ignored: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Of the names that mean nothing here, as many as are told. */
export const MAX_IGNORED_NAMES = 8;

/** Never throws, whatever was given. `ignored` are the names of arguments that the tool does not have. */
export function readArguments(definition: ToolDefinition, given: unknown): ReadArguments {
  const value = given === undefined || given === null || given === '' ? {} : parseText(given);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, problems: ['the arguments must be one JSON object'] };
  const fields = fieldsOf(definition);
  const named = new Map<string, unknown>();
  const ignored: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    const name = nameOf(definition, fields, key);
    if (name === undefined) ignored.push(key);
    // null is how strict modes of other interfaces write an argument that was left out.
    else if (member !== null && (key === name || !Object.hasOwn(value, name)))
      named.set(name, convert(member, fields.get(name) ?? {}));
  }
  const args = Object.fromEntries(named);
  const checked = z.safeParse(definition.input, args);
  if (checked.success) return { ok: true, args: checked.data, ignored: shorten(ignored) };
  const issues = describeIssues(checked.error.issues, args).map((issue) => sayIssue(issue, ''));
  const unknown = ignored.length === 0 ? [] : [`there is no argument ${shorten(ignored).join(', ')}`];
  return { ok: false, problems: [...issues, ...unknown] };
}

/** OpenAI gives arguments as text. */
function parseText(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch {
    return undefined;
  }
}

type Fields = ReadonlyMap<string, JsonSchema>;
const known = new WeakMap<ToolDefinition, Fields>();

function fieldsOf(definition: ToolDefinition): Fields {
  let fields = known.get(definition);
  if (fields === undefined) {
    fields = new Map(Object.entries(toJsonSchema(definition.input).properties ?? {}));
    known.set(definition, fields);
  }
  return fields;
}

function nameOf({ aliases = {} }: ToolDefinition, fields: Fields, key: string): string | undefined {
  if (fields.has(key)) return key;
  return Object.hasOwn(aliases, key) ? aliases[key] : undefined;
}

/** Only where nothing else can have been meant; whatever is left wrong is told by the schema. */
function convert(value: unknown, { type }: JsonSchema): unknown {
  if (type === 'array' && typeof value === 'string') {
    const parsed = value.trimStart().startsWith('[') ? parseText(value) : undefined;
    return Array.isArray(parsed) ? parsed : [value];
  }
  if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return Number(value);
  if (type === 'boolean' && /^(true|false)$/i.test(value.trim()))
    return value.trim().toLowerCase() === 'true';
  return value;
}

function shorten(names: readonly string[]): string[] {
  const shown = names.slice(0, MAX_IGNORED_NAMES).map((name) => JSON.stringify(name.slice(0, 64)));
  return names.length > shown.length ? [...shown, '…'] : shown;
}
