// Changes to one file, one after the other: an edit reads before it writes, and two at once would each find the other's.

import { Lane, LaneFullError } from '../../base/lane.js';
import { FilesError } from '../../host/files/path-errors.js';
import { locate } from '../../host/files/place.js';
import { rexdError } from '../errors.js';
import type { Files } from './file-call.js';

/** Changes that wait for one file. */
export const MAX_WAITING_CHANGES = 1024;

interface Queue {
  readonly lane: Lane;
  users: number;
}

/** By the real paths of files, however they were asked for; only of those that are being changed. */
const queues = new Map<string, Queue>();

/** Runs `work` when nothing else that came this way is at any of these files. First come, first served. */
export async function inTurn<T>(paths: readonly string[], call: Files, work: () => Promise<T>): Promise<T> {
  // All in one order: two that want the same two files never wait for each other.
  const files = [...new Set(paths.map((path) => realPath(path, call)))].sort();
  try {
    return await files.reduceRight<() => Promise<T>>((next, file) => () => inLane(file, call, next), work)();
  } catch (thrown) {
    if (!(thrown instanceof LaneFullError)) throw thrown;
    throw rexdError('resource_limit', 'too many changes are waiting for this file', thrown.facts, thrown);
  }
}

async function inLane<T>(file: string, call: Files, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(file) ?? { lane: new Lane({ maxWaiting: MAX_WAITING_CHANGES }), users: 0 };
  queues.set(file, queue);
  queue.users += 1;
  try {
    return await queue.lane.run(work, call.signal);
  } finally {
    queue.users -= 1;
    if (queue.users === 0) queues.delete(file);
  }
}

/** What cannot be found now is left to the change itself, which says why. */
function realPath(path: string, { roots }: Files): string {
  try {
    using place = locate(roots, path, { follow: true });
    return place.real;
  } catch (thrown) {
    if (thrown instanceof FilesError) return path;
    throw thrown;
  }
}
