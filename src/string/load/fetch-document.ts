// A document from the web: Markdown as it is, HTML made into Markdown, an image told about, a manifest by its first page.

import { TimeoutError } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import { type Page, parsePage } from '../document/page.js';
import type { PageCache } from '../document/page-cache.js';
import { findEntry, type Manifest, parseManifest } from './manifest.js';
import { reachFrom } from './resolve-target.js';
import { describeImage } from '../files/image-info.js';
import { type LoadedPage, showImage } from '../files/load-document.js';
import { type Failure, fail } from '../result.js';
import { type GuardedResponse, guardedRequest, type Reach } from '../web/guarded-request.js';
import { htmlToMarkdown, titleOfHtml } from '../web/html-to-markdown.js';
import { AddressRefusedError, RequestFailedError } from '../web/request-errors.js';

/** Of the paths in a message. */
const MAX_LISTED_CHARS = 500;
const MAIN = 'string.md';
const ACCEPT = 'application/json, text/markdown, text/plain';

export interface WebPlace {
  readonly url: string;
  readonly reach: Reach;
  /** The manifest that is being read: its files come before what else is at an address. */
  readonly manifest?: string;
}

/** What was fetched before is asked for again, but sent again only when it has changed. */
export async function fetchDocument(
  pages: PageCache,
  place: WebPlace,
  signal: AbortSignal,
): Promise<LoadedPage | Failure> {
  try {
    const { manifest, url } = place;
    const entry =
      manifest === undefined || manifest === url
        ? undefined
        : await fetchEntry(pages, place, manifest, signal);
    return entry ?? (await fetchPage(pages, place, signal));
  } catch (thrown) {
    if (signal.aborted) return fail('CANCELLED', `Cancelled: ${place.url}`);
    return explain(thrown, place.url);
  }
}

/** By what a page of the web is found in the cache. */
export function cacheKeyOf({ url, manifest }: Pick<WebPlace, 'url' | 'manifest'>): string {
  return manifest === undefined || manifest === url ? url : `${manifest} ${url}`;
}

async function fetchPage(
  pages: PageCache,
  { url: address, reach }: WebPlace,
  signal: AbortSignal,
): Promise<LoadedPage | Failure> {
  const url = new URL(address);
  url.hash = '';
  const known = pages.get(url.href);
  const version = known?.version ?? '';
  const response = await guardedRequest({
    url: url.href,
    headers: { accept: ACCEPT, 'user-agent': 'stringd', ...(version !== '' && { 'if-none-match': version }) },
    reach,
    signal,
  });
  const { status } = response;
  if (status === 304 && known !== undefined) return remotePage(url.href, known);
  if (status === 404 || status === 410) return fail('NOT_FOUND', `Not found: ${address}`, `HTTP ${status}`);
  if (status === 401 || status === 403) return fail('AUTH_REQUIRED', `HTTP ${status} fetching ${address}`);
  if (status < 200 || status > 299) return fail('LOAD_ERROR', `HTTP ${status} fetching ${address}`);
  const read = await readResponse(response, signal);
  if ('ok' in read) return read;
  pages.set(response.url, { ...read, version: response.headers.etag ?? '', isPublic: response.isPublic });
  return remotePage(response.url, read);
}

/** Undefined when the manifest has no such file. */
async function fetchEntry(
  pages: PageCache,
  place: WebPlace,
  manifestUrl: string,
  signal: AbortSignal,
): Promise<LoadedPage | Failure | undefined> {
  const root = await fetchPage(pages, { ...place, url: manifestUrl }, signal);
  if (!root.ok) return root;
  const manifest = root.manifest === undefined ? undefined : parseManifest(root.original ?? '');
  const entry = manifest && findEntry(manifest, manifestUrl, place.url);
  if (entry === undefined) return undefined;
  if (entry.path === MAIN) return root;
  const read =
    entry.content === undefined
      ? await readEntry(entry, manifestUrl, signal)
      : { page: parsePage(entry.content) };
  if ('ok' in read) return read;
  const isPublic = pages.get(manifestUrl)?.isPublic === true;
  const cached = { ...read, manifest: manifestUrl, version: '', isPublic };
  pages.set(cacheKeyOf({ url: place.url, manifest: manifestUrl }), cached);
  return remotePage(place.url, cached);
}

