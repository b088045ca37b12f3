// Shared by the tests of terminals.

import { readdirSync, readlinkSync } from 'node:fs';
import type { Pty } from '../../../../src/host/pty/pty.js';

/** All output from `from` to the end; fails when something of it was lost. */
export async function readAll(pty: Pty, from = 0): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const { data, lost } of pty.output(from)) {
    if (lost > 0) throw new Error(`${lost} bytes lost`);
    parts.push(data);
  }
  return Buffer.concat(parts);
}

/** Reads from the beginning until `text` has come, and gives all that came. */
export async function readUntil(pty: Pty, text: string): Promise<string> {
  let seen = '';
  for await (const { data } of pty.output()) {
    seen += data.toString('latin1');
    if (seen.includes(text)) return seen;
  }
  throw new Error(`output ended without ${JSON.stringify(text)}: ${JSON.stringify(seen)}`);
}

/** Where each open descriptor of a process points to. */
export function openFiles(pid: number | 'self'): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // the descriptor that listed them
    }
  });
}

/** The environment of this run with plain, predictable programs. */
export function plainEnv(): Record<string, string | undefined> {
  return { PATH: process.env['PATH'], LC_ALL: 'C' };
}
