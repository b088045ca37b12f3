// How often a test repeats what it does: all of it in `npm run test:full`, a share of it in every other run.

/** 1 is all. What a share of the runs does not find, the full run finds; HAWSER_SEED gives either other cases. */
const FACTOR = Number(process.env['HAWSER_RUNS_FACTOR'] ?? 0.1);

/** `full` times the factor, but no fewer than `least` unless all are fewer. */
export function runs(full: number, least = 100): number {
  return Math.min(full, Math.max(least, Math.ceil(full * FACTOR)));
}
