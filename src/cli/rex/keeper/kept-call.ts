// One command over a connection of a keeper, which begins it for us: lines of JSON, and no client around them.

import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { LocalError, RpcError, toError } from '../../../base/errors.js';
import { ProcessEvents } from '../../../client/rex/process-events.js';
import type { RemoteExit } from '../../../client/rex/remote-process.js';
import { LineSplitter } from '../../../wire/ndjson/line-splitter.js';
import type { Failure } from '../exec-at-once.js';
import type { KeeperAddress } from './address.js';
import {
  ANSWER_MS,
  HEARD_MS,
  type Hello,
  type KeptStart,
  type Reply,
  START_ID,
  STILL_WANTED_MS,
} from './words.js';

/** Undefined when it was taken at once. */
type Sink = (stream: 'stdout' | 'stderr', bytes: Buffer) => Promise<void> | undefined;

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: object;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export class KeptCall {
  /** `absent` when nobody keeps a connection for us: then nothing was begun. Never rejects. */
  readonly begun: Promise<'running' | 'absent' | Failure>;
  /** Rejects when the connection is lost before, and with what the sink could not do. */
  readonly exit: Promise<RemoteExit>;
  readonly #socket: Socket;
  readonly #sink: Sink;
  readonly #events = new ProcessEvents();
  readonly #waiting = new Map<unknown, (message: Message) => void>();
  #asked = 0;
  #sessionId = '';
  #processId = '';
  #heard = false;
  #greeted = false;
  /** What the sink has not taken yet. */
  #writing: Promise<void> | undefined;
  #tellBegun!: (how: 'running' | 'absent' | Failure) => void;
  #tellExit!: (exit: RemoteExit) => void;
  #fail!: (reason: Error) => void;

  constructor({ socket: path, key }: KeeperAddress, start: KeptStart, sink: Sink, heardMs = HEARD_MS) {
    const socket = connect({ path });
    const hello: Hello = { want: 'run', key, until: Date.now() + STILL_WANTED_MS, start };
    socket.write(`${JSON.stringify(hello)}\n`);
    // The keeper is asked: what follows is done while it answers.
    this.#socket = socket;
    this.#sink = sink;
    this.begun = new Promise((resolve) => (this.#tellBegun = resolve));
    this.exit = new Promise((resolve, reject) => {
      this.#tellExit = resolve;
      this.#fail = reject;
    });
    this.exit.catch(() => {}); // whoever waits for it is told
    const lines = new LineSplitter((bytes, from, to) => this.#onLine(bytes.toString('utf8', from, to)));
    socket.on('data', (chunk) => lines.push(chunk));
    socket.on('error', () => {}); // its close is told
    socket.on('close', () => this.#onClose());
    socket.setTimeout(heardMs, () => {
      if (this.#heard) this.#tellBegun({ message: 'no connection was made in time; see rex keep --stop' });
      else rmSync(path, { force: true }); // stopped or stuck; it ends itself when it finds that out
      socket.destroy();
    });
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#ask('exec.input', {
      data: Buffer.from(data as Uint8Array).toString('base64'),
      encoding: 'base64',
    });
  }

  async endInput(): Promise<void> {
    await this.#ask('exec.input', { eof: true });
  }

  async kill(signal = 'TERM'): Promise<void> {
    await this.#ask('exec.kill', { signal });
  }

  #onLine(line: string): void {
    const message = JSON.parse(line) as Message;
    if (!this.#greeted) return this.#onGreeting(message as Reply);
    if (message.method !== undefined) return this.#events.receive(message.method, message.params as never);
    if (message.id === START_ID) return this.#onStarted(message);
    this.#waiting.get(message.id)?.(message);
    this.#waiting.delete(message.id);
  }

  #onGreeting(reply: Reply): void {
    this.#heard = true;
    if ('wait' in reply) return void this.#socket.setTimeout(ANSWER_MS);
    this.#greeted = true;
    this.#socket.setTimeout(0);
    if ('session' in reply) this.#sessionId = reply.session.session_id;
    else this.#tellBegun('failed' in reply ? { message: reply.failed.message } : 'absent');
  }

  #onStarted({ result, error }: Message): void {
    if (error !== undefined) return this.#tellBegun(error);
    this.#processId = (result as { process_id: string }).process_id;
    this.#tellBegun('running');
    this.#events.listen(this.#processId, {
      onOutput: (stream, bytes) => this.#pass(stream, bytes),
      onExit: (exit) => {
        if (this.#writing === undefined) this.#tellExit(exit);
        else this.#writing.then(() => this.#tellExit(exit), this.#fail);
      },
      onLost: this.#fail,
    });
  }

  /** While the sink is busy nothing is read, which slows the other side; what has been read waits for its turn. */
  #pass(stream: 'stdout' | 'stderr', bytes: Buffer): void {
    try {
      const writing =
        this.#writing === undefined
          ? this.#sink(stream, bytes)
          : this.#writing.then(() => this.#sink(stream, bytes));
      if (writing === undefined) return;
      this.#writing = writing;
      this.#socket.pause();
      writing.then(() => this.#onWritten(writing), this.#fail);
    } catch (thrown) {
      this.#fail(toError(thrown));
    }
  }

  #onWritten(writing: Promise<void>): void {
    if (this.#writing !== writing) return;
    this.#writing = undefined;
    this.#socket.resume();
  }

  #onClose(): void {
    const reason = new LocalError('connection_lost', 'the connection was lost');
    this.#tellBegun(this.#heard ? { message: reason.message } : 'absent');
    this.#events.lose(reason);
    for (const tell of this.#waiting.values()) tell({ error: { code: 0, message: reason.message } });
    this.#waiting.clear();
    this.#fail(reason);
  }

  /** Rejects with an RpcError. */
  async #ask(method: string, params: object): Promise<void> {
    this.#asked += 1;
    const id = this.#asked;
    const all = { session_id: this.#sessionId, process_id: this.#processId, ...params };
    const { error } = await new Promise<Message>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: all })}\n`);
    });
    if (error !== undefined) throw new RpcError(error.code, error.message);
  }
}
