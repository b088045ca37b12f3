// The JSON-RPC envelope of the bridge: both eras of MCP, on the pipe that carries the other envelope too.

import { toError } from '../../base/errors.js';
import { VERSION } from '../../base/version.js';
import { answerRequest } from '../../mcp/handshake-era.js';
import { isStateless, MessageDoor } from '../../mcp/message-door.js';
import {
  isRefusal,
  isRequest,
  type McpId,
  type McpNotification,
  type McpRequest,
  readLine,
  type ReadMember,
} from '../../mcp/message-reader.js';
import { ReplyBatch } from '../../mcp/reply-batch.js';
import type { McpDefinition } from '../../mcp/server.js';
import type { ToolContext } from '../../mcp/tool.js';
import type { Emit, Handlers, Services } from '../call.js';
import type { OpenRequests } from './open-requests.js';
import { UNKNOWN_ID } from './read-line.js';
import { BridgeTools } from './tools.js';

export interface McpSideOptions extends Services {
  readonly handlers: Handlers;
  readonly requests: OpenRequests;
  readonly write: (message: object) => void;
  readonly onError: (error: Error) => void;
}

/** Undefined: it was called off, and is not answered. */
type Reply = (id: McpId, message: object | undefined) => void;

export class McpSide {
  readonly #options: McpSideOptions;
  readonly #definition: McpDefinition;
  /** The era without a handshake, for clients that speak it. */
  #door: Promise<MessageDoor> | undefined;
  /** Requests that the door has yet to answer. */
  readonly #atDoor = new Map<McpId, (message: object) => void>();

  constructor(options: McpSideOptions) {
    this.#options = options;
    this.#definition = {
      name: 'hugind',
      title: 'Hugind',
      version: VERSION,
      instructions:
        'Local models: model.* keeps the store and fetches from the hub, config.* says how a model is served, server.* starts and stops servers, agent.* runs agents.',
      tools: new BridgeTools({ ...options, notifyOf: (id) => this.#notifyOf(id) }),
      onError: options.onError,
    };
  }

  receive(text: string): void {
    const line = readLine(text);
    if (line.kind === 'one')
      this.#deliver(line.member, (_, message) => message !== undefined && this.#options.write(message));
    if (line.kind !== 'batch') return;
    const batch = new ReplyBatch((replies) => this.#options.write(replies));
    for (const member of line.members) {
      if (isRequest(member)) batch.expect(member.id);
      if (isRefusal(member)) batch.refuse(member);
    }
    batch.seal();
    for (const member of line.members)
      if (!isRefusal(member))
        this.#deliver(member, (id, message) =>
          message === undefined ? batch.forget(id) : batch.answer(id, message),
        );
  }

  async close(): Promise<void> {
    await (await this.#door)?.close();
  }

  #deliver(member: ReadMember, reply: Reply): void {
    if (member === undefined || 'answer' in member) return; // we ask nothing
    if (isRefusal(member)) this.#options.write({ ...member, id: member.id ?? UNKNOWN_ID });
    else if (isRequest(member)) this.#serve(member, reply);
    else this.#notice(member);
  }

  #serve(request: McpRequest, reply: Reply): void {
    this.#options.requests.open(
      request.id,
      async (signal) => {
        const asked = isStateless(request) ? this.#askDoor(request, signal) : this.#answer(request, signal);
        const message = await asked.catch((thrown: unknown) => {
          if (!signal.aborted) this.#options.onError(toError(thrown));
          return undefined;
        });
        reply(request.id, signal.aborted ? undefined : message);
      },
      'mcp',
    );
  }

  async #answer(request: McpRequest, signal: AbortSignal): Promise<object> {
    return await answerRequest(request, this.#definition, this.#contextOf(request, signal));
  }

  /** The SDK answers it; a call that was called off is never answered, and is not waited for. */
  async #askDoor(request: McpRequest, signal: AbortSignal): Promise<object | undefined> {
    this.#door ??= MessageDoor.open(this.#definition, (message) => this.#fromDoor(message));
    const door = await this.#door;
    const { id } = request;
    if (signal.aborted || this.#atDoor.has(id)) return undefined;
    return await new Promise((resolve) => {
      this.#atDoor.set(id, (message) => {
        this.#atDoor.delete(id);
        resolve(message);
      });
      signal.addEventListener(
        'abort',
        () => {
          this.#atDoor.delete(id);
          door.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
          resolve(undefined);
        },
        { once: true },
      );
      door.receive(request);
    });
  }

  #fromDoor(message: object): void {
    const id = 'id' in message && !('method' in message) ? (message.id as McpId) : undefined;
    if (id === undefined) this.#options.write(message);
    else this.#atDoor.get(id)?.(message);
  }

  #notice({ method, params }: McpNotification): void {
    if (method !== 'notifications/cancelled') return;
    const id = params?.['requestId'];
    if (typeof id === 'string' || typeof id === 'number') this.#options.requests.cancel(id, 'mcp');
  }

  #notifyOf(id: McpId): Emit {
    return (event, data) => {
      const params = event === 'agent_event' ? { id, event: data, data } : { ...data, id };
      this.#options.write({ jsonrpc: '2.0', method: `notifications/hugind.${event}`, params });
    };
  }

  #contextOf({ id, params }: McpRequest, signal: AbortSignal): ToolContext {
    const meta = params?.['_meta'] as { progressToken?: unknown } | null | undefined;
    const progressToken = meta?.progressToken;
    return {
      requestId: id,
      signal,
      progress: (step) => {
        if (progressToken === undefined || signal.aborted) return;
        this.#options.write({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, ...step },
        });
      },
      log: () => {},
    };
  }
}
