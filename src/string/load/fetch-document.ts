// A document from the web: Markdown as it is, HTML made into Markdown, an image told about, a manifest by its first page.

import * as z from 'zod/mini';
import { TimeoutError } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import { type Page, parsePage } from '../document/page.js';
import type { PageCache } from '../document/page-cache.js';
import { reachFrom } from './resolve-target.js';
import { describeImage } from '../files/image-info.js';
import { type LoadedPage, showImage } from '../files/load-document.js';
import { type Failure, fail } from '../result.js';
import { type GuardedResponse, guardedRequest, type Reach } from '../web/guarded-request.js';
import { htmlToMarkdown, titleOfHtml } from '../web/html-to-markdown.js';
import { AddressRefusedError, RequestFailedError } from '../web/request-errors.js';

const Manifest = z.object({
  files: z.array(
    z.object({ path: z.string(), content: z.optional(z.string()), url: z.optional(z.string()) }),
  ),
  install_hint: z.optional(z.string()),
});
/** Of the paths in a message. */
const MAX_LISTED_CHARS = 500;
const ACCEPT = 'application/json, text/markdown, text/plain';

/** What was fetched before is asked for again, but sent again only when it has changed. */
export async function fetchDocument(
  pages: PageCache,
  address: string,
  reach: Reach,
  signal: AbortSignal,
): Promise<LoadedPage | Failure> {
  try {
    return await fetchPage(pages, address, reach, signal);
  } catch (thrown) {
    if (signal.aborted) return fail('CANCELLED', `Cancelled: ${address}`);
    return explain(thrown, address);
  }
}

async function fetchPage(
  pages: PageCache,
  address: string,
  reach: Reach,
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
  if (status === 304 && known !== undefined) return remotePage(url.href, known.page, known.original);
  if (status === 404 || status === 410) return fail('NOT_FOUND', `Not found: ${address}`, `HTTP ${status}`);
  if (status === 401 || status === 403) return fail('AUTH_REQUIRED', `HTTP ${status} fetching ${address}`);
  if (status < 200 || status > 299) return fail('LOAD_ERROR', `HTTP ${status} fetching ${address}`);
  const read = await readResponse(response, signal);
  if ('ok' in read) return read;
  pages.set(response.url, { ...read, version: response.headers.etag ?? '', isPublic: response.isPublic });
  return remotePage(response.url, read.page, read.original);
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

/** One that was fetched, as the rest of the room knows pages. */
export function remotePage(uri: string, page: Page, original: string | undefined): LoadedPage {
  return {
    ok: true,
    uri,
    page,
    source: page.source,
    remote: true,
    ...(original !== undefined && { original }),
  };
}

async function readResponse(
  { headers, body, url }: GuardedResponse,
  signal: AbortSignal,
): Promise<{ page: Page; original?: string } | Failure> {
  const type = headers['content-type'] ?? 'text/plain';
  const image = /^image\/(?!svg)/iu.test(type) ? describeImage(body) : undefined;
  if (image !== undefined) return { page: parsePage(showImage(image, body.length)) };
  if (body.includes(0)) return fail('LOAD_ERROR', `Not a text document (${type}): ${url}`);
  const text = decode(body, type);
  if (
    /^(?:text\/html|application\/xhtml)/iu.test(type) ||
    (!/markdown/iu.test(type) && /^\s*<(?:!doctype html|html)/iu.test(text))
  ) {
    const page = parsePage(await htmlToMarkdown(text));
    return { page: { ...page, title: page.title ?? titleOfHtml(text) ?? null }, original: text };
  }
  const first = /json/iu.test(type) ? await firstOfManifest(text, url, signal) : undefined;
  if (first === undefined) return { page: parsePage(text) };
  return typeof first === 'string' ? { page: parsePage(first), original: text } : first;
}

/** Of `{files: [{path, content}]}` the page to begin with; undefined for other JSON. */
async function firstOfManifest(
  text: string,
  base: string,
  signal: AbortSignal,
): Promise<string | Failure | undefined> {
  const manifest = parseManifest(text);
  if (manifest === undefined) return undefined;
  const { files, install_hint: hint } = manifest;
  const index = files.find(({ path }) => path === 'string.md');
  if (index === undefined) {
    const paths = files.map(({ path }) => path).join(', ');
    return fail('LOAD_ERROR', 'The manifest has no string.md', `files: ${paths.slice(0, MAX_LISTED_CHARS)}`);
  }
  let { content } = index;
  if (content === undefined) {
    const url = URL.canParse(index.url ?? '', base) ? new URL(index.url ?? '', base).href : '';
    const first = await guardedRequest({ url, reach: reachFrom(base)(url), signal });
    if (first.status !== 200) return fail('LOAD_ERROR', `HTTP ${first.status} fetching ${url}`);
    content = decode(first.body, first.headers['content-type'] ?? '');
  }
  return hint === undefined ? content : `${content}\n\n${hint}\n`;
}

function parseManifest(text: string): z.infer<typeof Manifest> | undefined {
  try {
    return Manifest.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // no JSON, whatever it said
  }
}

function decode(body: Buffer, type: string): string {
  const charset = /charset\s*=\s*"?([\w.:-]+)/iu.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return body.toString('utf8'); // a charset that nobody knows
  }
}
