// The store of models: models/<user>/<repository>/<file>, where everything that has a plain name is whole.

import { type Dirent, lstatSync } from 'node:fs';
import { lstat, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { HugindError } from '../errors.js';
import { isFileName, isRepo, MAX_FILE_DEPTH } from '../names.js';
import { noteOf, partOf } from './part-names.js';

/** Files of one repository that are looked at; what is more is no repository of models. */
export const MAX_REPO_ENTRIES = 10_000;

export interface StoredFile {
  /** With folders, by slashes. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
}

export class ModelStore {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Sorted. Only repositories with at least one model that is whole. */
  async list(): Promise<{ name: string; path: string }[]> {
    const repos: { name: string; path: string }[] = [];
    for (const user of await foldersOf(this.#root))
      for (const repo of await foldersOf(join(this.#root, user))) {
        const name = `${user}/${repo}`;
        if (!isRepo(name)) continue;
        const files = await this.#files(this.folderOf(name));
        if (files.some((file) => isModel(file.name))) repos.push({ name, path: this.folderOf(name) });
      }
    return repos.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async show(repo: string): Promise<StoredFile[]> {
    const folder = this.folderOf(repo);
    await this.#assertThere(repo);
    return await this.#files(folder);
  }

  folderOf(repo: string): string {
    if (!isRepo(repo)) throw new HugindError('invalid_params', 'repo: expected "user/repository"');
    return join(this.#root, repo);
  }

  /** Where a file is to be; the folders above it are folders, not links that lead elsewhere. */
  placeOf(repo: string, file: string): string {
    if (!isFileName(file))
      throw new HugindError(
        'invalid_params',
        `files: no name of a file: ${JSON.stringify(file.slice(0, 64))}`,
      );
    const path = join(this.folderOf(repo), file);
    for (let folder = dirname(path); folder.length > this.#root.length; folder = dirname(folder))
      assertNoDetour(folder);
    return path;
  }

  /** All of them or none: what is not there is told before anything goes. */
  async removeFiles(repo: string, files: readonly string[]): Promise<string[]> {
    await this.#assertThere(repo);
    const paths = files.map((file) => this.placeOf(repo, file));
    for (const [i, path] of paths.entries())
      if (!(await isFile(path)))
        throw new HugindError('not_found', `File '${files[i]}' not found in repo ${repo}`);
    for (const path of new Set(paths)) {
      await unlink(path);
      for (const left of [partOf(path), noteOf(path)]) await rm(left, { force: true });
      await this.#removeEmptyFolders(dirname(path), this.folderOf(repo));
    }
    return [...new Set(files)];
  }

  /** Under another name first, so that nobody meets a half of it. */
  async removeRepo(repo: string): Promise<string[]> {
    const names = (await this.show(repo)).map(({ name }) => name);
    const folder = this.folderOf(repo);
    const leaving = join(dirname(folder), `.${newId('gone')}`);
    await rename(folder, leaving);
    await rm(leaving, { recursive: true, force: true });
    await rmdir(dirname(folder)).catch(() => {}); // the user has others
    return names;
  }

  async isEmpty(repo: string): Promise<boolean> {
    return (await this.show(repo)).length === 0;
  }

  async #assertThere(repo: string): Promise<void> {
    const folder = this.folderOf(repo);
    assertNoDetour(dirname(folder));
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true)
      throw new HugindError('not_found', `Repository '${repo}' does not exist locally`);
  }

  async #files(folder: string): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    let seen = 0;
    const walk = async (at: string, prefix: string, depth: number): Promise<void> => {
      for (const entry of await entriesOf(at)) {
        if (entry.name.startsWith('.') || ++seen > MAX_REPO_ENTRIES) continue;
        const name = `${prefix}${entry.name}`;
        const path = join(at, entry.name);
        if (entry.isDirectory()) {
          if (depth < MAX_FILE_DEPTH) await walk(path, `${name}/`, depth + 1);
        } else {
          const found = await stat(path).catch(() => undefined); // a link to a model elsewhere is one
          if (found?.isFile() === true) files.push({ name, path, sizeBytes: found.size });
        }
      }
    };
    await walk(folder, '', 0);
    return files.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #removeEmptyFolders(from: string, root: string): Promise<void> {
    for (let folder = from; folder !== root && folder.startsWith(root + sep); folder = dirname(folder)) {
      const removed = await rmdir(folder).then(
        () => true,
        () => false,
      );
      if (!removed) return;
    }
  }
}

function isModel(name: string): boolean {
  return name.toLowerCase().endsWith('.gguf');
}

/** A link in place of a folder would lead our writing and removing out of the store. */
function assertNoDetour(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory())
    throw new HugindError('permission_denied', `${folder} is no folder of the store`);
}

async function foldersOf(folder: string): Promise<string[]> {
  const entries = await entriesOf(folder);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT' || errnoOf(thrown) === 'ENOTDIR') return [];
    throw thrown;
  }
}

async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && !found.isDirectory();
}
