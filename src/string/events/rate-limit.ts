// How much may come in by one webhook: so many events and bytes a second, twice as many at once.

export interface Rate {
  readonly eventsPerSecond: number;
  readonly bytesPerSecond: number;
}

/** Text that one webhook takes in a second, over a longer time. */
export const MAX_WEBHOOK_BYTES_PER_SECOND = 16 * 1024 * 1024;
/** How many seconds' worth may come at once. */
const BURST_SECONDS = 2;
/** Buckets kept. One that has filled up again is as good as none, so they can be thrown away then. */
export const MAX_BUCKETS = 10_000;

interface Bucket {
  events: number;
  bytes: number;
  at: number;
}

export class RateLimit {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Takes one event of `bytes`; gives 0, or in how many seconds there is room for it, and takes nothing then. */
  take(key: string, bytes: number): number {
    const { eventsPerSecond, bytesPerSecond } = this.#rate;
    const bucket = this.#refill(key);
    const missing = Math.max((1 - bucket.events) / eventsPerSecond, (bytes - bucket.bytes) / bytesPerSecond);
    if (missing > 0) return missing;
    bucket.events -= 1;
    bucket.bytes -= bytes;
    return 0;
  }

  #refill(key: string): Bucket {
    const { eventsPerSecond, bytesPerSecond } = this.#rate;
    const most = { events: eventsPerSecond * BURST_SECONDS, bytes: bytesPerSecond * BURST_SECONDS };
    const at = this.#now();
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#forgetFull(at);
      bucket = { ...most, at };
      this.#buckets.set(key, bucket);
      return bucket;
    }
    const seconds = (at - bucket.at) / 1000;
    bucket.events = Math.min(most.events, bucket.events + seconds * eventsPerSecond);
    bucket.bytes = Math.min(most.bytes, bucket.bytes + seconds * bytesPerSecond);
    bucket.at = at;
    return bucket;
  }

  #forgetFull(now: number): void {
    for (const [key, { at }] of this.#buckets)
      if (now - at >= BURST_SECONDS * 1000 || this.#buckets.size > MAX_BUCKETS) this.#buckets.delete(key);
  }
}
