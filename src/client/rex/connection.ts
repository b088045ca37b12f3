// What a client sends its requests over: one link, or one after another when the session can be resumed.

import { ClosedError, Resource } from '../../base/resource.js';
import type { RpcPeer } from '../../wire/jsonrpc/peer.js';
import type { RequestOptions } from '../../wire/jsonrpc/pending-requests.js';

export interface Connection extends Resource {
  /** Settles when there is no way to the session any more. */
  readonly lost: Promise<Error>;
  /** Whether a request could go out now, without waiting for another link. */
  readonly connected: boolean;
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>;
}

export class PlainConnection extends Resource implements Connection {
  readonly lost: Promise<Error>;
  readonly #peer: RpcPeer;

  constructor(peer: RpcPeer) {
    super();
    this.#peer = peer;
    this.lost = peer.closed.then((reason) => reason ?? new ClosedError('connection'));
  }

  get connected(): boolean {
    return !this.#peer.closing;
  }

  request(method: string, params: object, options?: RequestOptions): Promise<unknown> {
    return this.#peer.request(method, params, options);
  }

  protected override async release(): Promise<void> {
    await this.#peer.close();
  }
}
