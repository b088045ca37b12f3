// What model.* does.

import type { Handlers } from '../call.js';
import { readSettings } from '../configs/settings-file.js';
import { HugindError } from '../errors.js';
import { addFiles } from '../models/add-files.js';
import { findHub } from '../models/hub.js';
import { partsOfSplit } from '../models/split-files.js';
import { ModelStore } from '../models/store.js';
import type { Claim } from '../turns.js';

type ModelMethods = Pick<Handlers, Extract<keyof Handlers, `model.${string}`>>;

const repoClaim = (repo: string, alone: boolean): Claim => ({ key: `repo:${repo}`, alone });

export const modelHandlers: ModelMethods = {
  'model.list': {
    run: async (_, { home }) => ({ repos: await new ModelStore(home.models).list() }),
  },
  'model.show': {
    run: async ({ repo }, { home }) => {
      const files = await new ModelStore(home.models).show(repo);
      return {
        repo,
        files: files.map(({ name, path, sizeBytes }) => ({ name, path, size_bytes: sizeBytes })),
      };
    },
  },
  'model.add': {
    // Several may fetch from one repository; of one file only the first, and those after it find it there.
    claims: ({ repo, files }) => [
      repoClaim(repo, false),
      ...[...new Set(files.flatMap((file) => partsOfSplit(file)))].map((file) => ({
        key: `repo:${repo}/${file}`,
        alone: true,
      })),
    ],
    run: async ({ repo, files }, ctx) => {
      const settings = await readSettings(ctx.home.settings);
      const hub = findHub(ctx.env, settings.get('hf_token'));
      return {
        repo,
        files: await addFiles({ hub, store: new ModelStore(ctx.home.models), repo, files }, ctx),
      };
    },
  },
  'model.remove': {
    claims: ({ repo }) => [repoClaim(repo, true)],
    run: async (
      { repo, files = [], delete_repo: whole = false, delete_if_empty: ifEmpty = false },
      { home },
    ) => {
      if (files.length === 0 && !whole && !ifEmpty)
        throw new HugindError('invalid_params', 'No files specified: give files, or delete_repo: true');
      const store = new ModelStore(home.models);
      if (whole) return { repo, deleted_repo: true, deleted_files: await store.removeRepo(repo) };
      const deleted = files.length === 0 ? [] : await store.removeFiles(repo, files);
      const isDone = ifEmpty && (await store.isEmpty(repo));
      if (isDone) await store.removeRepo(repo);
      return { repo, deleted_repo: isDone, deleted_files: deleted };
    },
  },
};
