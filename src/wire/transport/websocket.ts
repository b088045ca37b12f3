// A link over a WebSocket: one message is one text frame here and one line there, with back-pressure both ways.

import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { LocalError } from '../../base/errors.js';
import { LineSplitter, MAX_LINE_BYTES } from '../ndjson/line-splitter.js';
import { asLine } from '../jsonrpc/as-line.js';
import { closeDuplex } from './close-stream.js';
import type { StreamLink } from './link.js';

/** What a frame may hold at most, as a line may. */
export const MAX_FRAME_BYTES = MAX_LINE_BYTES;
/** How often the other side is asked whether it is there. */
export const PING_MS = 20_000;
/** Without a sign of life for so long it is taken for gone. */
export const SILENCE_MS = 60_000;
/** The same while bytes wait for it: whoever just does not read does not answer either, and may be at its dinner. */
export const STALL_MS = 600_000;

/** Codes of RFC 6455. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const UNSUPPORTED = 1003;
const NO_STATUS = 1005;

export interface WebSocketLinkOptions {
  readonly name: string;
  /** Said when we end it: NORMAL unless told otherwise. */
  readonly closeCode?: () => number;
  readonly pingMs?: number;
  readonly silenceMs?: number;
  readonly stallMs?: number;
}

/** The socket is open, and nobody else reads from it. */
export function webSocketLink(socket: WebSocket, options: WebSocketLinkOptions): StreamLink {
  const stream = new WebSocketStream(socket, options);
  stream.on('error', () => {}); // whoever uses the link listens too; until then none may be uncaught
  let closing: Promise<void> | undefined;
  return {
    input: stream,
    output: stream,
    linesOnly: true,
    name: options.name,
    close: () => (closing ??= closeDuplex(stream)),
  };
}

class WebSocketStream extends Duplex {
  readonly #socket: WebSocket;
  readonly #options: WebSocketLinkOptions;
  readonly #frames: Buffer[] = [];
  readonly #splitter: LineSplitter;
  readonly #liveness: NodeJS.Timeout;
  #heardAt = performance.now();
  #over = false;

  constructor(socket: WebSocket, options: WebSocketLinkOptions) {
    super({ autoDestroy: true });
    this.#socket = socket;
    this.#options = options;
    this.#splitter = new LineSplitter((bytes, start, end) => this.#frames.push(bytes.subarray(start, end)), {
      maxLineBytes: Number.MAX_SAFE_INTEGER,
    });
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('pong', () => this.#hear());
    socket.on('ping', () => this.#hear());
    socket.on('error', () => {}); // 'close' follows, and tells the code
    socket.once('close', (code: number, reason: Buffer) => this.#end(code, reason.toString('utf8')));
    this.#liveness = setInterval(() => this.#look(), options.pingMs ?? PING_MS);
    this.#liveness.unref();
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#splitter.push(chunk);
    this.#send(done);
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    for (const { chunk } of chunks) this.#splitter.push(chunk);
    this.#send(done);
  }

  override _final(done: () => void): void {
    if (!this.#over) this.#socket.close(this.#options.closeCode?.() ?? NORMAL);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#liveness);
    if (!this.#over) this.#socket.terminate();
    done(error);
  }

  /** The next chunk comes when the last frame of this one is with the kernel, so a slow reader is felt here. */
  #send(done: (error?: Error | null) => void): void {
    const frames = this.#frames.splice(0);
    const last = frames.pop();
    // A WebSocket has no half that could still be read when the other side has closed it.
    if (last === undefined || this.#over) return done();
    for (const frame of frames) this.#socket.send(frame, TEXT, ignore);
    this.#socket.send(last, TEXT, (error) => {
      this.#hear(); // bytes were taken: somebody is there
      done(this.#over ? null : error);
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#hear();
    if (this.#over || this.readableEnded) return;
    if (isBinary) return this.#socket.close(UNSUPPORTED, 'messages are text');
    if (!this.push(asLine(data))) this.#socket.pause();
  }

  #end(code: number, reason: string): void {
    this.#over = true;
    clearInterval(this.#liveness);
    if (!this.writableEnded && ![NORMAL, GOING_AWAY, NO_STATUS].includes(code)) {
      const why = reason === '' ? '' : `: ${reason}`;
      this.destroy(new LocalError('websocket_closed', `the WebSocket ended with code ${code}${why}`));
      return;
    }
    this.push(null);
    this.end();
  }

  #hear(): void {
    this.#heardAt = performance.now();
  }

  #look(): void {
    const { silenceMs = SILENCE_MS, stallMs = STALL_MS } = this.#options;
    const patienceMs = this.#socket.bufferedAmount > 0 || this.#socket.isPaused ? stallMs : silenceMs;
    if (performance.now() - this.#heardAt > patienceMs) {
      this.destroy(new LocalError('silent', `the other side gave no sign of life for ${patienceMs} ms`));
    } else if (!this.#over) {
      this.#socket.ping(undefined, undefined, ignore);
    }
  }
}

const TEXT = { binary: false, compress: false };

function ignore(): void {}
