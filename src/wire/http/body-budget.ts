// How much of request bodies all requests together may hold in memory.

import { HttpError } from './errors.js';

/** So much of each body is not counted: small requests find room while others send all they may. */
export const UNCOUNTED_BODY_BYTES = 64 * 1024;

export class BodyBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** For one body. What it takes is given back when it is disposed of, which is when nobody needs the body any more. */
  open(): BodyShare {
    let taken = 0;
    return {
      take: (bytes) => {
        const counted = Math.max(0, bytes - UNCOUNTED_BODY_BYTES);
        if (this.#heldBytes - taken + counted > this.#maxBytes) throw overloaded(this.#maxBytes);
        this.#heldBytes += counted - taken;
        taken = counted;
      },
      [Symbol.dispose]: () => {
        this.#heldBytes -= taken;
        taken = 0;
      },
    };
  }
}

export interface BodyShare extends Disposable {
  /** So long is the body by now. Throws HttpError 503 when there is no room. */
  take(bytes: number): void;
}

function overloaded(maxBytes: number): HttpError {
  return new HttpError(503, 'overloaded', `request bodies of more than ${maxBytes} bytes are being read`, {
    headers: { Connection: 'close', 'Retry-After': '1' },
    facts: { maxBytes },
  });
}
