// Copies a file or a folder with all that is in it, from one side to the other.

import { errnoOf, LocalError } from '../../base/errors.js';
import { copyFile, type FileCopied } from './copy-file.js';
import {
  CopyError,
  type CopySide,
  type EntryFacts,
  isPlainName,
  isRawName,
  joinPath,
  showName,
} from './copy-side.js';

/** Files, folders and links of one copy: the plan is held whole, to know how much there is to do. */
export const MAX_COPY_ENTRIES = 250_000;
/** Files on their way at once: small ones spend their time waiting, and a server runs eight processes for us. */
export const MAX_PARALLEL_FILES = 4;
/** Of what went wrong, as much is kept to be told; the rest is counted. */
export const MAX_KEPT_FAILURES = 100;
/** Folders within folders; deeper is a circle. */
export const MAX_COPY_DEPTH = 256;

export interface TreeOptions {
  readonly from: CopySide;
  readonly source: string;
  readonly to: CopySide;
  readonly goal: string;
  readonly recursive: boolean;
  /** Links inside folders become what they point to. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

interface PlannedEntry {
  readonly source: string;
  readonly goal: string;
  readonly facts: EntryFacts;
}

export interface CopyPlan {
  readonly folders: readonly PlannedEntry[];
  readonly files: readonly PlannedEntry[];
  readonly links: readonly PlannedEntry[];
  /** What is not copied, and why: sockets, devices and the like, and names that are not UTF-8. */
  readonly skipped: readonly string[];
  readonly bytes: number;
}

export interface CopyEvents {
  readonly onFile?: (path: string) => void;
  readonly onBytes?: (bytes: number, resumed: boolean) => void;
  readonly onCopied?: (path: string, copied: FileCopied) => void;
}

export interface CopySummary {
  readonly files: number;
  readonly folders: number;
  readonly links: number;
  readonly bytes: number;
  readonly resumedBytes: number;
  readonly failed: number;
  readonly failures: readonly string[];
  /** Files whose mode and time could not be set. */
  readonly bareFiles: number;
}

/** A path that was named is followed when it is a link, as cp does; links inside are not, unless asked for. */
export async function planCopy(options: TreeOptions): Promise<CopyPlan> {
  const { from, source, goal, recursive } = options;
  const facts = await from.stat(source, true);
  const shown = `${from.label}${source}`;
  if (facts === undefined) throw new CopyError('not_found', shown, 'no such file or directory');
  if (facts.type === 'dir' && !recursive)
    throw new CopyError('is_folder', shown, 'is a folder; copy it with -r');
  if (facts.type === 'other') throw new CopyError('not_a_file', shown, 'is neither a file nor a folder');
  const plan = { folders: [], files: [], links: [], skipped: [], bytes: 0 };
  await planEntry({ source, goal, facts }, options, plan, 0);
  return plan;
}

type Growing = {
  -readonly [Key in keyof CopyPlan]: CopyPlan[Key] extends readonly (infer Item)[] ? Item[] : number;
};

async function planEntry(
  entry: PlannedEntry,
  options: TreeOptions,
  plan: Growing,
  depth: number,
): Promise<void> {
  const { from, follow, signal } = options;
  signal.throwIfAborted();
  const shown = `${from.label}${entry.source}`;
  const count = plan.folders.length + plan.files.length + plan.links.length + plan.skipped.length;
  if (count >= MAX_COPY_ENTRIES)
    throw new CopyError('too_many', shown, `more than ${MAX_COPY_ENTRIES} entries; copy it in parts`);
  if (depth > MAX_COPY_DEPTH)
    throw new CopyError('too_deep', shown, `more than ${MAX_COPY_DEPTH} folders deep`);
  switch (entry.facts.type) {
    case 'file':
      plan.files.push(entry);
      plan.bytes += entry.facts.size;
      return;
    case 'symlink':
      plan.links.push(entry);
      return;
    case 'dir':
      plan.folders.push(entry);
      break;
    default:
      plan.skipped.push(`${shown}: neither file nor folder, not copied`);
      return;
  }
  const names: string[] = [];
  for (const name of [...(await from.list(entry.source))].sort()) {
    if (!isRawName(name)) names.push(name);
    else plan.skipped.push(`${joinPath(shown, showName(name))}: its name is not UTF-8, not copied`);
  }
  for (let i = 0; i < names.length; i += STATS_AT_ONCE) {
    const found = await Promise.all(
      names.slice(i, i + STATS_AT_ONCE).map(async (name) => {
        if (!isPlainName(name))
          throw new CopyError('bad_name', shown, `has an entry named ${JSON.stringify(name)}`);
        const source = joinPath(entry.source, name);
        const facts = (follow ? await from.stat(source, true) : undefined) ?? (await from.stat(source));
        return facts === undefined ? undefined : { source, goal: joinPath(entry.goal, name), facts };
      }),
    );
    for (const each of found) if (each !== undefined) await planEntry(each, options, plan, depth + 1);
  }
}

