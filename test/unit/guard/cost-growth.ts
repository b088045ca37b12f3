// Whether work grows in step with its input: how long it takes says more about the machine than about the code.

const TIMES_LONGER = 4;
/** Work in step with the input grows 4 times, work with its square 16 times. */
const MOST_GROWTH = 9;
const TRIES = 6;

/** How much more an input four times as long costs; the least that was found, since other work only ever adds. */
export function growthOf(run: (length: number) => void, length: number): number {
  let growth = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && growth >= MOST_GROWTH; i++) {
    const long = leastCost(() => run(length * TIMES_LONGER)); // first, so that the short one does not pay for compiling
    growth = Math.min(growth, long / leastCost(() => run(length)));
  }
  return growth;
}

export function isInStep(growth: number): boolean {
  return growth < MOST_GROWTH;
}

/** Time of the processor, not of the clock: others may be using the machine. */
function leastCost(run: () => void): number {
  const costs = [0, 1, 2].map(() => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.max(1, Math.min(...costs));
}
