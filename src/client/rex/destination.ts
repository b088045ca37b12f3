// `[user@]host[:port]`, as people write the address of a host.

import { TargetsError } from './target.js';

export interface Destination {
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
}

/** Longest name of a host there is, and far more than a user's. */
export const MAX_DESTINATION_CHARS = 1024;

const ADDRESS = /^(?:ssh:\/\/)?(?:([^@\s/]+)@)?(\[[0-9A-Fa-f:.]+(?:%\w+)?\]|[^@:/\s[\]]+)(?::(\d{1,5}))?\/?$/;

/**
 * Also `ssh://user@host:port` and IPv6: bare, or in brackets when a port follows. A name from ~/.ssh/config is a host
 * like any other. Throws a TargetsError that says what is wrong with it.
 */
export function parseDestination(text: string): Destination {
  const bad = (why: string): TargetsError =>
    new TargetsError(`"${text.slice(0, 80)}" is no address of a host: ${why}; write [user@]host[:port]`);
  if (text.length > MAX_DESTINATION_CHARS) throw bad('it is too long');
  if (text.startsWith('-')) throw bad('it must not begin with "-"');
  const bare = isBareIPv6(text);
  const [, user, host, port] = bare ?? ADDRESS.exec(text) ?? [];
  if (host === undefined || host === '') throw bad('it has no host, or characters that no host has');
  if (user?.startsWith('-') === true || host.startsWith('-')) throw bad('no part of it may begin with "-"');
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) throw bad('a port is from 1 to 65535');
  return {
    host: host.startsWith('[') ? host.slice(1, -1) : host,
    ...(user !== undefined && { user }),
    ...(number !== undefined && { port: number }),
  };
}

/** So that parseDestination reads the same from it. */
export function formatDestination({ host, user, port }: Destination): string {
  const shown = host.includes(':') && port !== undefined ? `[${host}]` : host;
  return `${user === undefined ? '' : `${user}@`}${shown}${port === undefined ? '' : `:${port}`}`;
}

/** Two colons or more and no bracket: all of it is the address, and no port. */
function isBareIPv6(text: string): [string, string | undefined, string] | undefined {
  const [, user, host = ''] = /^(?:([^@\s/]+)@)?([0-9A-Fa-f:.]+(?:%\w+)?)$/.exec(text) ?? [];
  return host.split(':').length > 2 ? [text, user, host] : undefined;
}
