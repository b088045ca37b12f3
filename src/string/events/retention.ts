// Removes events whose time is over, now and then.

import { toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { Resource } from '../../base/resource.js';
import type { EventSettings } from '../config.js';
import type { Inbox } from './inbox.js';

/** No event is kept longer than this, acknowledged or not: a year. */
export const MAX_EVENT_AGE_MS = 366 * 86_400_000;

export class Retention extends Resource {
  readonly #inbox: Inbox;
  readonly #settings: EventSettings;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;

  constructor(inbox: Inbox, settings: EventSettings, log: Log) {
    super();
    this.#inbox = inbox;
    this.#settings = settings;
    this.#log = log;
    this.#timer = setInterval(() => void this.sweep(), Math.min(settings.sweepIntervalMs, 2 ** 31 - 1));
    this.#timer.unref();
  }

  /** Never rejects: what fails is tried again the next time. */
  async sweep(now = Date.now()): Promise<void> {
    try {
      const { acked, expired } = await this.#inbox.sweep(
        now - this.#settings.retentionMs,
        now - MAX_EVENT_AGE_MS,
      );
      if (expired > 0) this.#log.warn('events were removed for their age', { expired });
      if (acked > 0) this.#log.info('acknowledged events were removed', { acked });
    } catch (thrown) {
      if (!this.closing) this.#log.error('events could not be removed', { error: toError(thrown).message });
    }
  }

  protected async release(): Promise<void> {
    clearInterval(this.#timer);
  }
}
