// A file as a text that can be edited and put back with every byte that was not meant.

import { isUtf8 } from 'node:buffer';
import { NotFoundError } from '../../host/files/errors.js';
import { readFile } from '../../host/files/read.js';
import type { AgentFiles } from '../files/agent-files.js';

/** Of one file that is edited: it is held whole, twice, while that is done. */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;

export interface TextFile {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
  readonly size: number;
  readonly isBinary: boolean;
  /** Where it is no UTF-8, a character is a byte. */
  readonly text: string;
  /** What an agent says, in the characters of `text`. */
  readonly toFile: (said: string) => string;
  readonly encode: (text: string) => Buffer;
  /** For people. */
  readonly show: (text: string) => string;
}

/** Undefined when there is none. Throws FilesError. */
export async function readTextFile(
  files: AgentFiles,
  path: string,
  signal: AbortSignal,
): Promise<TextFile | undefined> {
  try {
    const { data, mtimeMs, size } = await readFile(files.roots().files, path, {
      maxBytes: MAX_EDIT_BYTES,
      whole: true,
      signal,
    });
    return { bytes: data, mtimeMs, size, isBinary: data.includes(0), ...coded(data) };
  } catch (thrown) {
    if (thrown instanceof NotFoundError) return undefined;
    throw thrown;
  }
}

function coded(data: Buffer): Pick<TextFile, 'text' | 'toFile' | 'encode' | 'show'> {
  if (isUtf8(data))
    return {
      text: data.toString('utf8'),
      toFile: (said) => said,
      encode: (text) => Buffer.from(text, 'utf8'),
      show: (text) => text,
    };
  return {
    text: data.toString('latin1'),
    toFile: (said) => Buffer.from(said, 'utf8').toString('latin1'),
    encode: (text) => Buffer.from(text, 'latin1'),
    show: (text) => Buffer.from(text, 'latin1').toString('utf8'),
  };
}
