// Commands whose time is to run out only after they have come so far: a machine that is slow gives them more of it.

/** Past it something hangs. */
const MOST_MS = 60_000;

/** `attempt` starts the command with this time, and gives undefined when it was over before it had come so far. */
export async function inTime<T>(
  firstMs: number,
  attempt: (timeoutMs: number) => Promise<T | undefined>,
): Promise<T> {
  for (let timeoutMs = firstMs; timeoutMs <= MOST_MS; timeoutMs *= 4) {
    const got = await attempt(timeoutMs);
    if (got !== undefined) return got;
  }
  throw new Error(`its time was always over too early, from ${firstMs} ms on`);
}
