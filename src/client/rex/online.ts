// What it takes to speak to a daemon over the network: its address, our token, our certificate, and why it does not answer.

import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import type { OnlineTarget } from './target.js';

/** A token is a line; what is longer is some other file. */
export const MAX_TOKEN_FILE_BYTES = 16 * 1024;

export interface OnlineOptions {
  /** `http(s)://` for POST, `ws(s)://` for a WebSocket; each is taken for the other. Without a path, the usual one. */
  readonly url: string;
  readonly token?: string | undefined;
  /** In PEM: authorities to believe instead of the machine's, our certificate, its key. */
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type OnlineReason =
  | 'not_authorised'
  | 'certificate'
  | 'unreachable'
  | 'not_rexd'
  | 'busy'
  | 'bad_target';

export class OnlineError extends LocalError {
  override readonly name = 'OnlineError';
  readonly reason: OnlineReason;

  constructor(reason: OnlineReason, message: string, cause?: unknown) {
    super(`online_${reason}`, message, { facts: { reason }, cause });
    this.reason = reason;
  }
}

/** Reads what the target names. Throws an OnlineError for what is not there. */
export function credentialsOf(target: OnlineTarget, env: NodeJS.ProcessEnv): OnlineOptions {
  const { url, tokenFile, tokenEnv, caFile, certFile, keyFile } = target;
  return {
    url,
    token: tokenFile === undefined ? tokenFrom(env, tokenEnv) : readToken(tokenFile),
    ca: readPem('caFile', caFile),
    cert: readPem('certFile', certFile),
    key: readPem('keyFile', keyFile),
  };
}

const PATHS = { http: '/rpc', ws: '/ws' } as const;

/** The address for one of the two ways. Throws an OnlineError for one that cannot be used, or must not be. */
export function addressOf(options: Pick<OnlineOptions, 'url' | 'token'>, way: 'http' | 'ws'): URL {
  let url: URL;
  try {
    url = new URL(options.url);
  } catch (cause) {
    throw new OnlineError('bad_target', `"${options.url}" is no address; write http://HOST:PORT`, cause);
  }
  const secure = ['https:', 'wss:'].includes(url.protocol);
  if (!secure && !['http:', 'ws:'].includes(url.protocol))
    throw new OnlineError('bad_target', `"${url.protocol}" is not spoken here; write http:// or https://`);
  if (url.username !== '' || url.password !== '')
    throw new OnlineError('bad_target', 'an address has no place for secrets; use tokenFile or tokenEnv');
  if (!secure && options.token !== undefined && !isLoopback(url.hostname))
    throw new OnlineError('bad_target', `the token would go to ${url.hostname} in the clear; use https://`);
  const address = new URL(url.href.replace(/^[a-z]+:/i, secure ? `${way}s:` : `${way}:`));
  if (address.pathname === '/') address.pathname = PATHS[way];
  return address;
}

/** What an answer that is not one of JSON-RPC means. */
export function explainStatus(status: number, body: string): OnlineError {
  const said = /"message":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? '';
  const told = said === '' ? '' : `: ${said.replaceAll('\\"', '"')}`;
  if (status === 401) return new OnlineError('not_authorised', `the daemon does not let us in${told}`);
  if (status === 403) return new OnlineError('not_authorised', `the daemon refuses the request${told}`);
  if (status === 503) return new OnlineError('busy', `the daemon has too much to do, or is ending${told}`);
  return new OnlineError('not_rexd', `something else than rexd answered, with status ${status}${told}`);
}

/** What the system says when no answer comes at all. */
export function explainNetwork(thrown: unknown, url: URL): OnlineError {
  if (thrown instanceof OnlineError) return thrown;
  const error = toError(thrown);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (
    /CERT|TLS|SSL|UNABLE_TO|SELF_SIGNED|EPROTO/.test(code) ||
    /certificate|wrong version number/i.test(error.message)
  )
    return new OnlineError(
      'certificate',
      `TLS with ${url.host} does not come about: ${error.message}`,
      error,
    );
  const why = errnoOf(error) ?? error.message;
  return new OnlineError(
    'unreachable',
    `${url.host} does not answer (${why}); is the daemon running there?`,
    error,
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}

function tokenFrom(env: NodeJS.ProcessEnv, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const token = env[name] ?? '';
  if (token === '')
    throw new OnlineError('not_authorised', `the token is to be in ${name}, which is not set`);
  return token;
}

/** As ssh has it with keys: one that others can read is not used. */
function readToken(file: string): string {
  const path = expandHome(file);
  const { mode, size } = statOf('tokenFile', path);
  if ((mode & 0o004) !== 0)
    throw new OnlineError('not_authorised', `${path} can be read by everybody; try: chmod 600 ${path}`);
  if (size > MAX_TOKEN_FILE_BYTES) throw new OnlineError('not_authorised', `${path} is too long for a token`);
  const token = readFileSync(path, 'utf8').trim();
  if (token === '') throw new OnlineError('not_authorised', `${path} has no token in it`);
  return token;
}

function readPem(field: string, file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined;
  const path = expandHome(file);
  statOf(field, path);
  return readFileSync(path);
}

function statOf(field: string, path: string): { readonly mode: number; readonly size: number } {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return stat;
    throw new OnlineError('bad_target', `${field}: ${path} is not a file`);
  } catch (thrown) {
    if (thrown instanceof OnlineError) throw thrown;
    throw new OnlineError('bad_target', `${field}: ${path} cannot be read (${errnoOf(thrown)})`, thrown);
  }
}

/** As a shell would: a path of a configuration begins nowhere else. */
export function expandHome(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
}