const STATS_AT_ONCE = 32;

/** One that cannot be copied does not keep the others; a lost connection, a full disk and an interruption end it. */
export async function runCopy(
  plan: CopyPlan,
  options: TreeOptions,
  events: CopyEvents = {},
): Promise<CopySummary> {
  const { from, to, signal } = options;
  const done = {
    files: 0,
    folders: 0,
    links: 0,
    bytes: 0,
    resumedBytes: 0,
    failed: plan.skipped.length,
    bareFiles: 0,
  };
  const failures = plan.skipped.slice(0, MAX_KEPT_FAILURES);
  const isAlone = plan.files.length + plan.folders.length + plan.links.length === 1;
  const closed: string[] = [];
  const attempt = async (goal: string, work: () => Promise<void>): Promise<boolean> => {
    // What could not be made a folder may be a link that leads elsewhere: nothing goes through it.
    if (closed.some((folder) => goal.startsWith(`${folder}/`))) {
      done.failed += 1;
      return false;
    }
    try {
      await work();
      return true;
    } catch (thrown) {
      signal.throwIfAborted();
      const error = explain(`${to.label}${goal}`, thrown);
      if (error === undefined) throw thrown;
      if (isAlone || error.code === 'no_space') throw error;
      done.failed += 1;
      if (failures.length < MAX_KEPT_FAILURES) failures.push(error.message);
      return false;
    }
  };
  const made: PlannedEntry[] = [];
  for (const folder of plan.folders) {
    const isThere = await attempt(folder.goal, async () => {
      if (await to.makeFolder(folder.goal)) made.push(folder);
      done.folders += 1;
    });
    if (!isThere) closed.push(folder.goal);
  }
  await eachOf(plan.files, MAX_PARALLEL_FILES, async ({ source, goal, facts }) => {
    const shown = `${from.label}${source}`;
    events.onFile?.(shown);
    await attempt(goal, async () => {
      const { onBytes } = events;
      const one = { from, source, facts, to, goal, signal };
      const copied = await copyFile({ ...one, ...(onBytes !== undefined && { onBytes }) });
      done.files += 1;
      done.bytes += copied.bytes;
      done.resumedBytes += copied.resumedAt;
      if (!copied.attributesKept) done.bareFiles += 1;
      events.onCopied?.(shown, copied);
    });
  });
  // Last, so that nothing of this copy is written through a link that came with it.
  for (const { goal, facts } of plan.links)
    await attempt(goal, async () => {
      await to.makeLink(goal, facts.linkTarget ?? '');
      done.links += 1;
    });
  // Those that were there already keep what they are, and none is closed to us before all is in it.
  for (const { goal, facts } of made.toReversed())
    await to.setAttributes(goal, { mode: facts.mode, mtimeMs: facts.mtimeMs }).catch(() => false);
  return { ...done, failures };
}

/** `name` in the folder when the goal is one, as cp has it; the folder itself when what is in another goes into it. */
export async function resolveGoal(
  to: CopySide,
  goal: string,
  name: string | undefined,
  many: boolean,
): Promise<string> {
  const found = await to.stat(goal, true);
  const shown = `${to.label}${goal}`;
  const plain = goal.length > 1 && goal.endsWith('/') ? goal.slice(0, -1) : goal;
  if (found?.type === 'dir') return name === undefined ? plain : joinPath(goal, name);
  if (many) throw new CopyError('not_a_directory', shown, 'several files need a folder to go to');
  if (goal.endsWith('/')) throw new CopyError('not_a_directory', shown, 'is no folder; make it first');
  return goal;
}

async function eachOf<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.toReversed();
  const ended = await Promise.allSettled(
    Array.from({ length: width }, async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) {
        await work(item).catch((thrown: unknown) => {
          left.length = 0; // nobody begins another
          throw thrown;
        });
      }
    }),
  );
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

const PLAIN_WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  EACCES: 'not allowed',
  EPERM: 'not allowed',
  EROFS: 'the file system is read-only',
  EISDIR: 'is a folder',
  ENOTDIR: 'a part of the path is no folder',
  ENOENT: 'no such file or directory',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'is a link, or has too many in its path',
};

/** Undefined for what is no matter of one path. */
function explain(path: string, thrown: unknown): CopyError | undefined {
  if (thrown instanceof CopyError) return thrown;
  if (thrown instanceof LocalError) return undefined;
  const errno = errnoOf(thrown);
  if (errno === undefined) return undefined;
  const code = errno === 'ENOSPC' || errno === 'EDQUOT' ? 'no_space' : 'refused';
  return new CopyError(code, path, PLAIN_WORDS[errno] ?? errno, thrown);
}
