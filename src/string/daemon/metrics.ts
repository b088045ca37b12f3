// The numbers of the daemon in the form that Prometheus reads. The library is loaded when somebody first asks.

import type * as Prom from 'prom-client';
import type { Gauge, Registry } from 'prom-client';
import { VERSION } from '../../base/version.js';
import type { Stats } from './stats.js';

export interface MetricsSource {
  readonly stats: Stats;
  readonly agents: () => number;
  readonly sessions: () => number;
  readonly executing: () => number;
  readonly connections: () => number;
}

export class Metrics {
  readonly #source: MetricsSource;
  #registry: Promise<Registry> | undefined;

  constructor(source: MetricsSource) {
    this.#source = source;
  }

  async render(): Promise<{ type: string; text: string }> {
    this.#registry ??= this.#open();
    const registry = await this.#registry;
    return { type: registry.contentType, text: await registry.metrics() };
  }

  async #open(): Promise<Registry> {
    const { default: prom } = await import('prom-client');
    const registry = new prom.Registry();
    const source = this.#source;
    addGauges(prom, registry, source);
    addCounters(prom, registry, source.stats);
    new prom.Gauge({
      name: 'stringd_info',
      help: 'The version.',
      labelNames: ['version'] as const,
      registers: [registry],
    }).set({ version: VERSION }, 1);
    return registry;
  }
}

function addGauges(prom: typeof Prom.default, registry: Registry, source: MetricsSource): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new prom.Gauge({
      name,
      help,
      registers: [registry],
      collect: () => made.set(read()),
    });
  };
  gauge('stringd_agents', 'Registered agents.', source.agents);
  gauge('stringd_sessions', 'Open topics of all agents.', source.sessions);
  gauge('stringd_executing', 'Topics that execute a command.', source.executing);
  gauge('stringd_connections', 'Open HTTP connections.', source.connections);
  gauge('stringd_event_streams', 'Open event streams.', () => source.stats.streams);
  gauge('process_resident_memory_bytes', 'Memory of the daemon itself.', () => process.memoryUsage.rss());
  gauge('process_start_time_seconds', 'When it was started.', () =>
    Math.round(Date.now() / 1000 - process.uptime()),
  );
}

/** What was counted elsewhere, as it stands now. */
function addCounters(prom: typeof Prom.default, registry: Registry, stats: Stats): void {
  const counter = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    read: () => Iterable<readonly [Record<L, string>, number]>,
  ): void => {
    const made = new prom.Counter<L>({
      name,
      help,
      labelNames,
      registers: [registry],
      collect: () => {
        made.reset();
        for (const [labels, value] of read()) made.inc(labels, value);
      },
    });
  };
  const commands = (value: (entry: { count: number; seconds: number }) => number) => () =>
    [...stats.commands].map(([key, entry]) => {
      const [surface = '', outcome = ''] = key.split(' ');
      return [{ surface, outcome }, value(entry)] as const;
    });
  const labels: ('surface' | 'outcome')[] = ['surface', 'outcome'];
  counter(
    'stringd_commands_total',
    'Commands by surface and outcome.',
    labels,
    commands((e) => e.count),
  );
  counter(
    'stringd_command_seconds_total',
    'Time from the arrival of commands to their end.',
    labels,
    commands((e) => e.seconds),
  );
  counter('stringd_webhook_posts_total', 'Posts to webhooks by outcome.', ['outcome'], () =>
    [...stats.webhooks].map(([outcome, n]) => [{ outcome }, n] as const),
  );
  counter('stringd_http_refused_total', 'Requests refused before they were read.', ['reason'], () =>
    [...stats.refused].map(([reason, n]) => [{ reason }, n] as const),
  );
}
