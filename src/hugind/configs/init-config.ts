// config.init: a config for a model file, its context and memory computed from the file's header and this machine.

import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Params, Result } from '../call.js';
import { HugindError } from '../errors.js';
import { modelFacts } from '../gguf/model-facts.js';
import { readGgufHeader } from '../gguf/read-header.js';
import type { Home } from '../home.js';
import { chooseContext } from './choose-context.js';
import { expandHome, findConfig, newConfigPath } from './config-files.js';
import { lookAtMachine, type Machine } from './machine.js';
import { writeConfig } from './write-config.js';

const ALL_LAYERS = 99;
/** Files beside a model that let it see. */
const PROJECTOR = /mmproj|projector|vision/i;

export async function initConfig(
  home: Home,
  params: Params<'config.init'>,
  look: (folder: string) => Promise<Machine> = lookAtMachine,
): Promise<Result<'config.init'>> {
  const { name, n_slots: slots, enable_fit: enabled, fit_target_mib: targetMib } = params;
  const existing = await findConfig(home, name);
  if (existing !== undefined && !params.overwrite)
    throw new HugindError('already_exists', `Config '${name}' already exists`);
  const modelPath = await findModelFile(home, params.model_path, 'Model path');
  const mmprojPath =
    params.mmproj_path === undefined
      ? await findProjector(modelPath)
      : await findModelFile(home, params.mmproj_path, 'mmproj path');
  const header = await readGgufHeader(modelPath);
  const facts = modelFacts(header);
  const machine = await look(home.root);
  const chosen = chooseContext({
    facts,
    modelBytes: header.sizeBytes,
    memoryBytes: machine.memoryBytes,
    slots,
    marginMib: targetMib,
    asked: params.ctx,
  });
  const path = existing ?? newConfigPath(home, name);
  await writeConfig(path, name, {
    modelPath,
    mmprojPath,
    contextTokens: chosen.tokens,
    slots,
    threads: Math.max(machine.physicalCores - 1, 1),
    gpuLayers: machine.gpus.length > 0 ? ALL_LAYERS : 0,
    fit: { enabled, targetMib },
  });
  return {
    path,
    model_path: modelPath,
    ctx: chosen.tokens,
    ...(mmprojPath !== undefined && { mmproj_path: mmprojPath }),
    n_slots: slots,
    kv_bytes: chosen.kvBytes,
    fit: { enabled, target_mib: [...targetMib], fits: chosen.fits },
  };
}

/** By its path, or as `user/repository/file` of the store. */
async function findModelFile(home: Home, given: string, what: string): Promise<string> {
  const isBelow = !given.split('/').some((part) => part === '..' || part === '.' || part === '');
  for (const path of [expandHome(given), ...(isBelow ? [join(home.models, given)] : [])])
    if ((await stat(path).catch(() => undefined))?.isFile() === true) return path;
  throw new HugindError('not_found', `${what} not found: ${given.slice(0, 256)}`);
}

async function findProjector(modelPath: string): Promise<string | undefined> {
  if (PROJECTOR.test(basename(modelPath))) return undefined;
  const beside = (await readdir(dirname(modelPath))).sort();
  const found = beside.find((file) => /\.gguf$/i.test(file) && !file.startsWith('.') && PROJECTOR.test(file));
  return found === undefined ? undefined : join(dirname(modelPath), found);
}
