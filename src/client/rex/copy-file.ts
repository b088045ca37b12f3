// Copies one file: into a part beside the goal, from where an earlier copy stopped, verified, and only then under its name.

import { createHash, type Hash } from 'node:crypto';
import { posix } from 'node:path';
import { type ResumePlan, isPartOf, partName, planResume } from './copy-plan.js';
import { CopyError, type CopySide, type EntryFacts, joinPath } from './copy-side.js';

/** One write: large enough that a round trip for each does not count, small enough for every server's line. */
export const WRITE_CHUNK_BYTES = 4 * 1024 * 1024;

export interface FileCopy {
  readonly from: CopySide;
  readonly source: string;
  readonly facts: EntryFacts;
  readonly to: CopySide;
  readonly goal: string;
  readonly signal: AbortSignal;
  /** Bytes that are there now and were not before; those of an earlier copy come first, in one piece. */
  readonly onBytes?: (bytes: number, resumed: boolean) => void;
}

export interface FileCopied {
  readonly bytes: number;
  readonly resumedAt: number;
  readonly sha256: string;
  /** Mode and time could be set. */
  readonly attributesKept: boolean;
}

/** Rejects with a CopyError; what has arrived stays as a part, for the next try, unless it is of no use. */
export async function copyFile(copy: FileCopy): Promise<FileCopied> {
  const part = await findPart(copy);
  const plan = await checkedPlan(copy, part);
  try {
    return await bringOver(copy, part.path, plan);
  } catch (thrown) {
    // A part that was damaged long ago shows only now. Once more from the start, and then it is something else.
    if (!(thrown instanceof CopyError) || thrown.code !== 'damaged' || plan.offset === 0) throw thrown;
    copy.onBytes?.(-copy.facts.size, true);
    return await bringOver(copy, part.path, planResume(copy.facts.size, undefined));
  }
}

interface Part {
  readonly path: string;
  readonly size: number | undefined;
}

/** Parts of other versions of the source go away: nobody will ever ask for them again. */
async function findPart({ from, source, facts, to, goal }: FileCopy): Promise<Part> {
  const folder = posix.dirname(goal);
  const name = posix.basename(goal);
  const own = partName(name, { place: `${from.label}${source}`, size: facts.size, mtimeMs: facts.mtimeMs });
  const path = joinPath(folder, own);
  if (facts.size > WRITE_CHUNK_BYTES) {
    const names = await to.list(folder).catch(() => []);
    for (const other of names.filter((each) => each !== own && isPartOf(name, each)))
      await to.remove(joinPath(folder, other));
  }
  const there = await to.stat(path);
  if (there !== undefined && there.type !== 'file')
    throw new CopyError('in_the_way', `${to.label}${path}`, 'is in the way: it is no file');
  return { path, size: there?.size };
}

async function checkedPlan(copy: FileCopy, part: Part): Promise<ResumePlan> {
  const plan = planResume(copy.facts.size, part.size);
  const { from, to } = plan.check;
  const fresh = { ...planResume(copy.facts.size, undefined), discard: true };
  if (to === from) return plan.discard ? fresh : plan;
  const [here, there] = await Promise.all([
    readStretch(copy.from, copy.source, from, to, copy.signal),
    readStretch(copy.to, part.path, from, to, copy.signal),
  ]);
  return here.equals(there) ? plan : fresh;
}

async function bringOver(copy: FileCopy, part: string, plan: ResumePlan): Promise<FileCopied> {
  const { from, to, source, goal, facts, signal } = copy;
  if (plan.discard) await to.remove(part);
  if (plan.offset > 0) copy.onBytes?.(plan.offset, true);
  const hash = plan.offset === 0 ? createHash('sha256') : undefined;
  await addRest(copy, part, plan.offset, hash);
  const sha256 = hash?.digest('hex') ?? (await from.hash(source, signal));
  const attributesKept = await sealPart(copy, part, sha256);
  signal.throwIfAborted();
  await to.move(part, goal);
  return { bytes: facts.size, resumedAt: plan.offset, sha256, attributesKept };
}

/** While one write is on its way the next bytes are read; more than that is never held. */
async function addRest(copy: FileCopy, part: string, offset: number, hash: Hash | undefined): Promise<void> {
  const { from, to, source, facts, signal } = copy;
  let at = offset;
  if (facts.size === 0) await to.append(part, Buffer.alloc(0), signal);
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const bytes of gather(readUpTo(from, source, offset, facts.size, signal))) {
      hash?.update(bytes);
      await writing;
      signal.throwIfAborted();
      writing = to.append(part, bytes, signal).then(() => copy.onBytes?.(bytes.length, false));
      writing.catch(() => {}); // told at the next turn
      at += bytes.length;
    }
  } finally {
    await writing;
  }
  if (at !== facts.size) throw changed(copy);
}

async function* readUpTo(
  side: CopySide,
  path: string,
  offset: number,
  end: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  let at = offset;
  if (at >= end) return;
  for await (const bytes of side.read(path, at, signal)) {
    const take = bytes.subarray(0, end - at);
    at += take.length;
    yield take;
    if (at >= end) return;
  }
}

/** The same bytes in pieces that are each worth a request. */
export async function* gather(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const bytes of chunks) {
    held.push(bytes);
    size += bytes.length;
    if (size < WRITE_CHUNK_BYTES) continue;
    yield Buffer.concat(held);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held);
}

async function readStretch(
  side: CopySide,
  path: string,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const bytes of readUpTo(side, path, from, to, signal)) parts.push(bytes);
  return Buffer.concat(parts);
}

/** Rejects unless both sides have the same and the source is still what it was. True: it has its mode and its time. */
async function sealPart(copy: FileCopy, part: string, sha256: string): Promise<boolean> {
  const { from, to, source, goal, facts, signal } = copy;
  const [sealed, now] = await Promise.all([to.seal(part, facts, signal), from.stat(source, true)]);
  if (now?.size !== facts.size || now.mtimeMs !== facts.mtimeMs) {
    await to.remove(part);
    throw changed(copy);
  }
  if (sealed.sha256 === sha256) return sealed.attributesKept;
  await to.remove(part);
  throw new CopyError(
    'damaged',
    `${to.label}${goal}`,
    `what arrived is not what was sent (sha256 ${sealed.sha256.slice(0, 12)}…, sent ${sha256.slice(0, 12)}…)`,
  );
}

function changed({ from, source }: FileCopy): CopyError {
  return new CopyError('changed', `${from.label}${source}`, 'has changed while it was copied; copy it again');
}