async function readEntry(
  { url: written = '' }: Manifest['files'][number],
  base: string,
  signal: AbortSignal,
): Promise<ReadPage | Failure> {
  const url = URL.canParse(written, base) ? new URL(written, base).href : '';
  const response = await guardedRequest({ url, reach: reachFrom(base)(url), signal });
  if (response.status !== 200) return fail('LOAD_ERROR', `HTTP ${response.status} fetching ${url}`);
  return await readText(response);
}

/** What a request came to, as it is told to an agent. Throws what is none of its failures. */
export function explain(thrown: unknown, address: string): Failure {
  const error = toError(thrown);
  if (error instanceof AddressRefusedError) return fail('POLICY_DENIED', error.message);
  if (error instanceof TimeoutError)
    return fail('LOAD_ERROR', `No answer in time (${error.message}): ${address}`);
  if (error instanceof RequestFailedError) return fail('LOAD_ERROR', error.message);
  throw error;
}

interface ReadPage {
  readonly page: Page;
  readonly original?: string;
  readonly manifest?: string;
}

/** One that was fetched, as the rest of the room knows pages. */
export function remotePage(uri: string, { page, original, manifest }: ReadPage): LoadedPage {
  return {
    ok: true,
    uri,
    page,
    source: page.source,
    remote: true,
    ...(original !== undefined && { original }),
    ...(manifest !== undefined && { manifest }),
  };
}

async function readResponse(response: GuardedResponse, signal: AbortSignal): Promise<ReadPage | Failure> {
  const { url, body } = response;
  const read = await readText(response);
  if ('ok' in read) return read;
  const isJson = /json/iu.test(response.headers['content-type'] ?? '');
  const manifest = isJson ? parseManifest(body.toString('utf8')) : undefined;
  if (manifest === undefined) return read;
  const first = await firstOf(manifest, url, signal);
  return 'ok' in first ? first : { page: first.page, original: body.toString('utf8'), manifest: url };
}

async function readText({ headers, body, url }: GuardedResponse): Promise<ReadPage | Failure> {
  const type = headers['content-type'] ?? 'text/plain';
  const image = /^image\/(?!svg)/iu.test(type) ? describeImage(body) : undefined;
  if (image !== undefined) return { page: parsePage(showImage(image, body.length)) };
  if (body.includes(0)) return fail('LOAD_ERROR', `Not a text document (${type}): ${url}`);
  const text = decode(body, type);
  const isHtml =
    /^(?:text\/html|application\/xhtml)/iu.test(type) ||
    (!/markdown/iu.test(type) && /^\s*<(?:!doctype html|html)/iu.test(text));
  if (!isHtml) return { page: parsePage(text) };
  const page = parsePage(await htmlToMarkdown(text));
  return { page: { ...page, title: page.title ?? titleOfHtml(text) ?? null }, original: text };
}

/** The page to begin with. */
async function firstOf(
  { files, install_hint: hint }: Manifest,
  base: string,
  signal: AbortSignal,
): Promise<ReadPage | Failure> {
  const index = files.find(({ path }) => path === MAIN);
  if (index === undefined) {
    const paths = files.map(({ path }) => path).join(', ');
    return fail('LOAD_ERROR', `The manifest has no ${MAIN}`, `files: ${paths.slice(0, MAX_LISTED_CHARS)}`);
  }
  const read =
    index.content === undefined ? await readEntry(index, base, signal) : { page: parsePage(index.content) };
  if ('ok' in read || hint === undefined) return read;
  return { page: parsePage(`${read.page.source}\n\n${hint}\n`) };
}

function decode(body: Buffer, type: string): string {
  const charset = /charset\s*=\s*"?([\w.:-]+)/iu.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return body.toString('utf8'); // a charset that nobody knows
  }
}
