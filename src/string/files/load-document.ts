// A file as a document: its text, its title, and the address under which the topic knows it.

import { pathToFileURL } from 'node:url';
import { NotFoundError } from '../../host/files/errors.js';
import { readFile } from '../../host/files/read.js';
import { pin } from '../../host/files/walk.js';
import { type Failure, fail } from '../result.js';
import type { OpenDocument } from '../session/session.js';
import type { AgentFiles } from './agent-files.js';

/** Of one document: it is shown whole, to a reader who has to pay for every word. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024;

/** What a directory shows instead of a list of its files. */
const INDEX = 'string.md';
const FRONTMATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/u;
const TITLE = /^title:[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\n#]*?))[ \t]*(?:#.*)?\r?$/mu;

export interface LoadedDocument {
  readonly ok: true;
  readonly document: OpenDocument;
  readonly path: string;
  /** As it is in the file. */
  readonly source: string;
  /** As it is shown. */
  readonly text: string;
}

export type Loaded = LoadedDocument | { readonly ok: true; readonly directory: string };

export async function loadPath(
  files: AgentFiles,
  path: string,
  signal: AbortSignal,
): Promise<Loaded | Failure> {
  try {
    if (!isDirectory(files, path)) return await loadFile(files, path, signal);
    try {
      return await loadFile(files, path === '/' ? `/${INDEX}` : `${path}/${INDEX}`, signal);
    } catch (thrown) {
      if (!(thrown instanceof NotFoundError)) throw thrown;
      return { ok: true, directory: path };
    }
  } catch (thrown) {
    return files.explain(thrown, path);
  }
}

async function loadFile(files: AgentFiles, path: string, signal: AbortSignal): Promise<Loaded | Failure> {
  const { data } = await readFile(files.roots().files, path, {
    maxBytes: MAX_DOCUMENT_BYTES,
    whole: true,
    signal,
  });
  if (data.includes(0)) return fail('LOAD_ERROR', `Not a text file: ${path}`);
  const source = data.toString('utf8');
  const frontmatter = FRONTMATTER.exec(source);
  const [, double, single, bare] = TITLE.exec(frontmatter?.[1] ?? '') ?? [];
  const title = double ?? single ?? bare ?? '';
  return {
    ok: true,
    document: { uri: pathToFileURL(path).href, title: title === '' ? null : title, block: null },
    path,
    source,
    text: frontmatter === null ? source : source.slice(frontmatter[0].length).replace(/^\s*\n/u, ''),
  };
}

/** Links are followed, as far as they stay inside. */
export function isDirectory(files: AgentFiles, path: string): boolean {
  using held = pin(files.roots().files, path);
  return held.stat().isDirectory();
}
