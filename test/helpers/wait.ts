// Waiting for a condition that announces itself only by being true.

const POLL_MS = 5;

/** Polls until `check` gives a value that is not undefined or false; fails loudly after `timeoutMs`. */
export async function until<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
  timeoutMs = 60_000,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    // Read before the look: whoever was not scheduled for so long looks once more before it gives up.
    const isLast = performance.now() > end;
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (isLast) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
