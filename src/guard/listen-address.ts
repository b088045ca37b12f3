// Where a socket is to be served: `HOST:PORT` as people write it, and whether other machines could come there.

import { isIP } from 'node:net';
import { LocalError } from '../base/errors.js';
import { isLoopbackAuthority } from './browser-guard.js';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export class ListenAddressError extends LocalError {
  override readonly name = 'ListenAddressError';

  constructor(message: string) {
    super('bad_listen_address', message);
  }
}

const DEFAULT_HOST = '127.0.0.1';
const MAX_PORT = 65_535;
/** `[::1]:80`, `127.0.0.1:80`, `:80` and plain `80`: without a host it is this machine alone, never all of its addresses. */
const ADDRESS = /^(?:(?:\[([0-9a-f:.%]+)\]|([a-z0-9.-]*)):)?([0-9]{1,5})$/i;

export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits ?? Number.NaN);
  if (!(port <= MAX_PORT) || (bracketed !== undefined && isIP(bracketed) !== 6))
    throw new ListenAddressError(`expected HOST:PORT, such as 127.0.0.1:8040 or [::1]:0, got "${text}"`);
  const host = bracketed ?? name ?? '';
  return { host: host === '' ? DEFAULT_HOST : host, port };
}

/** Whether only this machine can connect to `host`. A name other than localhost may mean anything. */
export function isLoopbackHost(host: string): boolean {
  return isLoopbackAuthority(isIP(host) === 6 ? `[${host}]` : host);
}
