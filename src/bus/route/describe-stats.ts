// The counters, and what is there now.

import type { BusStats } from '../stats.js';
import type { Core } from './core.js';

export function describeStats(core: Core): BusStats {
  let queuedToClientsBytes = 0;
  let { bytesToClients, bytesToWorkers } = core.counters;
  for (const { output } of core.clients) {
    queuedToClientsBytes += output.queuedBytes;
    bytesToClients += output.totalBytes;
  }
  for (const { output } of core.workers) bytesToWorkers += output.totalBytes;
  let waiting = 0;
  for (const pool of core.pools.values()) waiting += pool.waiting.length;
  return {
    ...core.counters,
    bytesToClients,
    bytesToWorkers,
    clients: core.clients.size,
    sessions: core.sessions.size,
    pending: core.pending.size,
    waiting,
    queuedToClientsBytes,
    workers: [...core.workers].map((worker) => ({
      number: worker.number,
      name: worker.name,
      pool: worker.pool.id,
      load: worker.load,
      queuedBytes: worker.output.queuedBytes,
      rubbish: worker.rubbish,
      state: worker.state === 'gone' ? 'retiring' : worker.state,
    })),
  };
}
