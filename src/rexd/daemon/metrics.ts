// What there is to count in a daemon, in the form that Prometheus reads.

import type { Socket } from 'node:net';
import type { Gauge } from 'prom-client';
import { INTERNAL_ERROR, RpcError } from '../../base/errors.js';
import { VERSION } from '../../base/version.js';
import type { CallReport } from '../../wire/jsonrpc/router.js';
import { METHODS } from '../protocol.js';
import type { ServerLoad } from '../server.js';

export type Carrier = 'http' | 'ws' | 'unix';

/** From a stat to a command that takes its five minutes. */
const BUCKETS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300];

/** Names of methods are labels, and whoever sends made-up ones must not make labels of them. */
const KNOWN: ReadonlySet<string> = new Set(Object.values(METHODS).map(({ name }) => name));

export interface MetricsSource {
  readonly load: () => ServerLoad;
  readonly connections: () => Readonly<Record<Carrier, number>>;
  /** HTTP requests that are being answered. */
  readonly inFlight: () => number;
}

export interface Metrics {
  readonly contentType: string;
  onCall(report: Pick<CallReport<unknown>, 'method' | 'error' | 'durationMs'>): void;
  onRefused(code: string): void;
  /** Bytes of messages, where no socket tells. */
  addBytes(carrier: Carrier, received: number, sent: number): void;
  /** All that goes over the socket from now on to its end. */
  watchBytes(carrier: Carrier, socket: ByteCount): void;
  render(): Promise<string>;
}

/** The library is loaded here: a server on stdio has nobody who would ask. */
export async function openMetrics(source: MetricsSource): Promise<Metrics> {
  const { default: prom } = await import('prom-client');
  const registry = new prom.Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new prom.Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new prom.Gauge({ name, help, registers, collect: () => made.set(read()) });
  };
  const requests = counter(
    'rexd_requests_total',
    'Requests by method and outcome: ok, or the code of the error.',
    ['method', 'outcome'],
  );
  const durations = new prom.Histogram({
    name: 'rexd_request_duration_seconds',
    help: 'How long requests took.',
    labelNames: ['method'] as const,
    buckets: BUCKETS_SECONDS,
    registers,
  });
  const refused = counter(
    'rexd_http_refused_total',
    'HTTP requests that were refused before they were read.',
    ['reason'],
  );
  const bytes = counter('rexd_bytes_total', 'Bytes by way and direction.', ['carrier', 'direction']);
  const addBytes: AddBytes = (carrier, received, sent) => {
    bytes.inc({ carrier, direction: 'received' }, received);
    bytes.inc({ carrier, direction: 'sent' }, sent);
  };
  const traffic = new Traffic(addBytes);
  gauge('rexd_sessions', 'Sessions that are open.', () => source.load().sessions);
  gauge('rexd_http_in_flight', 'HTTP requests that are being answered.', () => source.inFlight());
  gauge('rexd_processes', 'Programs that run.', () => source.load().processes);
  gauge('process_resident_memory_bytes', 'Memory of the server itself.', () => process.memoryUsage.rss());
  gauge('process_start_time_seconds', 'When it was started.', () =>
    Math.round(Date.now() / 1000 - process.uptime()),
  );
  const connections: Gauge = new prom.Gauge({
    name: 'rexd_connections',
    help: 'Connections that are open, by way.',
    labelNames: ['carrier'],
    registers,
    collect: () => {
      for (const [carrier, count] of Object.entries(source.connections()))
        connections.set({ carrier }, count);
    },
  });
  new prom.Gauge({
    name: 'rexd_info',
    help: 'The version.',
    labelNames: ['version'] as const,
    registers,
  }).set({ version: VERSION }, 1);
  return {
    contentType: registry.contentType,
    onCall: ({ method, error, durationMs }) => {
      const label = KNOWN.has(method) ? method : 'unknown';
      requests.inc({ method: label, outcome: outcomeOf(error) });
      durations.observe({ method: label }, durationMs / 1000);
    },
    onRefused: (reason) => refused.inc({ reason }),
    addBytes,
    watchBytes: (carrier, socket) => traffic.watch(carrier, socket),
    render: async () => {
      traffic.count();
      return await registry.metrics();
    },
  };
}

function outcomeOf(error: unknown): string {
  if (error === undefined) return 'ok';
  return String(error instanceof RpcError ? error.code : INTERNAL_ERROR);
}

type ByteCount = Pick<Socket, 'bytesRead' | 'bytesWritten' | 'once'>;
type AddBytes = (carrier: Carrier, received: number, sent: number) => void;

/** What goes over sockets, counted when somebody asks and when they close. */
class Traffic {
  readonly #add: AddBytes;
  readonly #open = new Set<() => void>();

  constructor(add: AddBytes) {
    this.#add = add;
  }

  watch(carrier: Carrier, socket: ByteCount): void {
    let [read, written] = [0, 0];
    const count = (): void => {
      const { bytesRead, bytesWritten } = socket;
      this.#add(carrier, bytesRead - read, bytesWritten - written);
      [read, written] = [bytesRead, bytesWritten];
    };
    this.#open.add(count);
    socket.once('close', () => {
      this.#open.delete(count);
      count();
    });
  }

  count(): void {
    for (const count of this.#open) count();
  }
}
