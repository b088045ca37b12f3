// Waiting for several things that must all be over, whatever becomes of each.

/**
 * The results in order. Unlike Promise.all, it waits for the slowest also when another has failed: what is being torn
 * down must be gone before anyone goes on. Rejects with the failure, or with an AggregateError of several.
 */
export async function settleAll<T>(work: Iterable<Promise<T>>): Promise<T[]> {
  const results: T[] = [];
  const failures: unknown[] = [];
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === 'fulfilled') results.push(outcome.value);
    else failures.push(outcome.reason);
  }
  if (failures.length === 0) return results;
  throw failures.length === 1
    ? failures[0]
    : new AggregateError(failures, `${failures.length} of ${failures.length + results.length} failed`);
}
