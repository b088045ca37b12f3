// One request to a running bus over its socket.

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { deadline, withSignal } from '../../base/deadline.js';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import { AUTH_METHOD, NOT_AUTHENTICATED } from '../../bus/protocol.js';
import { type ListenPlace, sayPlace } from '../../bus/listen/listener.js';
import { TOKEN_VARIABLE } from '../../bus/workers/worker-environment.js';
import { parseListenAddress } from '../../guard/listen-address.js';
import { type Flags, UsageError } from '../flags.js';

/** The longest answer that is read. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const HEAD_BYTES = 4;

export interface Question {
  readonly method: string;
  readonly params?: unknown;
  readonly timeoutMs: number;
}

interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: {
    readonly code?: number;
    readonly message?: string;
    readonly data?: { readonly hint?: string; readonly why?: string };
  };
}

/** Rejects with LocalError when there is no bus, or it answers with an error. */
export async function askBus(flags: Flags, { method, params = {}, timeoutMs }: Question): Promise<unknown> {
  const place = choosePlace(flags);
  const framing = flags.value('framing') ?? 'ndjson';
  if (framing !== 'ndjson' && framing !== 'length')
    throw new UsageError(`--framing: expected ndjson or length, got "${framing}"`);
  const token = process.env[TOKEN_VARIABLE];
  const socket = open(place, flags);
  using limit = deadline(timeoutMs, {
    reason: () => new LocalError('no_answer', `no answer from ${sayPlace(place)} within ${timeoutMs} ms`),
  });
  try {
    const answers = new Answers(socket, framing, sayPlace(place));
    const send = (message: object): void => void socket.write(frame(JSON.stringify(message), framing));
    if (!('path' in place) && token !== undefined && token !== '') {
      send({ jsonrpc: '2.0', id: 'auth', method: AUTH_METHOD, params: { token } });
      take(await withSignal(answers.next(), limit.signal));
    }
    send({ jsonrpc: '2.0', id: 'ask', method, params });
    return take(await withSignal(answers.next(), limit.signal));
  } finally {
    socket.destroy();
  }
}

function take({ result, error }: Answer): unknown {
  if (error === undefined) return result;
  const { hint, why } = error.data ?? {};
  const more =
    error.code === NOT_AUTHENTICATED
      ? sayToken()
      : [why, hint].filter((each) => each !== undefined).join('; ');
  throw new LocalError(
    'refused',
    `the bus answers: ${error.message ?? 'error'}${more === '' ? '' : ` (${more})`}`,
  );
}

/** The hint of the bus is for who writes messages; here one sets a variable. */
function sayToken(): string {
  return (process.env[TOKEN_VARIABLE] ?? '') === ''
    ? `put the token of this bus into ${TOKEN_VARIABLE}`
    : `the token in ${TOKEN_VARIABLE} is not that of this bus`;
}

function choosePlace(flags: Flags): ListenPlace {
  const path = flags.value('unix');
  const address = flags.value('tcp');
  if ((path === undefined) === (address === undefined))
    throw new UsageError('say where the bus is: --unix PATH or --tcp HOST:PORT');
  return path === undefined ? parseListenAddress(address ?? '') : { path };
}

function open(place: ListenPlace, flags: Flags): Socket {
  const [ca, cert, key] = ['tls-ca', 'tls-cert', 'tls-key'].map((name) => readPem(flags, name));
  if ('path' in place || ca === undefined) return connect(place);
  return connectTls({ ...place, ca, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) });
}

function readPem(flags: Flags, name: string): Buffer | undefined {
  const file = flags.value(name);
  try {
    return file === undefined ? undefined : readFileSync(file);
  } catch (thrown) {
    throw new UsageError(`--${name}: ${file} cannot be read (${errnoOf(thrown)})`);
  }
}

function frame(text: string, framing: 'ndjson' | 'length'): Buffer {
  const body = Buffer.from(text);
  if (framing === 'ndjson') return Buffer.concat([body, Buffer.from('\n')]);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** What the bus says, one message at a time. */
class Answers {
  readonly #socket: Socket;
  readonly #framing: 'ndjson' | 'length';
  readonly #place: string;
  #held = Buffer.alloc(0);
  #failure: Error | undefined;

  constructor(socket: Socket, framing: 'ndjson' | 'length', place: string) {
    this.#socket = socket;
    this.#framing = framing;
    this.#place = place;
    socket.on('error', (error) => (this.#failure ??= error));
    socket.once('end', () => socket.destroy());
  }

  async next(): Promise<Answer> {
    for (;;) {
      const found = this.#take();
      if (found !== undefined) return JSON.parse(found) as Answer;
      if (this.#held.length > MAX_ANSWER_BYTES)
        throw new LocalError('no_answer', `the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      this.#held = Buffer.concat([this.#held, await this.#chunk()]);
    }
  }

  #take(): string | undefined {
    const isLine = this.#framing === 'ndjson';
    if (!isLine && this.#held.length < HEAD_BYTES) return undefined;
    const start = isLine ? 0 : HEAD_BYTES;
    const end = isLine ? this.#held.indexOf(10) : HEAD_BYTES + this.#held.readUInt32BE(0);
    if (end === -1 || end > this.#held.length) return undefined;
    const text = this.#held.toString('utf8', start, end);
    this.#held = this.#held.subarray(isLine ? end + 1 : end);
    return text;
  }

  async #chunk(): Promise<Buffer> {
    return await new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#socket.pause();
        this.#socket.off('data', onData).off('close', onClose);
      };
      const onData = (chunk: Buffer): void => {
        settle();
        resolve(chunk);
      };
      const onClose = (): void => {
        settle();
        const why = this.#failure === undefined ? 'it closed the connection' : sayFailure(this.#failure);
        reject(new LocalError('no_bus', `no answer from ${this.#place}: ${why}`));
      };
      if (this.#socket.destroyed) return onClose();
      this.#socket.on('data', onData).once('close', onClose).resume();
    });
  }
}

function sayFailure(error: Error): string {
  const errno = errnoOf(error);
  if (errno === 'ENOENT') return 'there is no such socket';
  if (errno === 'ECONNREFUSED') return 'nobody is listening there';
  return errno ?? toError(error).message;
}
