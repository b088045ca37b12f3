// settings.yml: what holds for every config. It has a secret in it, so nobody else may read it, and nobody is shown it.

import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolders } from '../../host/make-folders.js';
import { replaceFile } from '../../host/store/replace-file.js';
import { HugindError } from '../errors.js';
import { parseYaml, readYamlText } from './read-yaml.js';

const SHOWN_CHARS = 4;
/** Shorter ones would be shown by half. */
const MIN_CHARS_TO_SHOW_SOME = 12;
const OWNER_ONLY = 0o600;

export interface Setting {
  readonly key: string;
  readonly value: string;
}

/** As they are stored. */
export async function readSettings(path: string): Promise<Map<string, string>> {
  const text = await readYamlText(path);
  if (text === undefined) return new Map();
  const document = await parseYaml(text);
  const value: unknown = document.errors.length > 0 ? undefined : document.toJS();
  if (typeof value !== 'object' || Array.isArray(value))
    throw new HugindError('internal_error', `${path} is damaged: it is no YAML with a value for each key`);
  const settings = Object.entries(value ?? {}).filter(([, each]) =>
    ['string', 'number', 'boolean'].includes(typeof each),
  );
  return new Map(settings.map(([key, each]) => [key, String(each)]));
}

/** An empty value removes the key; comments stay. */
export async function writeSetting(path: string, key: string, value: string): Promise<void> {
  const text = (await readYamlText(path)) ?? '';
  await readSettings(path); // one that is damaged is left as it is
  const document = await parseYaml(text);
  if (value === '') document.delete(key);
  else document.set(key, value);
  makeFolders(dirname(path));
  if (text !== '') await chmod(path, OWNER_ONLY); // what replaces it has its mode
  await replaceFile(path, Buffer.from(document.contents === null ? '' : document.toString()));
}

/** A token by its last characters. */
export function maskSettings(settings: ReadonlyMap<string, string>): Setting[] {
  return [...settings].map(([key, value]) => ({ key, value: isSecret(key) ? mask(value) : value }));
}

function isSecret(key: string): boolean {
  return /token|key|secret|password/i.test(key);
}

function mask(value: string): string {
  return `****${value.length >= MIN_CHARS_TO_SHOW_SOME ? value.slice(-SHOWN_CHARS) : ''}`;
}
