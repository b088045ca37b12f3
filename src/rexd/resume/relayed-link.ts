// A link whose first request may be for a session that another server has: then that server gets it, byte for byte, and
// ours sees nothing of it but the end.

import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { ByteSource, Link } from '../../wire/transport/link.js';

/** A first line that is longer is not a request to resume. */
export const MAX_FIRST_LINE_BYTES = 64 * 1024;

export type FindServer = (sessionId: string) => Promise<Socket | undefined>;

/** Whether bytes begin with a whole line that asks for no session of another server. Most do, and need no such link. */
export function beginsPlainly(first: Buffer | undefined): first is Buffer {
  const end = first?.indexOf(NEWLINE) ?? -1;
  return end !== -1 && first?.subarray(0, end).includes(RESUME) === false;
}

export function relayedLink(link: Link, find: FindServer): Link {
  const input = new RelayedInput(link, find);
  const close = async (): Promise<void> => {
    input.finish();
    await link.close();
  };
  return { ...link, input, close };
}

const NEWLINE = 10;
const RESUME = 'session.resume';

class RelayedInput extends EventEmitter implements ByteSource {
  readonly #link: Link;
  readonly #find: FindServer;
  /** What has come so far, while it is not known whose it is. */
  #first: Buffer | undefined = Buffer.alloc(0);
  #server: Socket | undefined;
  #looking = false;
  #paused = false;
  #over = false;

  constructor(link: Link, find: FindServer) {
    super();
    this.#link = link;
    this.#find = find;
    link.input.on('data', (chunk) => this.#onData(chunk));
    for (const event of ['end', 'close'] as const) link.input.on(event, () => this.#onEnd(event));
    link.input.on('error', (error) => this.#onError(error));
  }

  get destroyed(): boolean {
    return (
      this.#over || (this.#first === undefined && this.#server === undefined && this.#link.input.destroyed)
    );
  }

  get readableEnded(): boolean {
    return this.#over;
  }

  isPaused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
    this.#link.input.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#link.input.resume();
  }

  #onData(chunk: Buffer): void {
    if (this.#server !== undefined) this.#toServer(chunk);
    else if (this.#first === undefined) this.emit('data', chunk);
    else {
      this.#first = Buffer.concat([this.#first, chunk]);
      void this.#decide();
    }
  }

  async #decide(): Promise<void> {
    if (this.#looking) return; // what comes meanwhile is kept, the end too
    const first = this.#first ?? Buffer.alloc(0);
    const end = first.indexOf(NEWLINE);
    if (end === -1 && first.length < MAX_FIRST_LINE_BYTES && !this.#link.input.readableEnded) return;
    const sessionId = end === -1 ? undefined : sessionToResume(first.subarray(0, end));
    if (sessionId !== undefined) {
      this.#link.input.pause();
      this.#looking = true;
      this.#server = await this.#find(sessionId);
      this.#looking = false;
    }
    const all = this.#first ?? Buffer.alloc(0);
    this.#first = undefined;
    if (this.#server !== undefined) this.#relay(this.#server, all);
    else if (all.length > 0) this.emit('data', all);
    if (sessionId !== undefined && !this.#paused) this.#link.input.resume();
    if (this.#link.input.readableEnded) this.#onEnd('end');
  }

  #relay(server: Socket, first: Buffer): void {
    server.on('data', (chunk: Buffer) => {
      server.pause();
      this.#link.output.write(chunk, () => server.resume());
    });
    server.once('end', () => this.finish());
    server.once('close', () => this.finish());
    this.#toServer(first);
  }

  /** No more than the server takes. */
  #toServer(chunk: Buffer): void {
    if (this.#server?.write(chunk) !== false) return;
    this.#link.input.pause();
    this.#server.once('drain', () => this.#link.input.resume());
  }

  #onEnd(event: 'end' | 'close'): void {
    if (this.#server !== undefined) this.#server.end();
    else if (this.#first === undefined) this.emit(event);
    else void this.#decide();
  }

  /** The server learns of a client that is gone as it would from its own connection. */
  #onError(error: Error): void {
    if (this.#server === undefined) this.emit('error', error);
    else this.finish();
  }

  /** Told as the end of the input: what is left to do is to end the output. */
  finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#server?.destroySoon();
    this.emit('end');
  }
}

function sessionToResume(line: Buffer): string | undefined {
  if (!line.includes(RESUME)) return undefined;
  try {
    const { method, params } = JSON.parse(line.toString('utf8')) as {
      method?: unknown;
      params?: { session_id?: unknown } | null;
    };
    const id = params?.session_id;
    return method === RESUME && typeof id === 'string' ? id : undefined;
  } catch {
    return undefined; // told by whoever reads it
  }
}
