// The events of one agent as they come, at the reader's own pace: what it has not read yet stays on the disk.

import type { Inbox } from './inbox.js';
import type { StoredEvent } from './inbox-rows.js';

/** Events read from the disk at a time: at most 4 MiB of text in memory for a reader. */
export const MAX_FOLLOW_BATCH = 64;

export interface FollowOptions {
  readonly agentId: string;
  readonly signal: AbortSignal;
  /** Begin with what is unacknowledged. */
  readonly replay: boolean;
  /** Of those delivered before, only what was delivered within this time is sent again. */
  readonly redeliverGraceMs: number;
  /** The last event the reader has seen: it gets all that came after, delivered or not. */
  readonly lastEventId?: string | undefined;
}

/**
 * Ends when the signal aborts. To be called, and its first step asked for, before the reader is told that it is
 * connected: from that moment on nothing is missed.
 */
export async function* followEvents(
  inbox: Inbox,
  options: FollowOptions,
): AsyncGenerator<StoredEvent, void, undefined> {
  const { agentId, signal, replay } = options;
  const start = inbox.lastSeq;
  let wake = (): void => {};
  let isNews = false;
  const stop = inbox.subscribe(agentId, () => {
    isNews = true;
    wake();
  });
  const end = (): void => wake();
  signal.addEventListener('abort', end, { once: true });
  try {
    if (replay) yield* replayed(inbox, options, start);
    for (let after = start; !signal.aborted; ) {
      isNews = false;
      const batch = inbox.next(agentId, { after }, MAX_FOLLOW_BATCH);
      for (const stored of batch) {
        if (signal.aborted) return;
        after = stored.seq;
        yield stored;
      }
      if (batch.length > 0 || isNews) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isNews || signal.aborted) resolve();
      });
    }
  } finally {
    stop();
    signal.removeEventListener('abort', end);
  }
}

function* replayed(
  inbox: Inbox,
  { agentId, signal, redeliverGraceMs, lastEventId }: FollowOptions,
  upTo: number,
): Generator<StoredEvent, void, undefined> {
  const seen = lastEventId === undefined ? undefined : inbox.placeOf(agentId, lastEventId);
  const deliveredSince = seen === undefined ? Date.now() - redeliverGraceMs : 0;
  for (let after = seen ?? 0; !signal.aborted; ) {
    const batch = inbox.next(agentId, { after, upTo, deliveredSince }, MAX_FOLLOW_BATCH);
    for (const stored of batch) {
      if (signal.aborted) return;
      after = stored.seq;
      yield stored;
    }
    if (batch.length === 0) return;
  }
}
