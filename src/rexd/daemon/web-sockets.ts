// WebSockets of a daemon: each is a connection like any other, with sessions of its own.

import type { WebSocket, WebSocketServer } from 'ws';
import { HttpError } from '../../wire/http/errors.js';
import type { UpgradeRequest } from '../../wire/http/server.js';
import type { Link } from '../../wire/transport/link.js';
import { MAX_FRAME_BYTES, webSocketLink } from '../../wire/transport/websocket.js';
import type { Access } from './access.js';

/** WebSockets at the same time; one more is refused with 503. */
export const MAX_WEBSOCKETS = 256;

const GOING_AWAY = 1001;
const NORMAL = 1000;

export interface WebSocketsOptions {
  readonly path: string;
  readonly access: Pick<Access, 'authorise'>;
  readonly onLink: (link: Link) => void;
  readonly maxOpen?: number;
  readonly maxFrameBytes?: number;
}

export class WebSockets {
  readonly #options: WebSocketsOptions;
  #server: Promise<WebSocketServer> | undefined;
  #open = 0;

  constructor(options: WebSocketsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open;
  }

  /** Throws HttpError for what is refused. */
  async accept({ req, socket, head, target, draining }: UpgradeRequest): Promise<void> {
    const { path, access, onLink, maxOpen = MAX_WEBSOCKETS } = this.#options;
    if (target.path !== path) throw new HttpError(404, 'not_found', 'there is no WebSocket');
    access.authorise(req);
    if (this.#open >= maxOpen) throw new HttpError(503, 'overloaded', 'too many WebSockets are open');
    this.#open += 1;
    socket.once('close', () => (this.#open -= 1));
    const server = await (this.#server ??= openServer(this.#options.maxFrameBytes ?? MAX_FRAME_BYTES));
    if (socket.destroyed) return;
    server.handleUpgrade(req, socket, head, (ws: WebSocket) => {
      onLink(
        webSocketLink(ws, {
          name: `ws:${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}`,
          closeCode: () => (draining.aborted ? GOING_AWAY : NORMAL),
        }),
      );
    });
  }
}

/** Loaded by the first who asks. Frames are not compressed: what is compressed with secrets in it can be guessed at. */
async function openServer(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload });
}
