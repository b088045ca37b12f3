// Random lines from clients and workers: the bus agrees with JSON.parse on every one of them, and lives.
// HAWSER_FUZZ_LINES=1000000 HAWSER_FUZZ_MS=600000 for a long run, HAWSER_SEED for other lines.

import { expect, test } from 'vitest';
import { fuzzBus } from '../helpers/bus-fuzz.js';

const LINES = Number(process.env['HAWSER_FUZZ_LINES'] ?? 60_000);
const MAX_MS = Number(process.env['HAWSER_FUZZ_MS'] ?? 15_000);
const SEED = Number(process.env['HAWSER_SEED'] ?? 20_261_116);

test(
  'right lines are answered byte for byte, wrong ones close their client alone, rubbish of workers reaches nobody',
  async () => {
    const report = await fuzzBus({ lines: LINES, maxMs: MAX_MS, least: 30, seed: SEED });
    expect(report.faults).toEqual([]);
    expect(report.answered).toBeGreaterThan(500);
    expect(report.closed).toBeGreaterThan(20);
    expect(report.fromWorkers).toBeGreaterThan(200);
  },
  MAX_MS + 300_000,
);
