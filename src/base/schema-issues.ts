// What is wrong with a value, in words that name the field: `argv[1]: expected string, got number`.

import type * as z from 'zod/mini';
import { nearest } from './nearest.js';

export interface FieldIssue {
  /** `limits.max_output_bytes`, `argv[1]`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** More would not help anybody mend the first; a hostile value must not buy a huge answer with a small question. */
const MAX_ISSUES = 16;

/**
 * `zod/mini` ships no texts, so they are written here from the issue's own facts. `value` is what was checked;
 * `knownKeys` lets an unknown key be answered with the one that was probably meant.
 */
export function describeIssues(
  issues: readonly Issue[],
  value: unknown,
  knownKeys?: (at: Path) => readonly string[],
): FieldIssue[] {
  return issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.slice(0, MAX_ISSUES).map((key) => {
        const close = nearest(key, knownKeys?.(issue.path) ?? []);
        return {
          path: spell([...issue.path, key]),
          message: `unknown key${close === undefined ? '' : `; did you mean "${close}"?`}`,
        };
      });
    }
    return [{ path: spell(issue.path), message: describe(issue, valueAt(value, issue.path)) }];
  });
}

/** One line: `params.argv: expected array, got string`. */
export function sayIssue(issue: FieldIssue, prefix: string): string {
  const path =
    issue.path === ''
      ? prefix
      : `${prefix}${prefix === '' || issue.path.startsWith('[') ? '' : '.'}${issue.path}`;
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

function describe(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined
        ? `is required (${issue.expected})`
        : `expected ${issue.expected}, got ${kindOf(value)}`;
    case 'invalid_value':
      return `expected ${issue.values.map((v) => JSON.stringify(v)).join(' or ')}, got ${shown(value)}`;
    case 'too_small':
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${String(issue.minimum)}${unit(issue.origin)}`;
    case 'too_big':
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${String(issue.maximum)}${unit(issue.origin)}`;
    case 'invalid_format':
      return `expected ${issue.format === 'regex' ? `text like ${issue.pattern ?? 'the pattern'}` : issue.format}`;
    case 'invalid_union':
      return `expected ${[...new Set(issue.errors.flatMap((errors) => errors.map((error) => alternative(error))))].join(' or ')}, got ${kindOf(value)}`;
    case 'custom':
      return issue.message === 'Invalid input' ? 'is not valid' : issue.message;
    default:
      return 'is not valid';
  }
}

function alternative(issue: Issue): string {
  if (issue.code === 'invalid_type') return issue.expected;
  return issue.code === 'invalid_value'
    ? issue.values.map((v) => JSON.stringify(v)).join(' or ')
    : 'another value';
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' ? ' items long' : '';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function shown(value: unknown): string {
  return typeof value === 'string' && value.length <= 40 ? JSON.stringify(value) : kindOf(value);
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const key of path)
    at = typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined;
  return at;
}

function spell(path: Path): string {
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`))
    .join('');
}
