// Serves MCP to the one client at the other end of a link.

import { Resource } from '../base/resource.js';
import type { Link } from '../wire/transport/link.js';
import { LineTransport, type LineTransportOptions } from './line-transport.js';
import { createServerFactory, type McpDefinition } from './server.js';

/** Ends when the client does: closing it calls off whatever is being answered. */
export class McpConnection extends Resource {
  /** Settles when the client has gone and nothing is being answered any more. */
  readonly closed: Promise<void>;
  readonly #transport: LineTransport;

  constructor(transport: LineTransport, closed: Promise<void>) {
    super();
    this.#transport = transport;
    this.closed = closed;
    void closed.then(() => this.close());
  }

  protected override async release(): Promise<void> {
    await this.#transport.close();
  }
}

/** The first message of the client decides which era is spoken. */
export async function serveLines(
  link: Link,
  definition: McpDefinition,
  options: LineTransportOptions = {},
): Promise<McpConnection> {
  const factory = await createServerFactory(definition);
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  const transport = new LineTransport(link, options);
  const { onError } = definition;
  serveStdio(factory, { transport, ...(onError !== undefined && { onerror: onError }) });
  return new McpConnection(transport, transport.closed);
}
