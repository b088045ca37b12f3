// What is to be installed, read from where it is: a file with what lies beside it, a folder, an address.

import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { deadline, TimeoutError } from '../../base/deadline.js';
import { listDirectory } from '../../host/files/list.js';
import { readFile } from '../../host/files/read.js';
import { pin } from '../../host/files/walk.js';
import type { AgentFiles } from '../files/agent-files.js';
import { guardedRequest, type GuardedResponse, type Reach } from '../web/guarded-request.js';
import { AddressRefusedError, RequestFailedError } from '../web/request-errors.js';
import { refuse } from '../refused.js';
import { hashOf, MAIN, MAX_PACKAGE_BYTES, MAX_PACKAGE_FILES, PackageFiles } from './package-files.js';

const ACCEPT = 'application/json, text/markdown, text/plain';
/** Never part of a package. */
const LEFT_OUT = new Set(['.git', '.hg', '.svn', 'node_modules']);
/** What a home is made of, for a document that lies right in it. */
const PARTS_OF_HOME = new Set(['config.json']);
/** For all files of a package together: each of them may be answered late. */
export const PACKAGE_TIMEOUT_MS = 120_000;
const MAX_LISTED = 10 * MAX_PACKAGE_FILES;

const Manifest = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      url: z.optional(z.string()),
      content: z.optional(z.string()),
      sha256: z.optional(z.string()),
    }),
  ),
  delivery: z.optional(z.enum(['local', 'link', 'any'])),
});

export interface PackageSource {
  readonly files: PackageFiles;
  /** As it is shown and remembered. */
  readonly source: string;
  /** What it is called when it does not say so itself. */
  readonly fallbackName: string;
  /** It wants to be fetched anew whenever it is opened. */
  readonly wantsLink: boolean;
}

/** Throws RefusedError, FilesError. */
export async function readLocal(
  files: AgentFiles,
  path: string,
  options: { readonly home: string; readonly signal: AbortSignal },
): Promise<PackageSource> {
  using held = pin(files.roots().files, path);
  const isFolder = held.stat().isDirectory();
  const folder = isFolder ? path : dirname(path);
  const main = isFolder ? MAIN : basename(path);
  if (!isFolder && !/\.(?:md|markdown)$/iu.test(main))
    refuse('INVALID_TARGET', `Not a Markdown document: ${path}`);
  const found = new PackageFiles();
  const isHome = folder === options.home;
  const { entries, truncated } = await listDirectory(files.roots().files, folder, {
    recursive: !isHome,
    maxEntries: MAX_LISTED,
    signal: options.signal,
  });
  if (truncated) refuse('LOAD_ERROR', `Too many files below ${folder}`);
  for (const entry of entries) {
    const relative = entry.path.slice(folder.length + 1);
    if (relative.split('/').some((part) => LEFT_OUT.has(part)) || entry.type === 'dir') continue;
    if (isHome && (PARTS_OF_HOME.has(relative) || relative.startsWith('.'))) continue;
    if (entry.type !== 'file')
      refuse('FILE_NOT_ALLOWED', `A package cannot have links or devices: ${relative}`);
    const name = relative === main ? MAIN : relative;
    if (name === MAIN && relative !== main) continue; // another document lies beside the one that is meant
    found.add(name, await readOne(files, entry.path, options.signal));
  }
  if (!found.has(MAIN)) refuse('NOT_FOUND', `File not found: ${join(folder, main)}`);
  return { files: found, source: path, fallbackName: nameOf(isFolder ? path : main), wantsLink: false };
}

async function readOne(
  files: AgentFiles,
  path: string,
  signal: AbortSignal,
): Promise<{ data: Buffer; executable: boolean }> {
  using held = pin(files.roots().files, path);
  const executable = (held.stat().mode & 0o100) !== 0;
  const { data } = await readFile(files.roots().files, path, {
    maxBytes: MAX_PACKAGE_BYTES,
    whole: true,
    signal,
  });
  return { data, executable };
}

