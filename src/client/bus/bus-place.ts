// Where a bus is reached, and a link to it: a unix socket, TCP, a bus that a command starts, or one in this process.

import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { deadline } from '../../base/deadline.js';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import { closeDuplex } from '../../wire/transport/close-stream.js';
import type { Link } from '../../wire/transport/link.js';
import { CONNECT_MS, connectSocket } from '../../wire/transport/socket.js';
import { openCommandLink } from '../rex/command-link.js';

export type BusPlace =
  | { readonly path: string }
  | {
      readonly host: string;
      readonly port: number;
      /** For a bus that asks for one. */
      readonly token?: string;
      /** TLS, with these settings: `ca`, and `cert` and `key` for a bus that asks for a certificate. */
      readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'>;
    }
  /** A bus on stdio, started for this client and ended with it. */
  | { readonly command: readonly string[]; readonly env?: NodeJS.ProcessEnv; readonly cwd?: string }
  /** Each call gives another stream to the bus: `() => bus.connect()` for one in this process. */
  | { readonly stream: () => Duplex | Promise<Duplex> };

/** Nobody answers there, or not as a bus would. Another attempt may well succeed. */
export class BusUnreachableError extends LocalError {
  override readonly name = 'BusUnreachableError';

  constructor(place: BusPlace, cause: unknown) {
    const why = errnoOf(cause) ?? toError(cause).message;
    const where = sayPlace(place);
    super('bus_unreachable', `no bus at ${where}: ${EXPLAINED[why] ?? why}`, { cause, facts: { where } });
  }
}

const EXPLAINED: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket (ENOENT); start one with: stdio-bus --config FILE --unix PATH',
  ECONNREFUSED: 'nobody listens there (ECONNREFUSED)',
  EACCES: 'the socket is not yours to use (EACCES)',
  ENOTFOUND: 'no such host (ENOTFOUND)',
};

/** For callers without types: else the place would be looked for, again and again. Throws TypeError. */
export function assertPlace(place: Readonly<Record<string, unknown>>): void {
  if (['path', 'command', 'stream'].some((key) => place[key] !== undefined)) return;
  if (place['host'] !== undefined && place['port'] !== undefined) return;
  throw new TypeError('a bus is reached by { path }, { host, port }, { command } or { stream }');
}

export async function openBusLink(place: BusPlace, signal: AbortSignal): Promise<Link> {
  try {
    if ('stream' in place) return streamLink(await place.stream());
    if ('command' in place) return await openCommandLink(place.command, place);
    if ('path' in place) return await connectSocket({ path: place.path }, { signal });
    const { host, port, tls } = place;
    return tls === undefined
      ? await connectSocket({ host, port }, { signal })
      : await connectSecurely({ ...tls, host, port }, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    throw new BusUnreachableError(place, thrown);
  }
}

export function sayPlace(place: BusPlace): string {
  if ('path' in place) return `unix:${place.path}`;
  if ('host' in place)
    return `tcp:${place.host.includes(':') ? `[${place.host}]` : place.host}:${place.port}`;
  return 'command' in place ? place.command.join(' ') : 'stream';
}

async function connectSecurely(options: ConnectionOptions, signal: AbortSignal): Promise<Link> {
  using limit = deadline(CONNECT_MS, { also: [signal] });
  const socket = connectTls({ ALPNProtocols: [], ...options });
  try {
    await once(socket, 'secureConnect', { signal: limit.signal });
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
  return streamLink(socket);
}

function streamLink(stream: Duplex): Link {
  stream.on('error', () => {}); // whoever uses the link listens too; afterwards none may be uncaught
  let closing: Promise<void> | undefined;
  return { input: stream, output: stream, name: 'bus', close: () => (closing ??= closeDuplex(stream)) };
}
