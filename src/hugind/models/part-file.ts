// A download that is not whole yet: bytes that go on where they ended, the hash that grows with them, and what they are of.

import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { makeFolders } from '../../host/make-folders.js';
import { replaceFile } from '../../host/store/replace-file.js';
import { HugindError } from '../errors.js';
import { noteOf, partOf } from './part-names.js';

const READ_BYTES = 1024 * 1024;
/** What lies there is never followed elsewhere, and a FIFO in its place keeps nobody waiting. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const noteSchema = z.object({
  url: z.string(),
  /** Nothing to go on with when the server has given none. */
  etag: z.optional(z.string()),
  size: z.optional(z.int()),
  sha256: z.optional(z.string()),
});

export type PartNote = z.output<typeof noteSchema>;

export class PartFile implements AsyncDisposable {
  readonly #path: string;
  readonly #file: FileHandle;
  #hash: Hash;
  #bytes: number;
  #note: PartNote | undefined;

  /** What is there of `path` already is read once, for its hash. */
  static async open(path: string, signal: AbortSignal): Promise<PartFile> {
    makeFolders(dirname(path));
    const file = await open(partOf(path), FLAGS, 0o600);
    try {
      if (!(await file.stat()).isFile())
        throw new HugindError('permission_denied', `${partOf(path)} is no file of ours`);
      const note = await readNote(path);
      const part = new PartFile(path, file, note);
      // With neither a validator nor a hash, two halves cannot be told to be of one file.
      const canGoOn = note?.etag !== undefined || note?.sha256 !== undefined;
      if (canGoOn) await part.#readAgain(signal);
      else await part.startOver();
      return part;
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
  }

  private constructor(path: string, file: FileHandle, note: PartNote | undefined) {
    this.#path = path;
    this.#file = file;
    this.#note = note;
    this.#hash = createHash('sha256');
    this.#bytes = 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get note(): PartNote | undefined {
    return this.#note;
  }

  /** Before the first byte of it: a part without its note is worth nothing. */
  async describe(note: PartNote): Promise<void> {
    this.#note = note;
    await replaceFile(noteOf(this.#path), Buffer.from(`${JSON.stringify(note)}\n`));
  }

  async append(chunk: Buffer): Promise<void> {
    let at = 0;
    while (at < chunk.length) {
      const { bytesWritten } = await this.#file.write(chunk, at, chunk.length - at, this.#bytes + at);
      at += bytesWritten;
    }
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  async startOver(): Promise<void> {
    this.#note = undefined;
    await rm(noteOf(this.#path), { force: true });
    await this.#file.truncate(0);
    this.#hash = createHash('sha256');
    this.#bytes = 0;
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** On the disk first, then under its name: nobody ever meets a half of it. */
  async finish(): Promise<void> {
    await this.#file.truncate(this.#bytes);
    await this.#file.sync();
    await rename(partOf(this.#path), this.#path);
    const folder = await open(dirname(this.#path), constants.O_RDONLY);
    await folder.sync().catch(() => {}); // a file system that cannot, and does not need to
    await folder.close();
    await rm(noteOf(this.#path), { force: true });
  }

  /** It was not what it should have been. */
  async discard(): Promise<void> {
    await rm(partOf(this.#path), { force: true });
    await rm(noteOf(this.#path), { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  async #readAgain(signal: AbortSignal): Promise<void> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#bytes);
      if (bytesRead === 0) return;
      this.#hash.update(buffer.subarray(0, bytesRead));
      this.#bytes += bytesRead;
    }
  }
}

async function readNote(path: string): Promise<PartNote | undefined> {
  try {
    return z.parse(noteSchema, JSON.parse(await readFile(noteOf(path), 'utf8')));
  } catch {
    return undefined; // none, or none of ours: then the download begins anew
  }
}
