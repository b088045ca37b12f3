// What a reader must know of the machine to judge the figures, and nothing that tells which machine it was.

import { availableParallelism, loadavg, totalmem } from 'node:os';

const GIB = 1024 ** 3;

export function machineFacts(): Record<string, string | number> {
  return {
    cpus: availableParallelism(),
    memoryGiB: Math.round(totalmem() / GIB),
    platform: process.platform,
    arch: process.arch,
    node: process.version,
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}
