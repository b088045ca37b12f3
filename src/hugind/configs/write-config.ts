// A config on the disk, made or changed: what its owner wrote beside the values stays.

import { dirname } from 'node:path';
import type { Document } from 'yaml';
import { makeFolders } from '../../host/make-folders.js';
import { replaceFile } from '../../host/store/replace-file.js';
import { parseYaml, readYamlText } from './read-yaml.js';
import { DEFAULTS } from './schema.js';

export interface ConfigValues {
  readonly modelPath: string;
  readonly mmprojPath: string | undefined;
  readonly contextTokens: number;
  readonly slots: number;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly fit: { readonly enabled: boolean; readonly targetMib: readonly number[] };
}

/** One that is there is changed where these values say so. */
export async function writeConfig(path: string, name: string, values: ConfigValues): Promise<void> {
  const before = await readYamlText(path);
  const existing = before === undefined ? undefined : await parseYaml(before);
  const isUsable = existing !== undefined && existing.errors.length === 0 && existing.contents !== null;
  const document = isUsable ? existing : await parseYaml(template(name));
  setValues(document, values);
  makeFolders(dirname(path));
  await replaceFile(path, Buffer.from(document.toString({ lineWidth: 0 })));
}

function setValues(document: Document, values: ConfigValues): void {
  const { modelPath, mmprojPath, contextTokens, slots, threads, gpuLayers, fit } = values;
  document.setIn(['model', 'path'], modelPath);
  if (mmprojPath !== undefined) document.setIn(['model', 'mmproj_path'], mmprojPath);
  else if (document.hasIn(['model', 'mmproj_path'])) document.deleteIn(['model', 'mmproj_path']);
  document.setIn(['model', 'gpu_layers'], gpuLayers);
  document.setIn(['context', 'size'], contextTokens);
  document.setIn(['context', 'seq_max'], slots);
  document.setIn(['context', 'threads'], threads);
  document.setIn(['fit', 'enabled'], fit.enabled);
  if (fit.targetMib.length > 0) document.setIn(['fit', 'target_mib'], [...fit.targetMib]);
}

function template(name: string): string {
  return `# ${name}: how hugind serves a model. Comments are kept when config.init changes this file.
server:
  host: ${DEFAULTS.host} # other machines reach it only with another host and an api_key
  port: ${DEFAULTS.port}
model:
  path: "" # relative to this file, or absolute
  gpu_layers: 0
context:
  size: 0 # tokens of each sequence
  seq_max: 0 # sequences that are worked on at once
  threads: 1 # two on two cores that others use too were slower than one
sampling:
  temp: 0.7
fit:
  enabled: false
`;
}
