// Why a request to the web did not come to an answer.

import { LocalError } from '../../base/errors.js';

/** A policy, not a fault: the address is one that this request may not reach. */
export class AddressRefusedError extends LocalError {
  override readonly name = 'AddressRefusedError';

  constructor(url: string, why: string) {
    super('address_refused', `${why}: ${url}`, { facts: { url, why } });
  }
}

export class RequestFailedError extends LocalError {
  override readonly name = 'RequestFailedError';

  constructor(url: string, why: string, cause?: unknown) {
    super('request_failed', `${why}: ${url}`, { facts: { url, why }, cause });
  }
}
