// `stdio-bus stats` and `stdio-bus restart`: one request to a running bus, and its answer for people or programs.

import type { BusReport } from '../../bus/bus-report.js';
import { RESTART_METHOD, STATS_METHOD } from '../../bus/protocol.js';
import { EXIT } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { printLine } from '../print-line.js';
import { askBus } from './ask-bus.js';

/** For an answer to `stats`, which a bus gives at once. */
const STATS_MS = 10_000;
/** A rolling restart waits for every new worker to be ready and for every old one to finish. */
const RESTART_MS = 60 * 60 * 1000;

export async function showStats(flags: Flags): Promise<number> {
  const report = (await askBus(flags, { method: STATS_METHOD, timeoutMs: STATS_MS })) as BusReport;
  return await printLine(flags.has('json') ? JSON.stringify(report) : sayReport(report));
}

export async function askRestart(flags: Flags): Promise<number> {
  const pool = flags.value('pool');
  const params = pool === undefined ? {} : { pool };
  const answer = (await askBus(flags, { method: RESTART_METHOD, params, timeoutMs: RESTART_MS })) as {
    readonly restarted: number;
  };
  if (flags.has('json')) return await printLine(JSON.stringify(answer));
  process.stderr.write(`stdio-bus: ${answer.restarted} workers were replaced\n`);
  return EXIT.ok;
}

function sayReport({ version, pid, uptime_sec, draining, listening, pools, stats }: BusReport): string {
  const { workers: _, ...numbers } = stats;
  return [
    `stdio-bus ${version}, pid ${pid}, up ${uptime_sec} s${draining ? ', draining' : ''}`,
    ...listening.map((place) => `listening on ${place}`),
    ...pools.flatMap(({ id, ready, restarts, workers }) => [
      `pool ${id}: ${ready} of ${workers.length} ready, ${restarts} restarts`,
      ...workers.map(
        ({ name, pid: worker, state, restarts: again }) =>
          `  ${name}  ${state}${worker === undefined ? '' : `, pid ${worker}`}, ${loadOf(stats, name)} pending, ${again} restarts`,
      ),
    ]),
    ...Object.entries(numbers).map(([name, value]) => `${name}: ${String(value)}`),
  ].join('\n');
}

function loadOf(stats: BusReport['stats'], name: string): number {
  return stats.workers.find((worker) => worker.name === name)?.load ?? 0;
}
