// A YAML file of ours, read within bounds. The parser is loaded by the first file.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Document } from 'yaml';
import { errnoOf } from '../../base/errors.js';
import { HugindError } from '../errors.js';

/** A config is a page or two. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

/** Undefined when there is none. Links are followed: a config may lie in somebody's own collection. */
export async function readYamlText(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) throw new HugindError('not_found', `${path} is no file`);
    if (found.size > MAX_CONFIG_BYTES)
      throw new HugindError('invalid_params', `${path} is larger than ${MAX_CONFIG_BYTES} bytes`);
    return await file.readFile('utf8');
  } catch (thrown) {
    const errno = errnoOf(thrown) ?? '';
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ENAMETOOLONG') return undefined;
    throw thrown;
  }
}

/** What is wrong with it is in `errors` of the document. */
export async function parseYaml(text: string): Promise<Document> {
  const { parseText } = await import('./yaml-parser.js');
  return parseText(text);
}
