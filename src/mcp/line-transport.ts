// MCP over lines: any link in, the SDK's transport out.
//
// Not the SDK's own: that one joins a long line quadratically, leaves a broken line unanswered, and drops what is being
// answered when the input ends, as it does at once for whoever pipes a few requests in.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { ClosedError } from '../base/resource.js';
import { INVALID_REQUEST } from '../wire/jsonrpc/message.js';
import { holdBack } from '../wire/ndjson/hold-back.js';
import { LineSplitter } from '../wire/ndjson/line-splitter.js';
import { LineWriter } from '../wire/ndjson/line-writer.js';
import type { Link } from '../wire/transport/link.js';
import { isRefusal, isRequest, type McpId, readLine, type ReadMember, refuse } from './message-reader.js';
import { ReplyBatch } from './reply-batch.js';

/** Longest line taken from a client: a file to be written, escaped. */
export const MAX_MCP_LINE_BYTES = 16 * 1024 * 1024;
/** Requests that are being answered; past it nothing more is read until one of them is. */
export const MAX_OPEN_REQUESTS = 1024;
/** The client has closed its end: what it asked before may still be answered for so long, then it is called off. */
export const END_GRACE_MS = 3000;

export interface LineTransportOptions {
  readonly endGraceMs?: number;
}

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #link: Link;
  readonly #writer: LineWriter;
  readonly #splitter: LineSplitter;
  readonly #endGraceMs: number;
  /** Requests that wait for their answer, and the batch each came in. */
  readonly #open = new Map<McpId, ReplyBatch | undefined>();
  #ended = (): void => {};
  /** Settles when the link is closed. */
  readonly closed = new Promise<void>((resolve) => (this.#ended = resolve));
  #grace: NodeJS.Timeout | undefined;
  #inputOver = false;
  #closing: Promise<void> | undefined;

  constructor(link: Link, options: LineTransportOptions = {}) {
    this.#link = link;
    this.#endGraceMs = options.endGraceMs ?? END_GRACE_MS;
    this.#splitter = new LineSplitter(
      (bytes, start, end) => this.#onLine(bytes.toString('utf8', start, end)),
      {
        maxLineBytes: MAX_MCP_LINE_BYTES,
        onOversize: () =>
          this.#write(refuse(null, INVALID_REQUEST, `a line has at most ${MAX_MCP_LINE_BYTES} bytes`)),
      },
    );
    this.#writer = new LineWriter(link.output, {
      ...(link.writeNow !== undefined && { writeNow: link.writeNow }),
      onFailure: () => void this.close(),
    });
  }

  async start(): Promise<void> {
    const { input } = this.#link;
    input.on('data', (chunk) => {
      this.#splitter.push(chunk);
      this.#holdBack();
    });
    input.on('error', (error) => this.onerror?.(error));
    input.once('end', () => this.#endInput());
    input.once('close', () => this.#endInput());
    if (input.readableEnded || input.destroyed) this.#endInput();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closing !== undefined) throw new ClosedError('connection');
    const id = 'id' in message && !('method' in message) ? message.id : undefined;
    const batch = id === undefined ? undefined : this.#open.get(id);
    if (batch !== undefined && id !== undefined) batch.answer(id, message);
    else this.#write(message);
    if (id !== undefined) this.#settle(id);
    if (this.#writer.congested) await this.#writer.drained();
  }

  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  async #release(): Promise<void> {
    clearTimeout(this.#grace);
    this.#open.clear();
    try {
      this.onclose?.(); // handlers are called off before anything is waited for
    } finally {
      await this.#link.close();
      this.#ended();
    }
  }

  #onLine(text: string): void {
    const line = readLine(text);
    if (line.kind === 'one') this.#deliver(line.member, undefined);
    if (line.kind !== 'batch') return;
    const batch = new ReplyBatch((replies) => this.#write(replies));
    for (const member of line.members) {
      if (isRequest(member)) batch.expect(member.id);
      if (isRefusal(member)) batch.refuse(member);
    }
    batch.seal();
    for (const member of line.members) if (!isRefusal(member)) this.#deliver(member, batch);
  }

  #deliver(member: ReadMember, batch: ReplyBatch | undefined): void {
    if (member === undefined) return;
    if (isRefusal(member)) {
      this.#write(member);
      return;
    }
    if ('answer' in member) {
      this.onmessage?.(member.answer);
      return;
    }
    if (isRequest(member)) this.#open.set(member.id, batch);
    this.onmessage?.(member);
    // What is called off is not answered.
    if (!isRequest(member) && member.method === 'notifications/cancelled')
      this.#settle(member.params?.['requestId'] as McpId);
  }

  #settle(id: McpId): void {
    this.#open.get(id)?.forget(id);
    this.#open.delete(id);
    if (this.#inputOver) this.#closeWhenDone();
    else this.#holdBack();
  }

  #holdBack(): void {
    holdBack(this.#link.input, this.#writer, () => this.#open.size >= MAX_OPEN_REQUESTS);
  }

  #endInput(): void {
    if (this.#inputOver) return;
    this.#inputOver = true;
    this.#splitter.end();
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#open.size === 0) void this.close();
    else this.#grace ??= setTimeout(() => void this.close(), this.#endGraceMs);
  }

  #write(message: unknown): void {
    if (this.#closing === undefined) this.#writer.send(JSON.stringify(message));
  }
}
