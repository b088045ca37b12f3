// What all starts of this process share: a private directory, pipes made in advance, a guardian.

import { closeSync, constants, existsSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFifosByBun } from '../runtime/bun-fifo.js';
import { type Fifo, FifoPool, type FifoUse } from './fifo-pool.js';
import { Guardian } from './guardian.js';
import { Launcher } from './launcher.js';
import { makePrivateDir, sweepPrivateDirs } from './private-dir.js';

const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

interface Station {
  readonly dir: string;
  readonly pool: FifoPool;
  readonly guardian: Guardian;
  readonly launcher: Launcher;
}

let opened: { readonly station: Station | undefined } | undefined;
let inputs = 0;
/** Outlives the directory: it holds nothing there. */
const launcher = new Launcher();

/** Undefined where there is no place for temporary files: children then get Node's own pipes and go unguarded. */
export function useStation(): Station | undefined {
  if (opened === undefined || isTakenAway(opened.station)) opened = { station: open() };
  return opened.station;
}

/** A pipe for each use, or none at all. */
export async function openFifos(uses: readonly FifoUse[]): Promise<Fifo[]> {
  const pool = useStation()?.pool;
  if (pool === undefined || uses.length === 0) return [];
  // Once more when those who waited beside us were quicker: in a burst of starts nobody shall go without.
  while (pool.ready < uses.length) if (!(await pool.prepare(uses.length))) return [];
  const fifos = uses.map((use) => pool.open(use)).filter((fifo) => fifo !== undefined);
  if (fifos.length === uses.length) return fifos;
  for (const fifo of fifos) {
    closeSync(fifo.readFd);
    closeSync(fifo.writeFd);
  }
  return [];
}

/** Names of as many pipes, to be opened and removed by the caller; undefined where there are none. */
export async function takeFifoNames(count: number): Promise<string[] | undefined> {
  const pool = useStation()?.pool;
  if (pool === undefined) return undefined;
  while (pool.ready < count) if (!(await pool.prepare(count))) return undefined;
  return Array.from({ length: count }, () => pool.take() ?? '');
}

export function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) closeSync(fd);
}

/**
 * A file without a name that holds `bytes`, as input of a child. Unlike a socket it can be opened as /dev/stdin, and
 * unlike a FIFO that does not hang when the writer has gone. Undefined where it cannot be made.
 */
export function openInputFile(bytes: Uint8Array): number | undefined {
  const dir = useStation()?.dir;
  if (dir === undefined) return undefined;
  const path = join(dir, `i${(inputs += 1)}`);
  let writing: number | undefined;
  let reading: number | undefined;
  try {
    writing = openSync(path, NEW_FILE, 0o600);
    reading = openSync(path, constants.O_RDONLY); // a position of its own, at the beginning
    unlinkSync(path); // before the bytes come: they never lie about under a name
    for (let at = 0; at < bytes.length; ) at += writeSync(writing, bytes, at);
    return reading;
  } catch {
    if (reading !== undefined) closeSync(reading);
    if (writing !== undefined) removeQuietly(path);
    return undefined;
  } finally {
    if (writing !== undefined) closeSync(writing);
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or it goes with the directory; it is empty.
  }
}

/** Some machines tidy up their temporary files; a daemon that runs for weeks begins anew then. */
function isTakenAway(station: Station | undefined): boolean {
  return station !== undefined && !station.pool.usable && !existsSync(station.dir);
}

function open(): Station | undefined {
  setImmediate(sweepPrivateDirs).unref(); // nobody waits for the leftovers of others to be gone
  const dir = makePrivateDir();
  if (dir === undefined) return undefined;
  const pool = new FifoPool(dir, (names) =>
    launcher.ready ? launcher.makeFifos(names) : makeFifosByBun(names),
  );
  return { dir, pool, guardian: new Guardian(dir), launcher };
}
