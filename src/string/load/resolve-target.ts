// Where an address leads, from where it is said: typed by the agent, or written in a page that may not be trusted.

import { dirname, resolve } from 'node:path';
import type { CommandCall } from '../command.js';
import { pathOfUri } from '../files/agent-files.js';
import { type Failure, fail } from '../result.js';
import type { Reach } from '../web/guarded-request.js';
import { isLoopbackHost } from '../web/public-address.js';

export type Place =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: true; readonly url: string; readonly reach: Reach; readonly manifest?: string };

/** While a manifest is read, what is beside it is looked for in its files first. */
export function within(place: Place | Failure, manifest: string | undefined): Place | Failure {
  if (manifest === undefined || !place.ok || 'path' in place) return place;
  return place.url.startsWith(new URL('.', manifest).href) ? { ...place, manifest } : place;
}

const SCHEME = /^([a-z][a-z0-9+.-]*):/iu;

export function isWeb(uri: string | undefined): uri is string {
  return uri !== undefined && /^https?:\/\//iu.test(uri);
}

/** An address that the agent itself wrote: it may name what it likes, and is told what it cannot have. */
export function resolveTyped(
  { session, runtime }: Pick<CommandCall, 'session' | 'runtime'>,
  target: string,
): Place | Failure {
  const text = ofChanflow(target);
  if (isWeb(text)) return web(text, 'any');
  if (/^[a-z][a-z0-9+.-]*:\/\//iu.test(text) && !/^file:/iu.test(text)) return unsupported(target);
  const here = session.document?.uri;
  if (isWeb(here) && !/^(?:~(?:\/|$)|file:)/iu.test(text)) return relativeWeb(text, here, 'any');
  try {
    if (/^file:/iu.test(text)) return file(pathOfUri(text) ?? text);
    return file(runtime.files.resolve(session, text));
  } catch (thrown) {
    if (thrown instanceof TypeError) return fail('INVALID_TARGET', `Not a file address: ${target}`);
    return runtime.files.explain(thrown, target);
  }
}

/** An address that stands in the document `base`. One from the web leads to the web only, and not into this machine. */
export function resolveWritten(
  { runtime }: Pick<CommandCall, 'runtime'>,
  href: string,
  base: string,
): Place | Failure {
  const text = ofChanflow(href);
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'act')
    return fail('INVALID_TARGET', `An action, not a page: ${href}`, `Use: /act.${text.slice('act:'.length)}`);
  if (isWeb(base)) {
    if (scheme === 'file')
      return fail('FILE_NOT_ALLOWED', `A page from the web may not lead to files of this machine: ${href}`);
    if (scheme === 'app' || scheme === 'tool' || scheme === 'bash')
      return fail('POLICY_DENIED', `A page from the web may not open apps, tools or shells: ${href}`);
    return scheme !== undefined && !isWeb(text)
      ? unsupported(href)
      : relativeWeb(text, base, reachFrom(base));
  }
  if (isWeb(text)) return web(text, 'any');
  if (scheme !== undefined && scheme !== 'file' && scheme.length > 1) return unsupported(href);
  try {
    if (scheme === 'file') return file(pathOfUri(text) ?? text);
    const from = pathOfUri(base);
    const path = decode(text);
    if (/^~(?:\/|$)/u.test(path)) return file(`${runtime.agent.home}${path.slice(1)}`);
    return file(resolve(from === undefined ? runtime.agent.home : dirname(from), path));
  } catch (thrown) {
    if (thrown instanceof TypeError) return fail('INVALID_TARGET', `Not a file address: ${href}`);
    return runtime.files.explain(thrown, href);
  }
}

/** What a page at `base` may reach: the same origin when that is this machine by its own name, the public web otherwise. */
export function reachFrom(base: string): (url: string) => Reach {
  const { origin, hostname } = new URL(base);
  return (url) => (isLoopbackHost(hostname) && new URL(url).origin === origin ? { origin } : 'public');
}

function relativeWeb(text: string, base: string, reach: Reach | ((url: string) => Reach)): Place | Failure {
  if (!URL.canParse(text, base)) return fail('INVALID_TARGET', `Not an address: ${text}`);
  const url = new URL(text, base).href;
  return web(url, typeof reach === 'function' ? reach(url) : reach);
}

function web(url: string, reach: Reach): Place | Failure {
  if (!URL.canParse(url)) return fail('INVALID_TARGET', `Not an address: ${url}`);
  return { ok: true, url: new URL(url).href, reach };
}

function file(path: string): Place {
  return { ok: true, path };
}

function unsupported(target: string): Failure {
  return fail(
    'LOAD_ERROR',
    `Unsupported URI scheme: ${target}`,
    'Files, http:// and https:// can be opened.',
  );
}

function ofChanflow(target: string): string {
  return target.replace(/^chanflow:\/\//iu, 'https://');
}

/** Links in Markdown are written as addresses, where a blank is `%20`. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
