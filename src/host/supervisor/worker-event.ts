// What happens to a worker, for logs, metrics and whoever routes work to it.

import type { LeaderExit } from '../process/leader.js';

interface OfWorker {
  readonly worker: string;
}

export type WorkerEvent =
  | (OfWorker & { readonly type: 'started' | 'ready'; readonly pid: number })
  /** It could not be started, or did not get ready. */
  | (OfWorker & { readonly type: 'start_failed'; readonly error: Error })
  /** Its process has ended, and all that the process left behind. */
  | (OfWorker & { readonly type: 'exited'; readonly pid: number; readonly exit: LeaderExit })
  | (OfWorker & { readonly type: 'restarting'; readonly delayMs: number; readonly restarts: number })
  /** It has used up its restarts, or its process cannot be killed, and is given up. */
  | (OfWorker & { readonly type: 'failed'; readonly restarts: number; readonly windowMs: number })
  /** Someone of its tree could not be killed. */
  | (OfWorker & { readonly type: 'stop_failed'; readonly error: Error })
  | (OfWorker & { readonly type: 'stopped' });
