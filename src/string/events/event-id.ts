// Ids of events: the time of arrival, then chance.

import { randomBytes } from 'node:crypto';

const RANDOM_BYTES = 9;
/** Longest id that is looked up. Ours have 25 characters. */
export const MAX_EVENT_ID_CHARS = 64;
const EVENT_ID = /^evt_[a-z0-9]+_[A-Za-z0-9_-]+$/;

export function newEventId(nowMs: number): string {
  return `evt_${nowMs.toString(36)}_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
}

export function isEventId(id: string): boolean {
  return id.length <= MAX_EVENT_ID_CHARS && EVENT_ID.test(id);
}
