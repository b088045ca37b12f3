// One value in one JSON file: checked when read, replaced as a whole, and changed by one process at a time.

import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type * as z from 'zod/mini';
import { errnoOf, LocalError } from '../../base/errors.js';
import { Lane } from '../../base/lane.js';
import { describeIssues, sayIssue } from '../../base/schema-issues.js';
import { makeFolders } from '../make-folders.js';
import { type LockOptions, withFileLock } from './file-lock.js';
import { findJsonError, positionAt } from './json-position.js';
import { removeTemporaries, replaceFile } from './replace-file.js';

/** The whole file is read, parsed and written at every change; what is larger belongs into a database. */
export const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** Changes of one store that may wait for their turn within this process. */
export const MAX_WAITING_UPDATES = 1000;

const BYTE_ORDER_MARK = '\ufeff';

export interface JsonStoreOptions<T> {
  readonly path: string;
  /** What the file must hold. A value that does not fit is neither read nor written. */
  readonly schema: z.ZodMiniType<T>;
  /** The value while there is no file. An empty file is not the same: something has gone wrong there. */
  readonly initial: () => T;
  readonly maxBytes?: number;
}

/** The file is there and cannot be used. It is left as it is: only its owner can say what it should have been. */
export class StoreCorruptError extends LocalError {
  override readonly name = 'StoreCorruptError';

  constructor(path: string, where: string, problem: string, cause?: unknown) {
    super('store_corrupt', `${path}${where === '' ? '' : `, ${where}`}: ${problem}`, {
      facts: { path, where },
      cause,
    });
  }
}

export class StoreTooLargeError extends LocalError {
  override readonly name = 'StoreTooLargeError';

  constructor(path: string, bytes: number, limit: number) {
    super('store_too_large', `${path}: ${bytes} bytes, ${limit} are allowed`, {
      facts: { path, bytes, limit },
    });
  }
}

export class JsonStore<T> {
  readonly path: string;
  readonly #schema: z.ZodMiniType<T>;
  readonly #initial: () => T;
  readonly #maxBytes: number;
  readonly #lane = new Lane({ maxWaiting: MAX_WAITING_UPDATES });
  #swept = false;

  constructor(options: JsonStoreOptions<T>) {
    this.path = resolve(options.path);
    this.#schema = options.schema;
    this.#initial = options.initial;
    this.#maxBytes = options.maxBytes ?? MAX_JSON_BYTES;
  }

  /** Needs no lock: the file is always whole. */
  async read(): Promise<T> {
    const text = await this.#readText();
    return text === undefined ? this.#initial() : this.#parse(text);
  }

  /**
   * Puts what `change` makes of the value in its place, and resolves when that is on the disk. No other process can
   * change it in between, so a `change` that takes long keeps all of them waiting.
   */
  update(change: (value: T) => T | Promise<T>, options: LockOptions = {}): Promise<T> {
    // Those of this process queue in order here, instead of racing each other for the file.
    return this.#lane.run(async () => {
      this.#makeFolder();
      const target = await this.#target();
      return await withFileLock(target, () => this.#change(target, change), options);
    }, options.signal);
  }

  #makeFolder(): void {
    try {
      makeFolders(dirname(this.path));
    } catch (cause) {
      const why = errnoOf(cause) ?? 'unknown';
      throw new LocalError('no_folder', `${dirname(this.path)}: no folder can be made there (${why})`, {
        cause,
      });
    }
  }

  async #change(target: string, change: (value: T) => T | Promise<T>): Promise<T> {
    if (!this.#swept) await removeTemporaries(target);
    this.#swept = true;
    const text = await this.#readText();
    const next = this.#check(await change(text === undefined ? this.#initial() : this.#parse(text)));
    const written = `${JSON.stringify(next, undefined, 2)}\n`;
    if (written === text) return next;
    const bytes = Buffer.from(written, 'utf8');
    if (bytes.length > this.#maxBytes) throw new StoreTooLargeError(this.path, bytes.length, this.#maxBytes);
    await replaceFile(target, bytes);
    return next;
  }

  /** A link is followed: the file it points to is replaced, not the link. */
  async #target(): Promise<string> {
    try {
      return await realpath(this.path);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return this.path;
      throw error;
    }
  }

  async #readText(): Promise<string | undefined> {
    const bytes = await this.#readBytes();
    if (bytes === undefined) return undefined;
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      throw new StoreCorruptError(this.path, '', 'is not UTF-8 text', cause);
    }
  }

  async #readBytes(): Promise<Buffer | undefined> {
    try {
      await using file = await open(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stat = await file.stat();
      if (!stat.isFile()) throw new StoreCorruptError(this.path, '', 'is not a file');
      if (stat.size > this.#maxBytes) throw new StoreTooLargeError(this.path, stat.size, this.#maxBytes);
      return await file.readFile();
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  #parse(text: string): T {
    const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text; // some editors put it there
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (cause) {
      const index = findJsonError(json) ?? json.length;
      const { line, column } = positionAt(json, index);
      const problem = index === json.length ? 'the JSON ends too early' : 'is not JSON from here on';
      throw new StoreCorruptError(this.path, `line ${line}, column ${column}`, problem, cause);
    }
    return this.#check(value);
  }

  #check(value: unknown): T {
    const checked = this.#schema.safeParse(value);
    if (checked.success) return checked.data;
    const [issue] = describeIssues(checked.error.issues, value);
    throw new StoreCorruptError(
      this.path,
      '',
      issue === undefined ? 'does not fit its schema' : sayIssue(issue, ''),
    );
  }
}
