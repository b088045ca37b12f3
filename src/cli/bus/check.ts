// `stdio-bus --check`: what a configuration comes to, without starting anything.

import type { BusConfig } from '../../bus/config/schema.js';
import { Access } from '../../bus/listen/access.js';
import { findProgramProblem } from '../../bus/workers/find-program.js';
import { EXIT } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { printLine } from '../print-line.js';
import { readSettings, sayWhere } from './settings.js';

export async function checkBus(flags: Flags): Promise<number> {
  const { config, where, log } = readSettings(flags);
  const access = new Access(config.security, { ...process.env });
  if (where !== 'stdio' && !('path' in where)) access.assertMayListen(where.host, flags.has('allow-remote'));
  const problems = config.pools.flatMap((pool) => findProgramProblem(pool, process.env) ?? []);
  const facts = { ok: problems.length === 0, serves: sayWhere(where), problems, config: { ...config, log } };
  await printLine(flags.has('json') ? JSON.stringify(facts, null, 2) : sayFacts(facts));
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

interface Facts {
  readonly serves: string;
  readonly problems: readonly string[];
  readonly config: BusConfig;
}

function sayFacts({ serves, problems, config }: Facts): string {
  const { limits, transport } = config;
  return [
    `serves:  ${serves}, ${transport.framing} frames`,
    ...config.pools.map(
      ({ id, command, args, instances }) =>
        `pool:    ${id}: ${instances} × ${[command, ...args].map((word) => quote(word)).join(' ')}`,
    ),
    ...config.routes.map(({ method, pool }) => `route:   ${method} → ${pool}`),
    `lines:   at most ${limits.max_input_buffer} bytes, ${limits.max_output_queue} bytes waiting for a client, ${limits.max_worker_queue} for a worker`,
    `restart: at most ${limits.max_restarts} in ${limits.restart_window_sec} s`,
    `drain:   at most ${limits.drain_timeout_sec} s`,
    ...problems.map((problem) => `problem: ${problem}`),
    problems.length === 0
      ? 'The configuration is good.'
      : 'The configuration is good, but it cannot be started here.',
  ].join('\n');
}

function quote(word: string): string {
  return /^[\w./:@+=,-]+$/.test(word) ? word : JSON.stringify(word);
}
