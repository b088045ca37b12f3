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
export const MAX_ISSUES = 16;
/** Of one key in a path; a longer one is cut. */
export const MAX_KEY_CHARS = 64;
/** Any other key is quoted, so that a path cannot be mistaken and nothing odd gets into a message. */
const PLAIN_KEY = new RegExp(`^[\\w-]{1,${MAX_KEY_CHARS}}$`);

/**
 * `zod/mini` ships no texts, so they are written here from the issue's own facts. `value` is what was checked;
 * `knownKeys` lets an unknown key be answered with the one that was probably meant.
 */
export function describeIssues(
  issues: readonly Issue[],
  value: unknown,
  knownKeys?: (at: Path) => readonly string[],
): FieldIssue[] {
  return flatten(issues, [])
    .slice(0, MAX_ISSUES)
    .flatMap(({ issue, at }) => {
      if (issue.code !== 'unrecognized_keys') {
        return [{ path: spell(at), message: describe(issue, valueAt(value, at)) }];
      }
      return issue.keys.slice(0, MAX_ISSUES).map((key) => {
        const close = nearest(key, knownKeys?.(at) ?? []);
        return {
          path: spell([...at, key]),
          message: `unknown key${close === undefined ? '' : `; did you mean "${close}"?`}`,
        };
      });
    });
}

interface Placed {
  readonly issue: Issue;
  readonly at: Path;
}

/** A value that is of one kind in a union, and wrong inside, is told what is wrong inside. */
function flatten(issues: readonly Issue[], above: Path): Placed[] {
  return issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    const at = [...above, ...issue.path];
    const inside =
      issue.code === 'invalid_union'
        ? issue.errors.filter((errors) => errors.every(({ path }) => path.length > 0))
        : [];
    return inside.length === 1 ? flatten(inside[0] ?? [], at) : [{ issue, at }];
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
      if (issue.expected === 'int' && typeof value === 'number')
        return `expected a whole number, got ${value}`;
      return wanted(issue.expected, value, kindOf);
    case 'invalid_value':
      return wanted(anyOf(issue.values), value, shown);
    case 'too_small':
    case 'too_big':
      return describeSize(issue);
    case 'invalid_format':
      return `expected ${describeFormat(issue)}`;
    case 'invalid_union': {
      const kinds = new Set(issue.errors.flatMap((errors) => errors.map((error) => alternative(error))));
      if (kinds.size > 0) return wanted([...kinds].join(' or '), value, kindOf);
      const { options } = issue as { options?: unknown };
      return Array.isArray(options) ? wanted(anyOf(options), value, shown) : 'is not valid';
    }
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'custom':
      return issue.message === 'Invalid input' ? 'is not valid' : issue.message;
    default:
      return 'is not valid';
  }
}

function wanted(what: string, value: unknown, show: (value: unknown) => string): string {
  return value === undefined ? `is required (${what})` : `expected ${what}, got ${show(value)}`;
}

function describeSize(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const { origin, inclusive = true } = issue;
  const [limit, atEdge, past] =
    issue.code === 'too_small'
      ? [issue.minimum, 'at least', 'more than']
      : [issue.maximum, 'at most', 'less than'];
  if (issue.code === 'too_small' && inclusive && Number(limit) === 1 && unit(origin) !== '')
    return 'must not be empty';
  return `must be ${issue.exact === true ? 'exactly' : inclusive ? atEdge : past} ${limit}${unit(origin)}`;
}

interface FormatIssue {
  readonly format: string;
  readonly pattern?: string | undefined;
  readonly prefix?: string | undefined;
  readonly suffix?: string | undefined;
  readonly includes?: string | undefined;
}

function describeFormat({ format, pattern, prefix, suffix, includes }: FormatIssue): string {
  if (format === 'regex') return `text like ${pattern ?? 'the pattern'}`;
  if (prefix !== undefined) return `text that starts with ${literal(prefix)}`;
  if (suffix !== undefined) return `text that ends with ${literal(suffix)}`;
  return includes === undefined ? format : `text that holds ${literal(includes)}`;
}

function alternative(issue: Issue): string {
  if (issue.path.length > 0) return 'another value';
  if (issue.code === 'invalid_type') return issue.expected;
  return issue.code === 'invalid_value' ? anyOf(issue.values) : 'another value';
}

function anyOf(values: readonly unknown[]): string {
  return values.map(literal).join(' or ');
}

function literal(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? typeof value);
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' ? ' items long' : '';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
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
    .map((key, i) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = String(key);
      if (!PLAIN_KEY.test(name)) return `[${JSON.stringify(name.slice(0, MAX_KEY_CHARS))}]`;
      return i === 0 ? name : `.${name}`;
    })
    .join('');
}
