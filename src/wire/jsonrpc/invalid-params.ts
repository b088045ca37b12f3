// What is wrong with params, in words that name the field: "params.argv: expected array, got string".

import type * as z from 'zod/mini';
import { RpcError } from '../../base/errors.js';
import { INVALID_PARAMS } from './message.js';

type Issue = z.core.$ZodIssue;
type UnionIssue = Extract<Issue, { code: 'invalid_union' }>;

export interface ParamsIssue {
  /** `argv[2]`, `env.PATH`; empty when it is the whole of params. */
  readonly path: string;
  readonly message: string;
}

/** A hostile request can be wrong in as many places as it has fields. */
export const MAX_ISSUES = 16;

/** What zod/mini says when nobody wrote a message: it ships without any, so ours is made from the issue itself. */
const NO_MESSAGE = 'Invalid input';

export function invalidParams(issues: readonly ParamsIssue[]): RpcError {
  const [first] = issues;
  const where = first === undefined || first.path === '' ? 'params' : joinPath('params', first.path);
  return new RpcError(INVALID_PARAMS, `${where}: ${first?.message ?? 'invalid'}`, { data: { issues } });
}

export function describeIssues(issues: readonly Issue[], params: unknown): ParamsIssue[] {
  return issues.slice(0, MAX_ISSUES).map((issue) => describeIssue(issue, params, ''));
}

function describeIssue(issue: Issue, root: unknown, rootPath: string): ParamsIssue {
  const path = issue.path.reduce<string>(appendKey, rootPath);
  const value = valueAt(root, issue.path);
  const nested = issue.code === 'invalid_union' ? deepestIssue(issue) : undefined;
  return nested === undefined
    ? { path, message: describe(issue, value) }
    : describeIssue(nested, value, path);
}

/** Of the alternatives of a union, the one that got furthest into the value is the one that was meant. */
function deepestIssue(union: UnionIssue): Issue | undefined {
  let deepest: Issue | undefined;
  for (const issue of union.errors.flat()) {
    if (issue.path.length > (deepest?.path.length ?? 0)) deepest = issue;
  }
  return deepest;
}

/** Never quotes what came: it may be a secret, and errors end up in logs. */
function describe(issue: Issue, value: unknown): string {
  if (issue.message !== NO_MESSAGE && issue.message !== '') return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}, got ${nameType(value)}`;
    case 'invalid_value':
      return `expected ${listValues(issue.values)}, got ${nameType(value)}`;
    case 'too_small':
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.maximum, issue.origin)}`;
    case 'invalid_format':
      return issue.format === 'regex' && issue.pattern !== undefined
        ? `must match ${issue.pattern}`
        : `is not a valid ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `unknown ${issue.keys.length === 1 ? 'field' : 'fields'} ${issue.keys.slice(0, MAX_ISSUES).join(', ')}`;
    case 'invalid_union':
      return describeUnion(issue, value);
    case 'invalid_key':
      return `has a key that is not allowed`;
    case 'invalid_element':
      return `has an element that is not allowed`;
    default:
      return 'is not valid';
  }
}

function describeUnion(union: UnionIssue, value: unknown): string {
  const kinds = union.errors
    .flat()
    .flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
  if (kinds.length === 0) return 'matches no allowed form';
  return `expected ${[...new Set(kinds)].join(' or ')}, got ${nameType(value)}`;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function nameType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function amount(limit: number | bigint, origin: string): string {
  const plural = Number(limit) === 1 ? '' : 's';
  if (origin === 'string') return `${limit} character${plural}`;
  if (origin === 'array' || origin === 'set') return `${limit} element${plural}`;
  return String(limit);
}

function listValues(values: readonly unknown[]): string {
  const list = values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)));
  return list.length === 1 ? (list[0] ?? '') : `one of ${list.join(', ')}`;
}

function appendKey(path: string, key: PropertyKey): string {
  return joinPath(path, typeof key === 'number' ? `[${key}]` : String(key));
}

function joinPath(path: string, rest: string): string {
  return path === '' || rest.startsWith('[') ? `${path}${rest}` : `${path}.${rest}`;
}
