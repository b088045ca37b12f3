// The bridge on a link: lines in both envelopes come in, requests run side by side, answers and events go out whole.

import { deadline, withSignal } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import { holdBack } from '../../wire/ndjson/hold-back.js';
import { LineSplitter } from '../../wire/ndjson/line-splitter.js';
import { LineWriter } from '../../wire/ndjson/line-writer.js';
import { type Link, LINGER_MS } from '../../wire/transport/link.js';
import {
  callMethod,
  type CallContext,
  type Emit,
  type Handlers,
  readParams,
  type Services,
} from '../call.js';
import { HugindError, toFailure } from '../errors.js';
import { CONTROL_METHODS, SCHEMA_VERSION } from '../protocol.js';
import type { McpSide } from './mcp-side.js';
import { OpenRequests } from './open-requests.js';
import { type BridgeId, readBridgeLine, refuseOversize, type Refused } from './read-line.js';

/** Longest line taken from a client; what it sends are names and paths. */
export const MAX_BRIDGE_LINE_BYTES = 16 * 1024 * 1024;
/** Requests that are being answered, of both envelopes; past it nothing more is read until one of them is. */
export const MAX_OPEN_BRIDGE_REQUESTS = 1024;
/** The client has closed its end: what it asked before may still be answered for so long, then it is called off. */
export const BRIDGE_END_GRACE_MS = 2500;
/** What has been called off may take so long to put itself in order. */
export const BRIDGE_CANCEL_GRACE_MS = 1000;

const GRACE_STEP_MS = 100;

export interface BridgeOptions extends Services {
  readonly handlers: Handlers;
  readonly endGraceMs?: number;
  /** What no answer tells: for the log. */
  readonly onError: (error: Error) => void;
}

export class Bridge extends Resource {
  readonly #link: Link;
  readonly #options: BridgeOptions;
  readonly #writer: LineWriter;
  readonly #splitter: LineSplitter;
  readonly #open = new OpenRequests(() => this.#onSettled());
  #mcp: Promise<McpSide> | undefined;
  /** Messages for MCP before its code is there. */
  #mcpWaiting = 0;
  #inputOver = false;
  #grace: NodeJS.Timeout | undefined;

  constructor(link: Link, options: BridgeOptions) {
    super();
    this.#link = link;
    this.#options = options;
    this.#splitter = new LineSplitter((bytes, start, end) => this.#onLine(bytes.subarray(start, end)), {
      maxLineBytes: MAX_BRIDGE_LINE_BYTES,
      onOversize: (_, beginning) => this.#onOversize(beginning),
    });
    this.#writer = new LineWriter(link.output, {
      ...(link.writeNow !== undefined && { writeNow: link.writeNow }),
      onFailure: () => void this.close(), // nobody reads any more
    });
    const { input } = link;
    input.on('data', (chunk) => {
      this.#splitter.push(chunk);
      this.#holdBack();
    });
    input.on('error', (error) => options.onError(error));
    input.once('end', () => this.#endInput());
    input.once('close', () => this.#endInput());
    if (input.readableEnded || input.destroyed) this.#endInput();
  }

  protected override async release(): Promise<void> {
    clearInterval(this.#grace);
    using limit = deadline(BRIDGE_CANCEL_GRACE_MS);
    await withSignal(this.#open.cancelAll(), limit.signal).catch(() => {});
    await (await this.#mcp)?.close();
    using flushed = deadline(LINGER_MS);
    await withSignal(this.#writer.end(), flushed.signal).catch(() => {}); // a client that does not read is not waited for
    await this.#link.close();
  }

  #onLine(bytes: Buffer): void {
    const line = readBridgeLine(bytes);
    switch (line.kind) {
      case 'blank':
        return;
      case 'refused':
        return this.#refuse(line);
      case 'mcp':
        return this.#passToMcp(line.text);
      case 'request':
        return this.#serve(line.id, line.method, line.params);
    }
  }

  #serve(id: BridgeId, method: string, params: unknown): void {
    this.#open.open(id, async (signal) => {
      const emit: Emit = (event, data) => this.#write({ event, id, data, schema_version: SCHEMA_VERSION });
      try {
        const result = await this.#call(method, params, { ...this.#options, signal, emit });
        this.#write({ id, ok: true, result, schema_version: SCHEMA_VERSION });
      } catch (thrown) {
        this.#answerFailure(id, signal.aborted ? signal.reason : thrown);
      }
    });
  }

  async #call(method: string, params: unknown, ctx: CallContext): Promise<object> {
    if (!Object.hasOwn(CONTROL_METHODS, method))
      return await callMethod(this.#options.handlers, method, params, ctx);
    const { id } = readParams(CONTROL_METHODS['request.cancel'].params, params);
    return { cancelled: this.#open.cancel(id) };
  }

  #answerFailure(id: BridgeId, thrown: unknown): void {
    const error = toFailure(thrown);
    if (error.code === 'internal_error' && !(thrown instanceof HugindError))
      this.#options.onError(toError(thrown));
    this.#write({ id, ok: false, error, schema_version: SCHEMA_VERSION });
  }

  #refuse({ id, code, message }: Refused): void {
    this.#write({ id, ok: false, error: { code, message }, schema_version: SCHEMA_VERSION });
  }

  #onOversize(beginning: Buffer): void {
    const refused = refuseOversize(beginning, MAX_BRIDGE_LINE_BYTES);
    if (refused.isMcp)
      this.#write({ jsonrpc: '2.0', id: refused.id, error: { code: -32600, message: refused.message } });
    else this.#refuse(refused);
  }

  /** Loaded by the first message that needs it. */
  #passToMcp(text: string): void {
    this.#mcp ??= this.#loadMcp();
    this.#mcpWaiting += 1;
    void this.#mcp
      .then((mcp) => mcp.receive(text))
      .catch((thrown: unknown) => this.#options.onError(toError(thrown)))
      .finally(() => {
        this.#mcpWaiting -= 1;
        this.#onSettled();
      });
  }

  async #loadMcp(): Promise<McpSide> {
    const { McpSide } = await import('./mcp-side.js');
    return new McpSide({
      ...this.#options,
      requests: this.#open,
      write: (message) => this.#write(message),
    });
  }

  #write(message: object): void {
    const { output } = this.#link;
    if (!output.destroyed && !output.writableEnded) this.#writer.send(JSON.stringify(message));
  }

  #onSettled(): void {
    if (this.#inputOver) this.#closeWhenDone();
    else this.#holdBack();
  }

  #holdBack(): void {
    if (this.#inputOver) return;
    holdBack(this.#link.input, this.#writer, () => this.#busy >= MAX_OPEN_BRIDGE_REQUESTS);
  }

  get #busy(): number {
    return this.#open.size + this.#mcpWaiting;
  }

  #endInput(): void {
    if (this.#inputOver) return;
    this.#inputOver = true;
    this.#splitter.end();
    this.#closeWhenDone();
  }

  /** In short steps: time in which this process did not run at all is hardly counted. */
  #startGrace(graceMs: number): NodeJS.Timeout {
    let steps = Math.ceil(graceMs / GRACE_STEP_MS);
    return setInterval(() => {
      steps -= 1;
      if (steps <= 0) void this.close();
    }, GRACE_STEP_MS);
  }

  #closeWhenDone(): void {
    if (this.#busy === 0) void this.close();
    else this.#grace ??= this.#startGrace(this.#options.endGraceMs ?? BRIDGE_END_GRACE_MS);
  }
}
