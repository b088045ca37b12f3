// What edits took away, kept on disk so that it can be put back: for every topic a pile of small files.

import { rmSync } from 'node:fs';
import { readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { makeFolders } from '../../host/make-folders.js';
import { replaceFile } from '../../host/store/replace-file.js';
import type { Splice } from './splice.js';

/** Steps that `/undo` can go back in one topic; older ones are forgotten. */
export const MAX_UNDO_STEPS = 100;
/** All that is kept for one topic: as much as the largest file that can be edited, and the newest step always. */
export const MAX_UNDO_BYTES = 32 * 1024 * 1024;

const ENDING = '.undo';
const DIGITS = 12;
const NEW_LINE = 10;

const Head = z.object({
  path: z.string(),
  existed: z.boolean(),
  start: z.int(),
  inserted: z.int(),
  beforeSha256: z.string(),
  afterSha256: z.string(),
});

export interface UndoStep extends Splice {
  readonly path: string;
  /** False for a file that the edit has made. */
  readonly existed: boolean;
  readonly beforeSha256: string;
  readonly afterSha256: string;
}

export type KeptStep = UndoStep & { readonly file: string };

/** The step is there, but not to be had in this moment: too many files are open, the disk does not answer. */
export class UndoUnreadableError extends LocalError {
  override readonly name = 'UndoUnreadableError';

  constructor(cause: Error) {
    super('undo_unreadable', `The last edit cannot be read back now: ${cause.message}`, { cause });
  }
}

export class UndoStore {
  readonly #folder: string;
  readonly #log: Log;

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** On the disk when it resolves. One edit at a time per topic. */
  async push(topic: string, step: UndoStep): Promise<string> {
    const folder = this.#folderOf(topic);
    makeFolders(folder);
    const names = await namesIn(folder);
    const next = Number.parseInt(names.at(-1) ?? '0', 10) + 1;
    const file = join(folder, `${String(next).padStart(DIGITS, '0')}${ENDING}`);
    const { removed, ...head } = step;
    const data = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), removed]);
    await replaceFile(file, data);
    await this.#forgetOldest(folder, names, data.length);
    return file;
  }

  /** The newest. One that makes no sense is no step, and is removed. Throws UndoUnreadableError. */
  async last(topic: string): Promise<KeptStep | undefined> {
    const folder = this.#folderOf(topic);
    for (const name of (await this.#namesOf(folder)).toReversed()) {
      const file = join(folder, name);
      let data: Buffer;
      try {
        data = await readFile(file);
      } catch (thrown) {
        if (errnoOf(thrown) === 'ENOENT') continue;
        throw new UndoUnreadableError(toError(thrown));
      }
      try {
        return { ...parseStep(data), file };
      } catch (thrown) {
        this.#log.warn('a step back cannot be used', { file: name, error: toError(thrown) });
        await this.drop(file);
      }
    }
    return undefined;
  }

  async #namesOf(folder: string): Promise<string[]> {
    try {
      return await namesIn(folder);
    } catch (thrown) {
      throw new UndoUnreadableError(toError(thrown));
    }
  }

  async drop(file: string): Promise<void> {
    await unlink(file).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    });
  }

  forget(topic: string): void {
    rmSync(this.#folderOf(topic), { recursive: true, force: true });
  }

  forgetAll(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #forgetOldest(folder: string, names: readonly string[], newest: number): Promise<void> {
    let [steps, bytes] = [1, newest];
    for (const name of names.toReversed()) {
      const file = join(folder, name);
      const { size } = await stat(file);
      steps += 1;
      bytes += size;
      if (steps > MAX_UNDO_STEPS || bytes > MAX_UNDO_BYTES) await this.drop(file);
    }
  }

  /** Parts of a name have no dot, so two topics never share a folder. */
  #folderOf(topic: string): string {
    return join(this.#folder, topic.replaceAll(':', '.'));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(ENDING) && !name.startsWith('.')).sort();
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

function parseStep(data: Buffer): UndoStep {
  const end = data.indexOf(NEW_LINE);
  return {
    ...Head.parse(JSON.parse(data.subarray(0, end).toString('utf8'))),
    removed: data.subarray(end + 1),
  };
}
