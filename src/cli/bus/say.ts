// What the bus writes to stderr beside its log: where it listens, and what its workers print there.

import { hostname } from 'node:os';
import type { StderrWriter } from './stderr-writer.js';

type Format = 'text' | 'json';

/** Whatever the level of the log: whoever started us may be waiting for it. */
export function announce(stderr: StderrWriter, place: string, format: Format): void {
  stderr.write(
    format === 'text' ? `stdio-bus: listening on ${place}\n` : asRecord('listening', { address: place }),
  );
}

/** Their own words, with their name before them. */
export function stderrOfWorkers(
  stderr: StderrWriter,
  format: Format,
): (worker: string, line: string) => void {
  if (format === 'text') return (worker, line) => stderr.write(`[${worker}] ${line}\n`);
  return (worker, line) => stderr.write(asRecord(line, { worker, stream: 'stderr' }));
}

/** As the log has it. */
function asRecord(msg: string, facts: object): string {
  const head = { level: 30, time: Date.now(), pid: process.pid, hostname: hostname(), name: 'stdio-bus' };
  return `${JSON.stringify({ ...head, ...facts, msg })}\n`;
}
