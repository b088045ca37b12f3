// config.*: the files that say how a model is served, this machine's facts, and the settings.

import * as z from 'zod/mini';
import { nameSchema, pathSchema } from '../names.js';
import { defineBridgeMethod } from './define.js';

/** Of a sequence: no model was trained on more, and a larger number is a slip. */
export const MAX_CONTEXT_TOKENS = 16 * 1024 * 1024;
/** Sequences that one server works on at once. */
export const MAX_SLOTS = 256;
/** Devices that a margin can be named for. */
export const MAX_DEVICES = 64;
/** Far more than any token of a hub; what is longer is some other text. */
export const MAX_TOKEN_CHARS = 1024;

const named = z.object({ name: z.string(), path: z.string() });

export const ConfigList = defineBridgeMethod({
  name: 'config.list',
  summary: 'The configs there are, by name.',
  effect: 'reads',
  params: {},
  result: { configs: z.array(named) },
});

export const ConfigValidate = defineBridgeMethod({
  name: 'config.validate',
  summary:
    'Whether a config, by its path or its name, is one that a server can be started with, and if not, why.',
  effect: 'reads',
  params: { path: pathSchema },
  result: {
    valid: z.boolean(),
    errors: z.optional(z.array(z.object({ path: z.optional(z.string()), message: z.string() }))),
    warnings: z.optional(z.array(z.object({ path: z.string(), message: z.string() }))),
  },
  errors: ['not_found', 'permission_denied'],
});

export const ConfigInfo = defineBridgeMethod({
  name: 'config.info',
  summary: 'What this machine has to serve models with.',
  effect: 'reads',
  params: {},
  result: {
    os: z.string(),
    arch: z.string(),
    cpu_model: z.string(),
    logical_cores: z.int(),
    physical_cores: z.int(),
    memory_bytes: z.int(),
    disk_total_bytes: z.int(),
    disk_available_bytes: z.int(),
    gpus: z.array(z.object({ name: z.string(), memory: z.nullable(z.int()) })),
  },
});

export const ConfigRemove = defineBridgeMethod({
  name: 'config.remove',
  summary: 'Remove a config. One that is not there is told by `removed`, not by an error.',
  effect: 'removes',
  params: { name: nameSchema, confirm: z._default(z.boolean(), false) },
  result: { removed: z.boolean(), path: z.nullable(z.string()) },
  errors: ['not_confirmed', 'permission_denied', 'busy'],
});

export const ConfigDefaults = defineBridgeMethod({
  name: 'config.defaults',
  summary:
    'The settings, secrets masked. With `hf_token` the token for the hub is stored first; an empty one is forgotten.',
  effect: 'adds',
  params: {
    hf_token: z.optional(
      z.string().check(
        z.maxLength(MAX_TOKEN_CHARS),
        z.refine((text) => !/[^\x21-\x7e]/.test(text), {
          error: 'a token has no spaces and no control characters',
        }),
      ),
    ),
  },
  result: { settings: z.array(z.object({ key: z.string(), value: z.string() })) },
  errors: ['permission_denied'],
});

export const ConfigInit = defineBridgeMethod({
  name: 'config.init',
  summary:
    'Write a config for a model file: context and memory are computed from its header and this machine. With `overwrite` an existing one is changed, its comments and other keys kept.',
  effect: 'adds',
  params: {
    name: nameSchema,
    model_path: pathSchema,
    ctx: z.optional(z.int().check(z.minimum(1), z.maximum(MAX_CONTEXT_TOKENS))),
    mmproj_path: z.optional(pathSchema),
    overwrite: z._default(z.boolean(), false),
    n_slots: z._default(z.int().check(z.minimum(1), z.maximum(MAX_SLOTS)), 4),
    enable_fit: z._default(z.boolean(), false),
    fit_target_mib: z._default(
      z.array(z.int().check(z.minimum(0), z.maximum(1024 * 1024))).check(z.maxLength(MAX_DEVICES)),
      [],
    ),
  },
  result: {
    path: z.string(),
    model_path: z.string(),
    ctx: z.int(),
    mmproj_path: z.optional(z.string()),
    n_slots: z.int(),
    kv_bytes: z.int(),
    fit: z.object({ enabled: z.boolean(), target_mib: z.array(z.int()), fits: z.boolean() }),
  },
  errors: ['not_found', 'already_exists', 'permission_denied', 'busy'],
});
