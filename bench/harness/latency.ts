// Single round trips, one after the other, each with its own time: what somebody waits who asks one thing.

import type { LineClient } from './line-client.js';
import { medianOf } from './stats.js';

const NEWLINE = 10;

/** The median of `trips` round trips of one line each way, in ms. */
export function medianTripMs(
  client: LineClient,
  nextRequest: () => readonly Buffer[],
  trips: number,
): Promise<number> {
  const times: number[] = [];
  return client.converse('no answer to a round trip', ({ write, resolve }) => {
    let sentAt = 0;
    const send = (): void => {
      const parts = nextRequest();
      sentAt = performance.now();
      for (const part of parts) write(part);
    };
    send();
    return (chunk) => {
      if (chunk.at(-1) !== NEWLINE) return;
      times.push(performance.now() - sentAt);
      if (times.length < trips) send();
      else resolve(medianOf(times));
    };
  });
}
