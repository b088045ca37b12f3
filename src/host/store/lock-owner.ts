// Who holds a lock, written so that anyone can tell whether that process still lives.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { errnoOf } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { isDead, readPidNamespace, readStat } from '../process/proc-table.js';

export interface LockOwner {
  readonly pid: number;
  /** A pid is given to someone else later; a pid with its start is not. 0 where there is no /proc. */
  readonly startTicks: number;
  /** A pid counts only within its namespace, ... */
  readonly namespace: string;
  /** ... and only until the machine is started again. */
  readonly boot: string;
  readonly machine: string;
  /** No two holders have the same, also when one process locks many times. */
  readonly token: string;
}

const NAME = /^(\d{1,10})\.(\d{1,18})\.(\d{1,18})\.([0-9a-f]{12})\.([0-9a-f]{12})\.(l_[0-9a-z]{26})$/;
const FINGERPRINT_CHARS = 12;

let here: Omit<LockOwner, 'token'> | undefined;

export function newOwner(): LockOwner {
  here ??= {
    pid: process.pid,
    startTicks: readStat(process.pid)?.startTicks ?? 0,
    namespace: readPidNamespace(),
    boot: fingerprint(['/proc/sys/kernel/random/boot_id']),
    machine: fingerprint(['/etc/machine-id', '/var/lib/dbus/machine-id']),
  };
  return { ...here, token: newId('l') };
}

/** A name for a file: the owner is known as soon as the file is there, with no moment in which it is empty. */
export function formatOwner(owner: LockOwner): string {
  const { pid, startTicks, namespace, boot, machine, token } = owner;
  return [pid, startTicks, namespace, boot, machine, token].join('.');
}

export function parseOwner(name: string): LockOwner | undefined {
  const [, pid, startTicks, namespace = '', boot = '', machine = '', token = ''] = NAME.exec(name) ?? [];
  if (pid === undefined) return undefined;
  return { pid: Number(pid), startTicks: Number(startTicks), namespace, boot, machine, token };
}

/** `unknown`: a process of another container or machine, which cannot be seen from here. */
export function lookForOwner(owner: LockOwner, self: LockOwner = newOwner()): 'alive' | 'gone' | 'unknown' {
  if (owner.machine === self.machine && owner.boot !== self.boot) return 'gone'; // the machine was started again
  if (owner.boot !== self.boot || owner.namespace !== self.namespace) return 'unknown';
  // Asked this way first: where /proc hides the processes of others, a missing entry means nothing.
  if (!exists(owner.pid)) return 'gone';
  const stat = readStat(owner.pid);
  if (stat === undefined) return 'alive';
  return stat.startTicks === owner.startTicks && !isDead(stat) ? 'alive' : 'gone';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

/** Of the first file that says something. The host's name is what is left where there is none. */
function fingerprint(files: readonly string[]): string {
  const text = files.map(readText).find((found) => found !== '') ?? hostname();
  return createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_CHARS);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
