// Models in several files: `name-00001-of-00005.gguf` is the first of five, and useless without the others.

import { HugindError } from '../errors.js';
import { MAX_FILES_OF_REQUEST } from '../protocol/model.js';

const SPLIT = /^(?<stem>.*)-00001-of-(?<count>\d{5})\.gguf$/i;

/** Whoever asks for the first part wants all of them; any other name is meant as it is. */
export function partsOfSplit(name: string): string[] {
  const { stem, count } = SPLIT.exec(name)?.groups ?? {};
  if (stem === undefined || count === undefined) return [name];
  const parts = Number(count);
  if (parts > MAX_FILES_OF_REQUEST)
    throw new HugindError('invalid_params', `files: a model has at most ${MAX_FILES_OF_REQUEST} parts`);
  const ending = name.slice(-'.gguf'.length);
  return Array.from(
    { length: Math.max(parts, 1) },
    (_, i) => `${stem}-${String(i + 1).padStart(5, '0')}-of-${count}${ending}`,
  );
}
