// A plan carried out: every file changed, or every file as it was.

import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { ConflictError } from '../../host/files/errors.js';
import { makeDirectory } from '../../host/files/make-directory.js';
import { movePath } from '../../host/files/move.js';
import { readFile } from '../../host/files/read.js';
import { removePath } from '../../host/files/remove.js';
import { statPath } from '../../host/files/stat.js';
import { newAsideName } from '../../host/files/temp-file.js';
import { writeFile } from '../../host/files/write.js';
import type { Files } from './file-call.js';
import { type Content, type Fate, isContent, type State } from './patch-plan.js';

type Undo = () => Promise<unknown>;

/**
 * What is new first, then what changes, and what goes last: at every moment the least is missing. A file that goes is
 * put aside into a folder beside it, and removed only when nothing can fail any more; if we are killed before that,
 * the next write to its folder finds it there and puts it back.
 */
export async function applyPlan(fates: readonly Fate[], call: Files): Promise<void> {
  const undo: Undo[] = [];
  /** By the folder that files go from. */
  const aside = new Map<string, string>();
  try {
    for (const { path, before, after } of fates) {
      if (before === undefined && isContent(after)) await create(path, after, call, undo);
    }
    for (const { path, before, after } of fates) {
      if (isContent(before) && isContent(after)) await change(path, before, after, call, undo);
    }
    for (const { path, before, after } of fates) {
      if (before !== undefined && after === undefined) await putAside(path, before, aside, call, undo);
    }
  } catch (thrown) {
    for (const step of undo.toReversed()) await step().catch(() => {}); // the first failure is the one to tell of
    throw thrown;
  }
  for (const folder of aside.values())
    await removePath(call.roots, folder, { recursive: true }).catch(() => {});
}

async function create(path: string, content: Content, call: Files, undo: Undo[]): Promise<void> {
  for (const folder of missingFolders(path, call)) undo.push(() => removePath(call.roots, folder));
  const { permissions } = content;
  await writeFile(call.roots, path, content.data, {
    mode: 'create',
    mkdirParents: true,
    ...(permissions !== undefined && { permissions }),
    signal: call.signal,
  });
  undo.push(() => removePath(call.roots, path));
}

async function change(
  path: string,
  before: Content,
  after: Content,
  call: Files,
  undo: Undo[],
): Promise<void> {
  if (before.sha256 === after.sha256) return;
  const { roots, signal } = call;
  await writeFile(roots, path, after.data, { expect: { sha256: before.sha256 }, signal });
  undo.push(() => writeFile(roots, path, before.data, { expect: { sha256: after.sha256 } }));
}

async function putAside(
  path: string,
  before: State,
  folders: Map<string, string>,
  call: Files,
  undo: Undo[],
): Promise<void> {
  const { roots, signal } = call;
  const folder = folders.get(dirname(path)) ?? join(dirname(path), newAsideName());
  if (!folders.has(dirname(path))) {
    await makeDirectory(roots, folder);
    folders.set(dirname(path), folder);
    undo.push(() => removePath(roots, folder));
  }
  const aside = join(folder, basename(path));
  await movePath(roots, path, aside, { signal });
  undo.push(() => movePath(roots, aside, path));
  if (isContent(before)) await assertIs(before, path, aside, call);
}

/** It goes because its content is elsewhere by now; under a name nobody knows it can be looked at in peace. */
async function assertIs(before: Content, path: string, aside: string, call: Files): Promise<void> {
  const { data, mtimeMs, size } = await readFile(call.roots, aside, { signal: call.signal });
  if (before.data.equals(data)) return;
  const sha256 = createHash('sha256').update(data).digest('hex');
  throw new ConflictError(path, { mtimeMs, size, sha256 });
}

/** From the outermost on: folders that the file needs and that are not there. */
function missingFolders(path: string, { roots }: Files): string[] {
  const missing: string[] = [];
  for (let folder = dirname(path); !statPath(roots, folder).exists; folder = dirname(folder))
    missing.unshift(folder);
  return missing;
}
