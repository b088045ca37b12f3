// The SDK behind messages that somebody else has read: for a link that carries more than MCP.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { ClosedError } from '../base/resource.js';
import type { McpNotification, McpRequest } from './message-reader.js';
import { createServerFactory, type McpDefinition } from './server.js';

/** Whatever has no handshake names its revision in every request. */
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Whether a request is of the era without a handshake, which the SDK knows best. */
export function isStateless({ method, params }: McpRequest): boolean {
  const meta = params?.['_meta'];
  if (method === 'server/discover') return true;
  return typeof meta === 'object' && meta !== null && Object.hasOwn(meta, VERSION_KEY);
}

export class MessageDoor implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #write: (message: object) => void;
  #closed = false;

  /** `write` is given what the SDK sends, answers and notifications. */
  static async open(definition: McpDefinition, write: (message: object) => void): Promise<MessageDoor> {
    const factory = await createServerFactory(definition);
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    const door = new MessageDoor(write);
    const { onError } = definition;
    serveStdio(factory, { transport: door, ...(onError !== undefined && { onerror: onError }) });
    return door;
  }

  constructor(write: (message: object) => void) {
    this.#write = write;
  }

  receive(message: McpRequest | McpNotification): void {
    if (!this.#closed) this.onmessage?.(message);
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new ClosedError('connection');
    this.#write(message);
  }

  /** What is being answered is called off. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }
}
