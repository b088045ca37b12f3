// What the bus writes to stderr beside its log: where it listens, and what its workers print there.

import { writeSync } from 'node:fs';

type Format = 'text' | 'json';

/** Whatever the level of the log: whoever started us may be waiting for it. */
export function announce(place: string, format: Format): void {
  write(
    format === 'text'
      ? `stdio-bus: listening on ${place}`
      : JSON.stringify({ level: 30, time: Date.now(), name: 'stdio-bus', msg: 'listening', address: place }),
  );
}

/** Their own words, with their name before them. */
export function stderrOfWorkers(format: Format): (worker: string, line: string) => void {
  if (format === 'text') return (worker, line) => write(`[${worker}] ${line}`);
  return (worker, line) =>
    write(
      JSON.stringify({ level: 30, time: Date.now(), name: 'stdio-bus', msg: line, worker, stream: 'stderr' }),
    );
}

/** A reader of stderr who is gone, or slow beyond what the pipe holds, must not take the bus with it. */
function write(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // Nobody is there to be told.
  }
}