/** Throws RefusedError. */
export async function readRemote(
  url: string,
  reach: Reach,
  called: AbortSignal,
  timeoutMs = PACKAGE_TIMEOUT_MS,
): Promise<PackageSource> {
  using limit = deadline(timeoutMs, { also: [called] });
  const { signal } = limit;
  const response = await fetchOne(url, reach, signal);
  const text = response.body.toString('utf8');
  const files = new PackageFiles();
  const fallbackName = nameOf(new URL(response.url).pathname);
  const manifest = parseManifest(text);
  if (manifest === undefined) {
    if (/html/iu.test(response.headers['content-type'] ?? ''))
      refuse('LOAD_ERROR', `Not a Markdown document: ${url}`);
    files.add(MAIN, { data: response.body, executable: false });
    return { files, source: url, fallbackName, wantsLink: false };
  }
  if (manifest.files.length > MAX_PACKAGE_FILES)
    refuse('LOAD_ERROR', `The package has more than ${MAX_PACKAGE_FILES} files`);
  if (!manifest.files.some(({ path }) => path === MAIN)) {
    const names = manifest.files.map(({ path }) => path).slice(0, 20);
    refuse('LOAD_ERROR', `The manifest has no ${MAIN}`, `files: ${names.join(', ')}`);
  }
  for (const { path, url: from, content, sha256 } of manifest.files) {
    const data =
      content === undefined
        ? await fetchPart(path, from, response.url, signal)
        : Buffer.from(content, 'utf8');
    if (sha256 !== undefined && sha256.toLowerCase() !== hashOf(data))
      refuse('LOAD_ERROR', `${path} is not what the manifest says: its sha256 is ${hashOf(data)}`);
    files.add(path, { data, executable: false });
  }
  return { files, source: url, fallbackName, wantsLink: manifest.delivery === 'link' };
}

/** From where the manifest is, or from the public web: no manifest leads into this machine. */
async function fetchPart(
  path: string,
  from: string | undefined,
  base: string,
  signal: AbortSignal,
): Promise<Buffer> {
  if (from === undefined || !URL.canParse(from, base))
    return refuse('LOAD_ERROR', `The manifest does not say where ${path} is`);
  const url = new URL(from, base);
  const { origin } = new URL(base);
  const { body } = await fetchOne(url.href, url.origin === origin ? { origin } : 'public', signal);
  return body;
}

async function fetchOne(url: string, reach: Reach, signal: AbortSignal): Promise<GuardedResponse> {
  try {
    const response = await guardedRequest({
      url,
      headers: { accept: ACCEPT, 'user-agent': 'stringd' },
      reach,
      signal,
    });
    const { status } = response;
    if (status === 404 || status === 410) refuse('NOT_FOUND', `Not found: ${url}`, `HTTP ${status}`);
    if (status === 401 || status === 403) refuse('AUTH_REQUIRED', `HTTP ${status} fetching ${url}`);
    if (status < 200 || status > 299) refuse('LOAD_ERROR', `HTTP ${status} fetching ${url}`);
    return response;
  } catch (thrown) {
    if (signal.aborted && !(signal.reason instanceof TimeoutError)) refuse('CANCELLED', `Cancelled: ${url}`);
    if (thrown instanceof AddressRefusedError) refuse('POLICY_DENIED', thrown.message);
    if (thrown instanceof RequestFailedError) refuse('LOAD_ERROR', thrown.message);
    if (thrown instanceof TimeoutError) refuse('TIMEOUT', `No answer in time: ${url}`);
    throw thrown;
  }
}

function parseManifest(text: string): z.infer<typeof Manifest> | undefined {
  try {
    return Manifest.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // Markdown, most likely
  }
}

function nameOf(path: string): string {
  return basename(path).replace(/\.(?:md|markdown|json)$/iu, '');
}
