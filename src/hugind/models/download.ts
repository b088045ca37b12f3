// One file from the hub into the store: resumed by its validator, hashed as it comes, in place only when it is whole.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolders } from '../../host/make-folders.js';
import { withFileLock } from '../../host/store/file-lock.js';
import { HugindError } from '../errors.js';
import { explainRefusal, fileUrl, type Hub, isPassing } from './hub.js';
import { ConnectionLostError, getFromHub, type HubResponse } from './hub-request.js';
import { type HubFile, readSha256 } from './listing.js';
import { PartFile } from './part-file.js';
import { partOf } from './part-names.js';
import { retrying, TryAgainError } from './retrying.js';

/** Left on the disk whatever is downloaded: a full one takes other programs down with it. */
export const SPARE_DISK_BYTES = 64 * 1024 * 1024;
/** Of a file whose size nobody tells; no model that is one file is larger. */
export const MAX_UNTOLD_BYTES = 1024 ** 4;
/** Another bridge that downloads the same file keeps it for long: whoever comes second is told so at once. */
export const DOWNLOAD_LOCK_MS = 1000;

export interface Download {
  readonly hub: Hub;
  readonly repo: string;
  readonly file: HubFile;
  /** Where it is to be. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly onProgress: (downloaded: number, total: number | undefined) => void;
  readonly silenceMs?: number;
  readonly firstPauseMs?: number;
}

/** Settles when the file is in its place, whole and on the disk. What has come before a failure is kept for the next time. */
export async function downloadFile(download: Download): Promise<void> {
  const { path, signal } = download;
  makeFolders(dirname(path));
  await withFileLock(partOf(path), () => fetchFile(download), { timeoutMs: DOWNLOAD_LOCK_MS, signal });
}

async function fetchFile(download: Download): Promise<void> {
  const { path, signal, file, onProgress } = download;
  if (await isThere(download)) {
    onProgress(file.size ?? 0, file.size);
    return;
  }
  await using part = await PartFile.open(path, signal);
  let startedOver = false;
  await retrying(
    signal,
    async (gotOn) => {
      await fetchRest(part, download, gotOn);
      const wanted = file.sha256 ?? part.note?.sha256;
      if (wanted === undefined || part.digest() === wanted) return;
      const isSecondTime = startedOver;
      startedOver = true;
      await part.startOver();
      const error = new HugindError('upstream_error', `${file.name} is not what the hub's hash says it is`);
      // What was there from before may have been at fault; all of it once more tells.
      throw isSecondTime ? error : new TryAgainError(error);
    },
    { ...(download.firstPauseMs !== undefined && { firstMs: download.firstPauseMs }) },
  ).catch(async (thrown: unknown) => {
    if (part.bytes === 0) await part.discard();
    throw thrown;
  });
  await part.finish();
  onProgress(part.bytes, part.bytes);
}

async function fetchRest(part: PartFile, download: Download, gotOn: () => void): Promise<void> {
  const { hub, repo, file, signal, silenceMs } = download;
  const url = fileUrl(hub, repo, file.name);
  if (part.note !== undefined && !isSameFile(part, url, file)) await part.startOver();
  if (part.bytes > 0 && part.bytes === (file.size ?? part.note?.size)) return;
  const { etag } = part.note ?? {};
  // Without a validator the hash has to tell whether the halves are of one file.
  const range = { range: `bytes=${part.bytes}-`, ...(etag !== undefined && { 'if-range': etag }) };
  await using response = await getFromHub({
    url,
    token: hub.token,
    origin: new URL(hub.endpoint).origin,
    signal,
    ...(silenceMs !== undefined && { silenceMs }),
    ...(part.bytes > 0 && { headers: range }),
  });
  const total = await settleBegin(part, response, download, url);
  const limit = total ?? MAX_UNTOLD_BYTES;
  await assertRoom(download, total === undefined ? 0 : total - part.bytes);
  download.onProgress(part.bytes, total);
  for await (const chunk of response.body) {
    if (part.bytes + chunk.length > limit) {
      await part.startOver();
      throw new HugindError(
        'upstream_error',
        `${file.name}: the hub sends more than the ${limit} bytes it should have`,
      );
    }
    await part.append(chunk);
    gotOn();
    download.onProgress(part.bytes, total);
  }
  if (total !== undefined && part.bytes < total)
    throw new ConnectionLostError(`${file.name}: ${part.bytes} of ${total} bytes came`);
}

/** Where the answer begins: at the part's end, or at the beginning. Gives the size of the whole file, where it is known. */
async function settleBegin(
  part: PartFile,
  response: HubResponse,
  { hub, repo, file }: Download,
  url: string,
): Promise<number | undefined> {
  const { status, headers, firstHeaders } = response;
  if (status === 416) {
    await part.startOver();
    throw new TryAgainError(new HugindError('upstream_error', `the hub has no such part of ${file.name}`));
  }
  if (status !== 200 && status !== 206) {
    const refusal = {
      status,
      errorCode: text(headers['x-error-code']),
      retryAfter: headers['retry-after'],
    };
    const error = explainRefusal(refusal, hub, repo, file.name);
    throw isPassing(refusal) ? new TryAgainError(error, refusal.retryAfter) : error;
  }
  const told =
    status === 206
      ? rangeOf(text(headers['content-range']))
      : { start: 0, total: lengthOf(headers['content-length']) };
  if (status === 206 && told.start !== part.bytes) {
    await part.startOver();
    throw new TryAgainError(
      new HugindError('upstream_error', `${file.name}: the hub sends another part than was asked for`),
    );
  }
  const size = file.size ?? lengthOf(firstHeaders['x-linked-size']);
  if (size !== undefined && told.total !== undefined && told.total !== size)
    throw new HugindError(
      'upstream_error',
      `${file.name}: the hub lists ${size} bytes and sends ${told.total}`,
    );
  if (status === 200) {
    await part.startOver();
    const etag = strongTag(text(headers.etag));
    const sha256 = file.sha256 ?? readSha256(text(firstHeaders['x-linked-etag'])?.replaceAll('"', ''));
    const total = size ?? told.total;
    await part.describe({
      url,
      ...(etag !== undefined && { etag }),
      ...(total !== undefined && { size: total }),
      ...(sha256 !== undefined && { sha256 }),
    });
  }
  return size ?? told.total;
}

/** The listing may have changed since the part was begun. */
function isSameFile({ note, bytes }: PartFile, url: string, { size, sha256 }: HubFile): boolean {
  if (note === undefined) return false;
  if (note.url !== url || (size !== undefined && bytes > size)) return false;
  return (note.size ?? size) === (size ?? note.size) && (note.sha256 ?? sha256) === (sha256 ?? note.sha256);
}

async function isThere({ path, file, signal }: Download): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true || file.size === undefined || found.size !== file.size) return false;
  if (file.sha256 === undefined) return true;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk as Buffer);
  return hash.digest('hex') === file.sha256;
}

async function assertRoom({ path, file }: Download, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  const free = bavail * bsize;
  if (free < needed + SPARE_DISK_BYTES)
    throw new HugindError(
      'unavailable',
      `no room for ${file.name}: ${needed} bytes are to come, ${free} are free`,
      {
        data: { needed_bytes: needed, free_bytes: free },
      },
    );
}

/** A weak one says "much the same", which is not enough to join two halves. */
function strongTag(etag: string | undefined): string | undefined {
  return etag === undefined || etag.startsWith('W/') || etag.length > 1024 ? undefined : etag;
}

function rangeOf(header: string | undefined): { start: number; total: number | undefined } {
  const found = /^bytes (\d{1,16})-\d{1,16}\/(\d{1,16}|\*)$/.exec(header ?? '');
  return {
    start: found === null ? -1 : Number(found[1]),
    total: found === null || found[2] === '*' ? undefined : Number(found[2]),
  };
}

function lengthOf(header: string | string[] | undefined): number | undefined {
  const length = text(header);
  return length !== undefined && /^\d{1,16}$/.test(length) ? Number(length) : undefined;
}

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
