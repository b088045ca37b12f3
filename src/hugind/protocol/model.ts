// model.*: what lies in the store, and what comes into it from the hub.

import * as z from 'zod/mini';
import { fileSchema, repoSchema } from '../names.js';
import { defineBridgeMethod } from './define.js';

/** Of one request. The largest split models have a few hundred parts. */
export const MAX_FILES_OF_REQUEST = 1024;

const files = z.array(fileSchema).check(z.minLength(1), z.maxLength(MAX_FILES_OF_REQUEST));

export const ModelList = defineBridgeMethod({
  name: 'model.list',
  summary: 'The repositories of the store that hold a finished model, by name.',
  effect: 'reads',
  params: {},
  result: { repos: z.array(z.object({ name: z.string(), path: z.string() })) },
});

export const ModelShow = defineBridgeMethod({
  name: 'model.show',
  summary: 'The files of a repository in the store, those in its folders included.',
  effect: 'reads',
  params: { repo: repoSchema },
  result: {
    repo: z.string(),
    files: z.array(z.object({ name: z.string(), path: z.string(), size_bytes: z.int() })),
  },
  errors: ['not_found'],
});

export const ModelAdd = defineBridgeMethod({
  name: 'model.add',
  summary:
    'Fetch files of a repository from the hub into the store, going on where an earlier attempt ended. The first part of a split model brings the others.',
  effect: 'adds',
  params: { repo: repoSchema, files },
  result: { repo: z.string(), files: z.array(z.string()) },
  errors: ['not_found', 'permission_denied', 'busy', 'timeout', 'upstream_error', 'unavailable'],
  events: ['status', 'progress'],
});

export const ModelRemove = defineBridgeMethod({
  name: 'model.remove',
  summary:
    'Remove files of a repository from the store, or all of it. Nothing goes when one of the files is not there.',
  effect: 'removes',
  params: {
    repo: repoSchema,
    files: z.optional(files),
    delete_repo: z.optional(z.boolean()),
    delete_if_empty: z.optional(z.boolean()),
  },
  result: { repo: z.string(), deleted_repo: z.boolean(), deleted_files: z.array(z.string()) },
  errors: ['not_found', 'permission_denied', 'busy'],
});
