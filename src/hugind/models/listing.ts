// What files a repository of the hub has: asked page by page, read within bounds, names that are none left out.

import { HugindError } from '../errors.js';
import { isFileName } from '../names.js';
import { explainRefusal, type Hub, isPassing, listingUrl, modelUrl } from './hub.js';
import { getFromHub, type HubResponse } from './hub-request.js';
import { retrying, TryAgainError } from './retrying.js';

/** One page of a listing: a thousand files take about 300 KB. */
export const MAX_LISTING_BYTES = 8 * 1024 * 1024;
/** A hub gives a thousand files by page. */
export const MAX_LISTING_PAGES = 20;

export interface HubFile {
  readonly name: string;
  readonly size: number | undefined;
  /** Of files that the hub keeps beside git, which all models are. */
  readonly sha256: string | undefined;
}

/** By name. Rejects when there is no such repository, or it is not for us. */
export async function listHubFiles(
  hub: Hub,
  repo: string,
  signal: AbortSignal,
): Promise<Map<string, HubFile>> {
  const files = new Map<string, HubFile>();
  let url: string | undefined = listingUrl(hub, repo);
  for (let pages = 0; url !== undefined; pages++) {
    if (pages >= MAX_LISTING_PAGES)
      throw new HugindError(
        'upstream_error',
        `the listing of ${repo} has more than ${MAX_LISTING_PAGES} pages`,
      );
    const page = await getPage(hub, repo, url, signal);
    // Mirrors that know nothing of trees know models.
    const entries = page ?? (await getPage(hub, repo, modelUrl(hub, repo), signal));
    if (entries === undefined) throw explainRefusal({ status: 404, errorCode: undefined }, hub, repo);
    for (const file of entries.files) files.set(file.name, file);
    url = page === undefined ? undefined : entries.next;
  }
  return files;
}

interface Page {
  readonly files: readonly HubFile[];
  readonly next: string | undefined;
}

/** Undefined for what is not there. */
async function getPage(hub: Hub, repo: string, url: string, signal: AbortSignal): Promise<Page | undefined> {
  const { origin } = new URL(hub.endpoint);
  return await retrying(signal, async () => {
    await using response = await getFromHub({ url, token: hub.token, origin, signal });
    const { status, headers } = response;
    if (status === 404) return undefined;
    if (status !== 200) {
      const refusal = { status, errorCode: one(headers['x-error-code']), retryAfter: headers['retry-after'] };
      const error = explainRefusal(refusal, hub, repo);
      throw isPassing(refusal) ? new TryAgainError(error, refusal.retryAfter) : error;
    }
    return {
      files: filesOf(await readJson(response, repo), repo),
      next: nextPage(one(headers['link']), url),
    };
  });
}

/** `<…>; rel="next"`. Only of the hub itself: whoever is sent elsewhere here is sent there with the token. */
function nextPage(link: string | undefined, from: string): string | undefined {
  const target = link === undefined ? undefined : /<([^>]+)>\s*;[^,]*\brel="?next"?/.exec(link)?.[1];
  if (target === undefined || !URL.canParse(target, from)) return undefined;
  const next = new URL(target, from);
  if (next.origin !== new URL(from).origin)
    throw new HugindError(
      'upstream_error',
      'the hub continues its listing on another host; that is not followed',
    );
  return next.href;
}

async function readJson(response: HubResponse, repo: string): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_LISTING_BYTES)
      throw new HugindError(
        'upstream_error',
        `the listing of ${repo} is larger than ${MAX_LISTING_BYTES} bytes`,
      );
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new HugindError('upstream_error', `the hub's listing of ${repo} is no JSON`, { cause });
  }
}

/** A tree is an array; a model has `siblings`. */
function filesOf(value: unknown, repo: string): HubFile[] {
  const entries = Array.isArray(value) ? value : isRecord(value) ? value['siblings'] : undefined;
  if (!Array.isArray(entries))
    throw new HugindError('upstream_error', `the hub's listing of ${repo} is not one`);
  return entries.filter(isRecord).flatMap((entry) => {
    const name = entry['path'] ?? entry['rfilename'];
    if (typeof name !== 'string' || !isFileName(name) || (entry['type'] ?? 'file') !== 'file') return [];
    const lfs = isRecord(entry['lfs']) ? entry['lfs'] : {};
    const size = lfs['size'] ?? entry['size'];
    const hash = lfs['oid'] ?? lfs['sha256'];
    return [
      {
        name,
        size: Number.isSafeInteger(size) && Number(size) >= 0 ? Number(size) : undefined,
        sha256: readSha256(hash),
      },
    ];
  });
}

export function readSha256(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return /^(?:sha256:)?([0-9a-f]{64})$/i.exec(value)?.[1]?.toLowerCase();
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
