// What a patch comes to, worked out in memory before a single byte is written.

import { createHash } from 'node:crypto';
import { AlreadyExistsError, NotAFileError, NotFoundError, TooLargeError } from '../../host/files/errors.js';
import { readFile } from '../../host/files/read.js';
import { statPath } from '../../host/files/stat.js';
import { MAX_WRITE_BYTES } from '../../host/files/write.js';
import type { Files } from './file-call.js';
import { patchContent } from './patch-file.js';
import type { FileChange } from './patch-text.js';

/** Held in memory for one patch: the files as they were and as they will be. */
export const MAX_PATCH_BYTES = 2 * MAX_WRITE_BYTES;

export interface Content {
  readonly data: Buffer;
  readonly sha256: string;
  /** Permission bits for a file that is made anew with this content; undefined for the usual ones. */
  readonly permissions: number | undefined;
}

/** What is at a path: its content, a file or link that need not be read because it only goes, or nothing. */
export type State = Content | 'file' | 'link' | undefined;

/** Of one path: what was there and what is to be. */
export interface Fate {
  readonly path: string;
  readonly before: State;
  readonly after: State;
}

export interface PatchReport {
  readonly added: string[];
  readonly updated: string[];
  readonly deleted: string[];
  readonly moved: { readonly from: string; readonly to: string }[];
}

export interface PatchPlan {
  readonly fates: readonly Fate[];
  readonly report: PatchReport;
}

export async function planPatch(
  changes: readonly FileChange[],
  call: Files,
  cwd?: string,
): Promise<PatchPlan> {
  const desk = new Desk(call);
  const report: PatchReport = { added: [], updated: [], deleted: [], moved: [] };
  const base = cwd === undefined ? undefined : call.resolve(cwd);
  for (const change of changes) {
    const path = call.resolve(change.path, base);
    if (change.kind === 'add') {
      await desk.add(path, contentOf(Buffer.from(change.lines.map((line) => `${line}\n`).join(''))));
      report.added.push(path);
    } else if (change.kind === 'delete') {
      desk.remove(path);
      report.deleted.push(path);
    } else {
      const old = await desk.read(path);
      const data = await patchContent(path, old.data, change.hunks, call.signal);
      const content = contentOf(data, old.permissions);
      if (change.moveTo === undefined) {
        desk.put(path, content);
        report.updated.push(path);
      } else {
        const to = call.resolve(change.moveTo, base);
        desk.assertMovable(path);
        desk.remove(path);
        await desk.add(to, content);
        report.moved.push({ from: path, to });
      }
    }
  }
  return { fates: desk.fates(), report };
}

/** Every path that a patch names. */
export function pathsOf(changes: readonly FileChange[], call: Files, cwd?: string): string[] {
  const base = cwd === undefined ? undefined : call.resolve(cwd);
  return changes.flatMap((change) => {
    const moveTo = change.kind === 'update' ? change.moveTo : undefined;
    return [change.path, ...(moveTo === undefined ? [] : [moveTo])].map((path) => call.resolve(path, base));
  });
}

/** The files a patch is about, as they would be after each of its parts. */
class Desk {
  readonly #call: Files;
  readonly #before = new Map<string, State>();
  readonly #after = new Map<string, State>();
  #held = 0;

  constructor(call: Files) {
    this.#call = call;
  }

  async read(path: string): Promise<Content> {
    if (!this.#after.has(path)) this.#after.set(path, await this.#load(path));
    const content = this.#after.get(path);
    if (!isContent(content)) throw new NotFoundError(path);
    return content;
  }

  async add(path: string, content: Content): Promise<void> {
    if (!this.#after.has(path)) this.#look(path);
    if (this.#after.get(path) !== undefined) throw new AlreadyExistsError(path);
    const before = this.#before.get(path);
    if (before === 'link') throw new AlreadyExistsError(path); // a link cannot become a file in one step
    // Removed before in this patch: it becomes a new version of the same file, so what it was must be known.
    if (before === 'file') await this.#load(path);
    this.put(path, content);
  }

  put(path: string, content: Content): void {
    this.#hold(path, content.data.length);
    this.#after.set(path, content);
  }

  remove(path: string): void {
    if (!this.#after.has(path)) this.#look(path);
    if (this.#after.get(path) === undefined) throw new NotFoundError(path);
    this.#after.set(path, undefined);
  }

  /** A link that was read through is not the file that was read. */
  assertMovable(path: string): void {
    const found = statPath(this.#call.roots, path);
    if (found.exists && found.type !== 'file') throw new NotAFileError(path, found.type);
  }

  fates(): Fate[] {
    return [...this.#before.keys()].map((path) => ({
      path,
      before: this.#before.get(path),
      after: this.#after.get(path),
    }));
  }

  /** Notes what is at a path without reading it. */
  #look(path: string): void {
    const found = statPath(this.#call.roots, path);
    if (found.exists && found.type !== 'file' && found.type !== 'symlink')
      throw new NotAFileError(path, found.type);
    const there = found.exists ? (found.type === 'file' ? 'file' : 'link') : undefined;
    this.#before.set(path, there);
    this.#after.set(path, there);
  }

  async #load(path: string): Promise<Content> {
    const { roots, signal } = this.#call;
    const { data, mode } = await readFile(roots, path, { whole: true, maxBytes: MAX_WRITE_BYTES, signal });
    this.#hold(path, data.length);
    const content = contentOf(data, mode & 0o7777);
    this.#before.set(path, content);
    return content;
  }

  #hold(path: string, bytes: number): void {
    this.#held += bytes;
    if (this.#held > MAX_PATCH_BYTES) throw new TooLargeError(path, this.#held, MAX_PATCH_BYTES);
  }
}

export function isContent(state: State): state is Content {
  return typeof state === 'object';
}

function contentOf(data: Buffer, permissions?: number): Content {
  return { data, sha256: createHash('sha256').update(data).digest('hex'), permissions };
}
