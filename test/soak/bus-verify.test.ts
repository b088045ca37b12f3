// Hundreds of thousands of messages with colliding ids, clients that vanish, readers that are slow and workers that are killed:
// none is lost, doubled, out of order, or with the wrong client. `npm run verify:bus` drives as many as wanted.

import { expect, test } from 'vitest';
import { verifyBus } from '../helpers/bus-verify.js';

const MESSAGES = Number(process.env['HAWSER_VERIFY_MESSAGES'] ?? 250_000);
const MAX_MS = 15_000;

test.each(['hold', 'rewrite'] as const)(
  'every message is accounted for with idCollision "%s"',
  async (idCollision) => {
    const report = await verifyBus({ messages: MESSAGES, maxMs: MAX_MS, least: 1000, idCollision });
    expect(report.faults).toEqual([]);
    expect(report.exitCode).toBe(0);
    expect(report.results).toBeGreaterThan(1000);
    expect(report.requests).toBe(report.results + report.errors + report.abandoned);
    expect(report.disconnects).toBeGreaterThan(0);
  },
  300_000,
);
