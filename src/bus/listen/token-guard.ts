// A client over TCP that has yet to show the token: it may not take for ever.

import type { Log } from '../../base/log.js';
import type { BusClientHandle } from '../route/settings.js';

/** From the connection to the token; who has not shown it by then is closed. */
export const TOKEN_WAIT_MS = 10_000;

export class TokenGuard {
  readonly #checkToken: (given: string) => boolean;
  #believed = false;

  constructor(checkToken: (given: string) => boolean) {
    this.#checkToken = checkToken;
  }

  readonly check = (given: string): boolean => {
    this.#believed = this.#checkToken(given);
    return this.#believed;
  };

  watch(client: BusClientHandle, log: Log, waitMs: number = TOKEN_WAIT_MS): void {
    const timer = setTimeout(() => {
      if (this.#believed) return;
      log.warn('a client was closed: it has not shown the token in time', { client: client.name });
      client.close('the token was not shown in time');
    }, waitMs);
    timer.unref();
    void client.closed.then(() => clearTimeout(timer));
  }
}
