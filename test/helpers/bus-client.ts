// A client of a bus as one of another make would be: real sockets, exact bytes, no code shared with the bus.

import { once } from 'node:events';
import { createConnection, type NetConnectOpts, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

export interface Message {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

export type Framing = 'ndjson' | 'length';

const WAIT_MS = 60_000;
const AGAIN_MS = 5;
const LENGTH_BYTES = 4;

let peers = 0;

export class BusPeer implements AsyncDisposable {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #framing: Framing;
  /** Whole messages that nobody has taken yet, without their newline or length. */
  readonly #held: { readonly bytes: Buffer; message?: Message }[] = [];
  #arrived = 0;
  #partial: Buffer[] = [];
  readonly #waiters = new Set<() => void>();
  #over = false;
  /** Ids that collide with nobody's: those of the tests that are about collisions are small, and chosen by them. */
  #lastId = (peers += 1) * 100_000;
  received = 0;

  static async connect(where: NetConnectOpts, framing: Framing = 'ndjson'): Promise<BusPeer> {
    for (;;) {
      const socket: Socket = createConnection({ ...where, allowHalfOpen: true } as NetConnectOpts);
      const error = await once(socket, 'connect').then(
        () => undefined,
        (thrown: NodeJS.ErrnoException) => thrown,
      );
      if (error === undefined) return new BusPeer(socket, socket, framing);
      // A unix socket has as many in its queue as it takes: a blocking connect would wait, this one is told to come again.
      if (error.code !== 'EAGAIN') throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  constructor(input: Readable, output: Writable, framing: Framing = 'ndjson') {
    this.#input = input;
    this.#output = output;
    this.#framing = framing;
    input.on('data', (chunk: Buffer) => {
      this.received += chunk.length;
      if (framing === 'ndjson') this.#splitLines(chunk);
      else this.#splitFrames(chunk);
      this.#wake();
    });
    const end = (): void => {
      this.#over = true;
      this.#wake();
    };
    for (const event of ['end', 'close', 'error']) input.on(event, end);
    output.on('error', () => {}); // a bus that closes first is told of by `ended`
  }

  /** Bytes that came and are no whole message. */
  get fragment(): Buffer {
    return Buffer.concat(this.#partial);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** How many messages are there to be taken. */
  get waiting(): number {
    return this.#held.length;
  }

  /** Exactly these bytes. Resolves when the kernel has them. */
  async write(bytes: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#output.write(bytes, () => resolve()));
  }

  /** One message, with what the framing asks for around it. */
  send(message: string | Uint8Array | object): void {
    const plain = typeof message === 'object' && !(message instanceof Uint8Array);
    const body = Buffer.from(plain ? JSON.stringify(message) : (message as string));
    if (this.#framing === 'ndjson') this.#output.write(Buffer.concat([body, Buffer.from('\n')]));
    else this.#output.write(frame(body));
  }

  /** Sends a request under an id of its own; gives the id. */
  request(method: string, params: object = {}, more: object = {}): number {
    this.#lastId += 1;
    this.send({ jsonrpc: '2.0', id: this.#lastId, method, params, ...more });
    return this.#lastId;
  }

  /** The answer to a request, whatever else comes before it. */
  async call(method: string, params: object = {}, more: object = {}): Promise<Message> {
    const id = this.request(method, params, more);
    return await this.take(
      (message) => message.id === id && message.method === undefined,
      `the answer of ${method}`,
    );
  }

  async ask(
    method: string,
    params: object = {},
    more: object = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.call(method, params, more);
    if (answer.result === undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** The next message as bytes; undefined when there are no more. */
  async next(timeoutMs = WAIT_MS): Promise<Buffer | undefined> {
    await this.#until(() => this.#held.length > 0 || this.#over, 'a message', timeoutMs);
    return this.#held.shift()?.bytes;
  }

  async message(timeoutMs = WAIT_MS): Promise<Message> {
    const bytes = await this.next(timeoutMs);
    if (bytes === undefined) throw new Error('the connection has ended');
    return parse(bytes);
  }

  /** The first message that fits; those before it stay to be taken. */
  async take(fits: (message: Message) => boolean, what = 'a message', timeoutMs = WAIT_MS): Promise<Message> {
    for (;;) {
      // From the start each time: somebody else may have taken some meanwhile.
      const at = this.#held.findIndex((held) => fits((held.message ??= parse(held.bytes))));
      const [found] = at === -1 ? [] : this.#held.splice(at, 1);
      if (found?.message !== undefined) return found.message;
      const before = this.#arrived;
      if (this.#over) throw new Error(`the connection ended before ${what}; held: ${this.#shown()}`);
      await this.#until(() => this.#arrived > before || this.#over, what, timeoutMs);
    }
  }

  /** Everything up to the end of the connection. */
  async rest(timeoutMs = WAIT_MS): Promise<Buffer[]> {
    await this.#until(() => this.#over, 'the end of the connection', timeoutMs);
    return this.#held.splice(0).map(({ bytes }) => bytes);
  }

  /** Resolves when the bus has closed. */
  async ended(timeoutMs = WAIT_MS): Promise<void> {
    await this.#until(() => this.#over, 'the bus to close', timeoutMs);
  }

  /** No more reading until `resume`: the kernel's buffers fill. */
  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  /** Half-close: nothing more will be sent, everything is still read. */
  end(): void {
    this.#output.end();
  }

  /** Gone at once, whatever is pending. */
  destroy(): void {
    this.#input.destroy();
    this.#output.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.destroy();
    if (!this.#input.closed) await once(this.#input, 'close').catch(() => {});
  }

  #hold(bytes: Buffer): void {
    this.#held.push({ bytes });
    this.#arrived += 1;
  }

  #shown(): string {
    return this.#held
      .map(({ bytes }) => bytes.toString())
      .join(' ')
      .slice(0, 500);
  }

  #splitLines(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#partial.push(chunk.subarray(from, at));
      this.#hold(Buffer.concat(this.#partial));
      this.#partial = [];
      from = at + 1;
    }
    if (from < chunk.length) this.#partial.push(chunk.subarray(from));
  }

  #splitFrames(chunk: Buffer): void {
    let all = Buffer.concat([...this.#partial, chunk]);
    while (all.length >= LENGTH_BYTES && all.length >= LENGTH_BYTES + all.readUInt32BE(0)) {
      const end = LENGTH_BYTES + all.readUInt32BE(0);
      this.#hold(all.subarray(LENGTH_BYTES, end));
      all = all.subarray(end);
    }
    this.#partial = all.length > 0 ? [all] : [];
  }

  #wake(): void {
    for (const look of this.#waiters) look();
  }

  async #until(isTrue: () => boolean, what: string, timeoutMs: number): Promise<void> {
    if (isTrue()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`waited ${timeoutMs} ms for ${what}; held: ${this.#shown()}`)),
        timeoutMs,
      );
      const look = (): void => {
        if (!isTrue()) return;
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
    });
  }
}

function parse(bytes: Buffer): Message {
  return JSON.parse(bytes.toString('utf8')) as Message;
}

/** A body with its length before it, as length framing has it. */
export function frame(body: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

/** What the worker says it has read, as bytes. */
export function echoed(answer: Message): Buffer {
  return Buffer.from(String(answer.result?.['line']), 'base64');
}
