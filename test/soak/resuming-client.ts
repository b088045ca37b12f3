// A client of REXD that goes on after every cut, written from the protocol alone: it shares nothing with RexClient but
// the link, so that what one of them gets wrong the other shows.

import type { CommandLink } from '../../src/client/rex/command-link.js';
import { LineSplitter } from '../../src/wire/ndjson/line-splitter.js';

interface Message {
  readonly id?: string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> & { readonly event_seq: number };
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

interface Pending {
  readonly line: string;
  readonly resolve: (result: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
}

const ACK_EVERY = 16;
const MAX_ATTEMPTS = 50;

export class ResumingClient {
  readonly #open: () => Promise<CommandLink>;
  readonly #onEvent: (method: string, params: Readonly<Record<string, unknown>>) => void;
  readonly #pending = new Map<string, Pending>();
  readonly violations: string[] = [];
  connections = 0;
  link: CommandLink | undefined;
  #session: { id: string; token: string } | undefined;
  #lastSeq = 0;
  #count = 0;
  #closed = false;
  #greeting: Promise<void> = Promise.resolve();

  constructor(
    open: () => Promise<CommandLink>,
    onEvent: (method: string, params: Readonly<Record<string, unknown>>) => void,
  ) {
    this.#open = open;
    this.#onEvent = onEvent;
  }

  async connect(): Promise<void> {
    this.#greeting = this.#connect();
    await this.#greeting;
  }

  /** Sent until it is answered, over as many connections as that takes. */
  request(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    const id = `r${(this.#count += 1)}`;
    const line = `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { session_id: this.#session?.id, ...params } })}\n`;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { line, resolve, reject });
      void this.#greeting.then(() => this.#write(line)).catch(() => {});
    });
  }

  async close(): Promise<void> {
    await this.request('session.close', {}).catch(() => {});
    this.#closed = true;
    await this.link?.close();
  }

  async #connect(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#greet(await this.#open());
        return;
      } catch (thrown) {
        const refused = thrown instanceof Error && thrown.message.startsWith('refused');
        if (refused || attempt === MAX_ATTEMPTS) {
          this.violations.push(`could not go on: ${String(thrown)}`);
          for (const { reject } of this.#pending.values()) reject(thrown as Error);
          throw thrown;
        }
      }
    }
  }

  /** Says who we are, then asks again for all that was not answered. */
  async #greet(link: CommandLink): Promise<void> {
    this.link = link;
    this.connections += 1;
    const greetingId = `g${this.connections}`;
    const session = this.#session;
    const greeting =
      session === undefined
        ? { method: 'session.open', params: { client_name: 'cuts', resumable: true } }
        : {
            method: 'session.resume',
            params: { session_id: session.id, token: session.token, event_seq: this.#lastSeq },
          };
    const answer = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      const line = JSON.stringify({ jsonrpc: '2.0', id: greetingId, ...greeting });
      this.#pending.set(greetingId, { line, resolve, reject });
      let over = false;
      const lose = (): void => {
        if (over) return;
        over = true;
        const unanswered = this.#pending.delete(greetingId);
        void link.close();
        if (unanswered) reject(new Error('lost'));
        else if (!this.#closed) this.#greeting = this.#connect();
        this.#greeting.catch(() => {});
      };
      const splitter = new LineSplitter(
        (bytes, start, end) => this.#take(bytes.toString('utf8', start, end)),
        {
          maxLineBytes: 1 << 20,
        },
      );
      link.input.on('data', (chunk: Buffer) => splitter.push(chunk));
      for (const event of ['end', 'close', 'error'] as const) link.input.once(event, lose);
      link.input.on('error', () => {});
      link.output.write(`${line}\n`);
    });
    const result = await answer;
    if (session === undefined) {
      const { token } = result['resume'] as { token: string };
      this.#session = { id: String(result['session_id']), token };
    }
    for (const [id, { line }] of this.#pending) if (id.startsWith('r')) this.#write(line);
  }

  #write(line: string): void {
    if (this.link !== undefined && !this.link.output.destroyed) this.link.output.write(line);
  }

  #take(line: string): void {
    const message = JSON.parse(line) as Message;
    if (message.method !== undefined && message.params !== undefined)
      this.#takeEvent(message.method, message.params);
    const pending = message.id === undefined ? undefined : this.#pending.get(message.id);
    if (pending === undefined || message.id === undefined) return;
    this.#pending.delete(message.id);
    if (message.error === undefined) pending.resolve(message.result ?? {});
    else pending.reject(new Error(`refused: ${message.error.code} ${message.error.message}`));
  }

  #takeEvent(method: string, params: NonNullable<Message['params']>): void {
    if (params.event_seq !== this.#lastSeq + 1)
      this.violations.push(`event ${params.event_seq} after ${this.#lastSeq}`);
    this.#lastSeq = params.event_seq;
    if (this.#lastSeq % ACK_EVERY === 0) {
      const ack = { session_id: this.#session?.id, event_seq: this.#lastSeq };
      this.#write(`${JSON.stringify({ jsonrpc: '2.0', method: 'session.ack', params: ack })}\n`);
    }
    this.#onEvent(method, params);
  }
}
