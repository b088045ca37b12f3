// The list of targets that all clients of REXD share: read with care, changed one entry at a time.

import { chmod, readFile, stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import { errnoOf } from '../../../base/errors.js';
import { describeIssues, sayIssue } from '../../../base/schema-issues.js';
import { JsonStore, MAX_JSON_BYTES } from '../../../host/store/json-store.js';
import { ALIAS, assertAlias, LOCAL, Target, TargetsError } from '../../../client/rex/target.js';
import { lineOfJson } from './json-line.js';

/** Every entry of the file is checked and shown; nobody has so many hosts in one list. */
export const MAX_TARGETS = 4096;

export interface TargetList {
  readonly file: string;
  readonly targets: Readonly<Record<string, Target>>;
  /** Entries that cannot be used, and why: one bad entry does not spoil the others. */
  readonly problems: Readonly<Record<string, string>>;
}

type Entries = Record<string, unknown>;

/** No file is an empty list. Throws a TargetsError that names the file and the line. */
export async function readTargets(file: string): Promise<TargetList> {
  await assertOwn(file);
  const raw = await storeOf(file).read();
  const text = await readFile(file, 'utf8').catch(() => '');
  const targets: Record<string, Target> = {};
  const problems: Record<string, string> = {};
  for (const [alias, entry] of Object.entries(entriesOf(raw, file, text))) {
    const checked = z.safeParse(Target, entry);
    if (checked.success && ALIAS.test(alias) && alias !== LOCAL) targets[alias] = checked.data;
    else problems[alias] = sayProblem(alias, entry, checked, file, text);
  }
  return { file, targets, problems };
}

/** What other clients keep in the entry and in the file stays as it is. Undefined removes the entry. */
export async function changeTarget(
  file: string,
  alias: string,
  change: (entry: Readonly<Entries> | undefined) => Readonly<Entries> | undefined,
): Promise<void> {
  assertAlias(alias);
  await assertOwn(file);
  await storeOf(file).update((raw) => {
    const entries = { ...entriesOf(raw, file, '') };
    const before = Object.hasOwn(entries, alias) ? (entries[alias] as Entries) : undefined;
    const after = change(before);
    if (after === undefined) delete entries[alias];
    else entries[alias] = after;
    if (Object.keys(entries).length > MAX_TARGETS)
      throw new TargetsError(`${file}: more than ${MAX_TARGETS} targets`);
    return { ...raw, version: raw['version'] ?? 1, targets: entries };
  });
  await chmod(file, 0o600);
}

/** An entry as a caller writes it. Throws a TargetsError that names the field. */
export function checkTarget(alias: string, entry: Readonly<Entries>): Target {
  assertAlias(alias);
  const checked = z.safeParse(Target, entry);
  if (checked.success) return checked.data;
  const issues = describeIssues(checked.error.issues, entry).map((issue) => sayIssue(issue, ''));
  throw new TargetsError(`target "${alias}": ${issues.join('; ')}`);
}

function storeOf(file: string): JsonStore<Entries> {
  return new JsonStore<Entries>({
    path: file,
    schema: z.looseObject({}),
    initial: () => ({ version: 1, targets: {} }),
    maxBytes: MAX_JSON_BYTES,
  });
}

function entriesOf(raw: Entries, file: string, text: string): Entries {
  const where = (path: string): string => (text === '' ? '' : `, line ${lineOfJson(text, [path])}`);
  const { version = 1, targets = {} } = raw;
  if (version !== 1)
    throw new TargetsError(
      `${file}${where('version')}: version: expected 1, got ${JSON.stringify(version)}; it is a newer rex's`,
    );
  if (typeof targets !== 'object' || targets === null || Array.isArray(targets))
    throw new TargetsError(
      `${file}${where('targets')}: targets: expected an object of targets by their names`,
    );
  return targets as Entries;
}

function sayProblem(
  alias: string,
  entry: unknown,
  checked: z.core.util.SafeParseResult<Target>,
  file: string,
  text: string,
): string {
  const at = (path: readonly PropertyKey[]): string =>
    `${file}, line ${lineOfJson(text, ['targets', alias, ...path.map((key) => (typeof key === 'number' ? key : String(key)))])}`;
  if (alias === LOCAL) return `${at([])}: "${LOCAL}" is this machine and cannot be another`;
  if (checked.success)
    return `${at([])}: "${alias}" is no name for a target: letters, digits, ".", "_" and "-"`;
  const [first] = checked.error.issues;
  const issues = describeIssues(checked.error.issues, entry).map((issue) =>
    sayIssue(issue, `targets.${alias}`),
  );
  return `${at(first?.path ?? [])}: ${issues.join('; ')}`;
}

/** Its ssh options can run programs here: a list that anybody may write is not ours. */
async function assertOwn(file: string): Promise<void> {
  try {
    const { mode, uid } = await stat(file);
    const own = process.getuid?.() ?? uid;
    if ((mode & 0o002) !== 0)
      throw new TargetsError(`${file}: everybody may write it; take that away with "chmod 600 ${file}"`);
    if (uid !== own && uid !== 0) throw new TargetsError(`${file}: belongs to another user (${uid})`);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
}
