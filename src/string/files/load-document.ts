// A file as a document: its text, taken apart, and the address under which the topic knows it.

import type { Stats } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { NotFoundError, TooLargeError } from '../../host/files/errors.js';
import { readFile } from '../../host/files/read.js';
import { pin } from '../../host/files/walk.js';
import { type Page, parsePage, plainPage } from '../document/page.js';
import type { PageCache } from '../document/page-cache.js';
import { type Failure, fail } from '../result.js';
import type { FileStamp } from '../session/seen-files.js';
import type { AgentFiles } from './agent-files.js';
import { describeImage, IMAGE_HEAD_BYTES } from './image-info.js';

/** Of one document: it is shown whole, to a reader who has to pay for every word. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024;

/** What a directory shows instead of a list of its files. */
const INDEX = 'string.md';
/** By its ending, or without one. In other texts a link is a line of code. */
const MARKDOWN = /(?:^|\/)[^/.]*$|\.(?:md|markdown|mdown|mkdn?|sfmd|txt|text)$|(?:^|\/)\.[^/.]*$/iu;

export interface LoadedPage {
  readonly ok: true;
  readonly uri: string;
  readonly page: Page;
  /** As it was read: of a page that was made of something else, what it is now. */
  readonly source: string;
  /** Of a local file. */
  readonly path?: string;
  /** As what a local file was read. */
  readonly stamp?: FileStamp;
  /** It came from the web, and is trusted accordingly. */
  readonly remote: boolean;
  /** What it was made of, when it was no Markdown. */
  readonly original?: string;
  /** The address of the manifest that it is a file of. */
  readonly manifest?: string;
  /** Told about a file that is not text. */
  readonly image?: boolean;
}

export type Loaded = LoadedPage | { readonly ok: true; readonly directory: string };

/** Where documents are read from. */
export interface DocumentPlace {
  readonly files: AgentFiles;
  readonly pages: PageCache;
}

/** A file, or the index of a directory, or the directory when it has none. */
export async function loadPath(
  place: DocumentPlace,
  path: string,
  signal: AbortSignal,
): Promise<Loaded | Failure> {
  try {
    const stat = statOf(place.files, path);
    if (!stat.isDirectory()) return await loadFile(place, path, stat, signal);
    const index = path === '/' ? `/${INDEX}` : `${path}/${INDEX}`;
    try {
      return await loadFile(place, index, statOf(place.files, index), signal);
    } catch (thrown) {
      if (!(thrown instanceof NotFoundError)) throw thrown;
      return { ok: true, directory: path };
    }
  } catch (thrown) {
    return place.files.explain(thrown, path);
  }
}

async function loadFile(
  { files, pages }: DocumentPlace,
  path: string,
  stat: Stats,
  signal: AbortSignal,
): Promise<LoadedPage | Failure> {
  const uri = pathToFileURL(path).href;
  const version = [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(':');
  const known = pages.get(uri);
  if (known?.version === version)
    return { ok: true, uri, path, stamp: stat, remote: false, page: known.page, source: known.page.source };
  const set = files.roots().files;
  const { data, size } = await readFile(set, path, {
    maxBytes: stat.size > MAX_DOCUMENT_BYTES ? IMAGE_HEAD_BYTES : MAX_DOCUMENT_BYTES,
    signal,
  });
  const text = size > data.length || data.includes(0) ? undefined : data.toString('utf8');
  if (text === undefined) {
    const image = describeImage(data);
    if (image === undefined && size > data.length) throw new TooLargeError(path, size, MAX_DOCUMENT_BYTES);
    if (image === undefined) return fail('LOAD_ERROR', `Not a text file: ${path}`);
    const page = parsePage(showImage(image, size));
    return { ok: true, uri, path, stamp: stat, remote: false, page, source: page.source, image: true };
  }
  const page = MARKDOWN.test(path) ? parsePage(text) : plainPage(text);
  // A file that changed while it was read has other times by now, and is read again.
  pages.set(uri, { page, version });
  return { ok: true, uri, path, stamp: stat, remote: false, page, source: text };
}

export function showImage(
  { type, width, height }: { readonly type: string; readonly width?: number; readonly height?: number },
  bytes: number,
): string {
  const dimensions = width === undefined || height === undefined ? 'unknown' : `${width} × ${height}`;
  return `Image\n\ntype: ${type}\nsize: ${bytes} bytes\ndimensions: ${dimensions}\n`;
}

/** Links are followed, as far as they stay inside. */
export function isDirectory(files: AgentFiles, path: string): boolean {
  return statOf(files, path).isDirectory();
}

function statOf(files: AgentFiles, path: string): Stats {
  using held = pin(files.roots().files, path);
  return held.stat();
}
