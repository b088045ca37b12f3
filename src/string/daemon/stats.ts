// What is counted while the daemon works. Plain numbers: nothing here may cost a request anything.

import type { Surface } from './executor.js';

export type Outcome = 'ok' | 'failed' | 'refused';

export interface CommandCount {
  count: number;
  seconds: number;
}

export class Stats {
  readonly commands = new Map<`${Surface} ${Outcome}`, CommandCount>();
  /** Requests that were refused before they were read, by reason. */
  readonly refused = new Map<string, number>();
  /** Posts to webhooks, by what became of them. */
  readonly webhooks = new Map<string, number>();
  streams = 0;

  onCommand(surface: Surface, outcome: Outcome, ms: number): void {
    const key = `${surface} ${outcome}` as const;
    let entry = this.commands.get(key);
    if (entry === undefined) {
      entry = { count: 0, seconds: 0 };
      this.commands.set(key, entry);
    }
    entry.count += 1;
    entry.seconds += ms / 1000;
  }

  onRefused(code: string): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }

  onWebhook(outcome: 'accepted' | 'unknown_token' | 'bad_body' | 'rate_limited' | 'inbox_full'): void {
    this.webhooks.set(outcome, (this.webhooks.get(outcome) ?? 0) + 1);
  }
}
