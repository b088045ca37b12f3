// The other end of a peer in a test: writes what it likes, and keeps the lines that come back.

import { PassThrough } from 'node:stream';
import { LineSplitter } from '../../../../src/wire/ndjson/line-splitter.js';
import type { PeerOptions } from '../../../../src/wire/jsonrpc/peer.js';
import { RpcPeer } from '../../../../src/wire/jsonrpc/peer.js';
import type { Link, StreamLink } from '../../../../src/wire/transport/link.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { until } from '../../../helpers/wait.js';

export class WireSide {
  readonly link: StreamLink;
  readonly lines: string[] = [];
  ended = false;

  constructor(link: StreamLink) {
    this.link = link;
    const splitter = new LineSplitter((bytes, start, end) =>
      this.lines.push(bytes.toString('utf8', start, end)),
    );
    link.input.on('data', (chunk: Buffer) => splitter.push(chunk));
    link.input.on('end', () => {
      this.ended = true;
      link.output.end();
    });
    link.input.on('error', () => {});
    link.output.on('error', () => {});
  }

  send(...lines: (string | object)[]): void {
    for (const line of lines) {
      this.link.output.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
    }
  }

  /** The first `count` lines, when they are there. */
  async take(count: number): Promise<string[]> {
    await until(() => this.lines.length >= count, `${count} lines (there are ${this.lines.length})`);
    return this.lines.splice(0, count);
  }

  async takeJson(): Promise<unknown> {
    const [line = ''] = await this.take(1);
    return JSON.parse(line);
  }

  /** The answer to what is asked; with nothing behind it in the queue this also proves that nothing else came. */
  async ask(line: string | object): Promise<unknown> {
    this.send(line);
    return this.takeJson();
  }
}

export const request = (id: unknown, method = 'echo', params?: unknown): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** A link of two one-way streams whose far ends the test holds. */
export function pipes(): { link: Link; toPeer: PassThrough; fromPeer: PassThrough } {
  const toPeer = new PassThrough();
  const fromPeer = new PassThrough();
  const close = (): Promise<void> => {
    toPeer.destroy();
    fromPeer.destroy();
    return Promise.resolve();
  };
  return { link: { input: toPeer, output: fromPeer, name: 'pipes', close }, toPeer, fromPeer };
}

/** A peer under test and the wire it is on. */
export function wirePeer(options: PeerOptions = {}): { peer: RpcPeer; wire: WireSide } & AsyncDisposable {
  const [near, far] = linkedPair();
  const peer = new RpcPeer(near, options);
  const wire = new WireSide(far);
  return {
    peer,
    wire,
    async [Symbol.asyncDispose]() {
      await Promise.all([peer.close(), far.close()]);
    },
  };
}

/** Two peers that talk to each other. */
export function linkedPeers(
  left: PeerOptions = {},
  right: PeerOptions = {},
): { left: RpcPeer; right: RpcPeer } & AsyncDisposable {
  const [near, far] = linkedPair();
  const peers = { left: new RpcPeer(near, left), right: new RpcPeer(far, right) };
  return {
    ...peers,
    async [Symbol.asyncDispose]() {
      await Promise.all([peers.left.close(), peers.right.close()]);
    },
  };
}

export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** What the promise is rejected with. Handled from now on, so that it may be awaited later. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (reason) {
    return reason;
  }
  return new Error('it did not fail');
}
