// What the options of `rex target add` may be.

import { UsageError } from '../../flags.js';

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new UsageError(`"${text}" is no port: it is from 1 to 65535`);
  return port;
}

/** Folders of the host, each from its root: nobody else knows where a relative one would begin. */
export function assertAbsolute(name: string, folder: string): string {
  if (!folder.startsWith('/') && !folder.startsWith('~'))
    throw new UsageError(`${name} ${folder}: write the whole path, from /`);
  return folder.length > 1 ? folder.replace(/\/+$/, '') : folder;
}
