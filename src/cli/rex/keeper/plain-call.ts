// One command for a caller that only passes bytes on: what a client would do, the keeper does.

import type { Socket } from 'node:net';
import { ProcessEvents } from '../../../client/rex/process-events.js';
import type { RemoteExit } from '../../../client/rex/remote-process.js';
import { LineSplitter } from '../../../wire/ndjson/line-splitter.js';
import type { Link } from '../../../wire/transport/link.js';
import { sayEnd } from '../stream-process.js';
import type { RelayEnd } from './relay.js';
import { START_ID } from './words.js';

/** Input that waits until the last was taken; then the caller is not read any more. */
export const MAX_WAITING_INPUT_BYTES = 1024 * 1024;
/** Of the line before some input; a longer one is none. */
const MAX_HEAD_BYTES = 32;
const NEWLINE = 10;

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: object;
  readonly result?: unknown;
  readonly error?: object;
}

/** Resolves when either side has ended; the connection is left paused, the socket destroyed when all is written. */
export function runPlainly(
  socket: Socket,
  link: Link,
  { sessionId, startLine }: { readonly sessionId: string; readonly startLine: string },
): Promise<RelayEnd> {
  return new Promise((resolve) => {
    const call = new PlainCall(socket, link, sessionId, resolve);
    link.output.write(startLine);
    call.begin();
  });
}

class PlainCall {
  readonly #socket: Socket;
  readonly #link: Link;
  readonly #sessionId: string;
  readonly #finish: (end: RelayEnd) => void;
  readonly #events = new ProcessEvents();
  readonly #lines = new LineSplitter((bytes, from, to) => this.#onLine(bytes.toString('utf8', from, to)));
  #processId: string | undefined;
  #held: Buffer = Buffer.alloc(0);
  #input: Buffer[] = [];
  #inputBytes = 0;
  #inputOver = false;
  #asked = 0;
  /** The id of the input that was sent and not taken yet. */
  #sending: number | undefined;
  #over = false;

  constructor(socket: Socket, link: Link, sessionId: string, finish: (end: RelayEnd) => void) {
    this.#socket = socket;
    this.#link = link;
    this.#sessionId = sessionId;
    this.#finish = finish;
  }

  begin(): void {
    const { input } = this.#link;
    this.#socket.on('data', this.#fromCaller).on('drain', this.#onDrain);
    this.#socket.on('end', this.#callerOver).on('close', this.#callerOver);
    input.on('data', this.#fromLink);
    input.on('error', this.#linkOver);
    for (const event of ['end', 'close'] as const) input.on(event, this.#linkOver);
    this.#socket.resume();
    input.resume();
    if (input.readableEnded || input.destroyed) this.#linkOver();
  }

  readonly #fromLink = (chunk: Buffer): void => this.#lines.push(chunk);
  readonly #onDrain = (): void => void this.#link.input.resume();
  readonly #callerOver = (): void => this.#end('clean');
  readonly #linkOver = (): void => this.#end('broken');

  #onLine(line: string): void {
    if (this.#over) return;
    const message = JSON.parse(line) as Message;
    if (message.method !== undefined) this.#events.receive(message.method, message.params as never);
    else if (message.id === START_ID) this.#onStarted(message);
    else if (message.id === this.#sending) this.#onTaken(message);
  }

  #onStarted({ result, error }: Message): void {
    if (error !== undefined) {
      this.#say('n\n'); // whoever does it again is told why not
      return this.#end('clean');
    }
    this.#processId = (result as { process_id: string }).process_id;
    this.#say('r\n');
    this.#events.listen(this.#processId, {
      onOutput: (stream, bytes) => this.#pass(stream === 'stdout' ? 'o' : 'e', bytes),
      onExit: (exit) => this.#onExit(exit),
      onLost: () => {},
    });
  }

  #onExit(exit: RemoteExit): void {
    const code = sayEnd({ say: (text) => this.#pass('e', Buffer.from(`${text}\n`)) }, exit);
    this.#say(`x${code & 0xff}\n`);
    this.#end('clean');
  }

  #pass(letter: 'o' | 'e', bytes: Buffer): void {
    this.#say(`${letter}${bytes.length}\n`);
    if (!this.#socket.write(bytes)) this.#link.input.pause();
  }

  #say(text: string): void {
    if (!this.#socket.destroyed) this.#socket.write(text);
  }

  readonly #fromCaller = (chunk: Buffer): void => {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (;;) {
      const end = this.#held.indexOf(NEWLINE);
      if (end === -1 && this.#held.length > MAX_HEAD_BYTES) return this.#end('clean');
      if (end === -1) break;
      const head = this.#held.toString('latin1', 0, end);
      const length = head.startsWith('i') ? Number(head.slice(1)) : 0;
      if (this.#held.length < end + 1 + length) break;
      this.#onFrame(head, this.#held.subarray(end + 1, end + 1 + length));
      this.#held = this.#held.subarray(end + 1 + length);
    }
  };

  #onFrame(head: string, bytes: Buffer): void {
    if (head.startsWith('k')) return void this.#ask('exec.kill', { signal: head.slice(1) });
    if (head === 'c') this.#inputOver = true;
    else {
      this.#input.push(bytes);
      this.#inputBytes += bytes.length;
      if (this.#inputBytes > MAX_WAITING_INPUT_BYTES) this.#socket.pause();
    }
    if (this.#sending === undefined) this.#sendInput();
  }

  #sendInput(): void {
    const data = Buffer.concat(this.#input);
    this.#input = [];
    this.#inputBytes = 0;
    this.#socket.resume();
    if (data.length > 0)
      this.#sending = this.#ask('exec.input', { data: data.toString('base64'), encoding: 'base64' });
    else if (this.#inputOver) this.#ask('exec.input', { eof: true });
  }

  /** What a program does not want any more is read and forgotten, as a shell's pipe would end it. */
  #onTaken({ error }: Message): void {
    this.#sending = undefined;
    if (error !== undefined) this.#input = [];
    if (error === undefined && (this.#input.length > 0 || this.#inputOver)) this.#sendInput();
    else this.#socket.resume();
  }

  #ask(method: string, params: object): number {
    const id = (this.#asked += 1);
    const all = { session_id: this.#sessionId, process_id: this.#processId, ...params };
    this.#link.output.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: all })}\n`);
    return id;
  }

  #end(how: RelayEnd): void {
    if (this.#over) return;
    this.#over = true;
    const { input } = this.#link;
    this.#socket.off('data', this.#fromCaller).off('drain', this.#onDrain);
    this.#socket.off('end', this.#callerOver).off('close', this.#callerOver);
    input.off('data', this.#fromLink);
    input.off('error', this.#linkOver);
    for (const event of ['end', 'close'] as const) input.off(event, this.#linkOver);
    input.pause();
    this.#socket.resume();
    this.#socket.destroySoon();
    this.#finish(how);
  }
}
