// What there is to count in a bus, in the form that Prometheus reads.

import type { BusReport } from './bus-report.js';

export interface BusMetrics {
  readonly contentType: string;
  render(): Promise<string>;
}

/** The library is loaded here: most buses have nobody who would ask. */
export async function openMetrics(report: () => BusReport): Promise<BusMetrics> {
  const { default: prom } = await import('prom-client');
  const registry = new prom.Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new prom.Counter({ name: `stdio_bus_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: readonly string[]) =>
    new prom.Gauge({ name: `stdio_bus_${name}`, help, labelNames, registers });
  const events = counter('events_total', 'What has happened, by the name it has in bus/stats.', ['event']);
  const messages = counter('messages_total', 'Messages, by who sent them.', ['from']);
  const bytes = counter('bytes_total', 'Bytes of messages, by who sent or got them.', ['direction']);
  const restarts = counter('worker_restarts_total', 'Workers that were started again.', ['pool']);
  const now = gauge('now', 'How many there are at this moment.', ['what']);
  const workers = gauge('workers', 'Workers by their state.', ['pool', 'state']);
  const load = gauge('worker_pending', 'Requests under way at a worker.', ['pool', 'worker']);
  const info = gauge('info', 'The version, as a label.', ['version']);
  const uptime = gauge('uptime_seconds', 'Since the bus was started.', []);
  const gather = (): void => {
    registry.resetMetrics(); // workers and pools come and go, and so do their labels
    const { version, uptime_sec, pools, stats } = report();
    const { workers: each, clients, sessions, pending, waiting, queuedToClientsBytes, ...counts } = stats;
    const { messagesFromClients, messagesFromWorkers, bytesFromClients, bytesFromWorkers, ...rest } = counts;
    const { bytesToClients, bytesToWorkers, ...others } = rest;
    messages.inc({ from: 'clients' }, messagesFromClients);
    messages.inc({ from: 'workers' }, messagesFromWorkers);
    bytes.inc({ direction: 'from_clients' }, bytesFromClients);
    bytes.inc({ direction: 'from_workers' }, bytesFromWorkers);
    bytes.inc({ direction: 'to_clients' }, bytesToClients);
    bytes.inc({ direction: 'to_workers' }, bytesToWorkers);
    for (const [event, value] of Object.entries(others)) events.inc({ event: snake(event) }, value);
    const present = { clients, sessions, pending, waiting, queued_to_clients_bytes: queuedToClientsBytes };
    for (const [what, value] of Object.entries(present)) now.set({ what }, value);
    for (const { id, restarts: again, workers: places } of pools) {
      restarts.inc({ pool: id }, again);
      for (const { state } of places) workers.inc({ pool: id, state });
    }
    for (const { pool, name, load: waits } of each) load.set({ pool, worker: name }, waits);
    info.set({ version }, 1);
    uptime.set(uptime_sec);
  };
  return {
    contentType: registry.contentType,
    render: async () => {
      gather();
      return await registry.metrics();
    },
  };
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
