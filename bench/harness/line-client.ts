// The raw client of every round-trip suite: requests encoded beforehand, replies only counted, so that the server is what is measured.

import { deadline, withSignal } from '../../src/base/deadline.js';
import { LineSplitter } from '../../src/wire/ndjson/line-splitter.js';
import type { BenchChild } from './child.js';
import type { RequestPool } from './request-pool.js';

const NEWLINE = 10;
/** Much longer than a turn lasts, much shorter than anybody would wait. */
const ANSWER_TIMEOUT_MS = 20_000;
/** How many answers are read and compared before any is only counted. */
const VERIFIED_REQUESTS = 64;
/** A reply line longer than this means the contender does not speak lines. */
export const MAX_CHECKED_REPLY_BYTES = 16 * 1024 * 1024;

export interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface Talk<T> {
  readonly write: (bytes: string | Buffer) => void;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

export class LineClient {
  readonly #child: BenchChild;
  readonly #timeoutMs: number;
  readonly #gone: Promise<never>;
  #onData: (chunk: Buffer) => void = () => {};

  constructor(child: BenchChild, timeoutMs: number = ANSWER_TIMEOUT_MS) {
    this.#child = child;
    this.#timeoutMs = timeoutMs;
    child.stdout.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#gone = child.ended.then((ending) => {
      throw child.failure(ending.text);
    });
    this.#gone.catch(() => {}); // asked for only while a reply is awaited
  }

  /** One request, its reply parsed; notifications on the way are skipped. For set-up and checks, not for measuring. */
  ask(id: number, method: string, params: unknown): Promise<Reply> {
    return this.converse(`no answer to ${method}`, ({ write, resolve, reject }) => {
      const splitter = new LineSplitter(
        (bytes, start, end) => {
          const line = bytes.toString('utf8', start, end);
          const reply = parseReply(line);
          if (reply === undefined)
            reject(this.#child.failure(`sent what is not JSON: ${line.slice(0, 200)}`));
          else if (reply.id === id) resolve(reply);
        },
        {
          maxLineBytes: MAX_CHECKED_REPLY_BYTES,
          onOversize: () => reject(this.#child.failure('sent an endless line')),
        },
      );
      write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return (chunk) => splitter.push(chunk);
    });
  }

  /** For what is no plain exchange: `begin` may write, gives back who takes the bytes, and says when it is over. */
  converse<T>(what: string, begin: (talk: Talk<T>) => (chunk: Buffer) => void): Promise<T> {
    return this.#await(what, (resolve, reject) => {
      this.#onData = begin({ write: (bytes) => void this.#child.stdin.write(bytes), resolve, reject });
    });
  }

  /** Sends `count` of the pool's requests, never more than `inFlight` unanswered, and waits for as many lines. */
  async exchange(
    pool: RequestPool,
    count: number,
    inFlight: number,
    look?: (chunk: Buffer) => void,
  ): Promise<void> {
    let sent = 0;
    let received = 0;
    const send = (lines: number): void => {
      for (const part of pool.take(lines)) this.#child.stdin.write(part);
      sent += lines;
    };
    await this.#await(`no answer to some of ${count} requests`, (resolve) => {
      this.#onData = (chunk) => {
        look?.(chunk);
        received += countLines(chunk);
        if (received >= count) resolve(undefined);
        else if (sent < count) send(Math.min(count - sent, inFlight - (sent - received)));
      };
      send(Math.min(count, inFlight));
    });
  }

  /** Fails unless every request gets exactly one answer, under its own id, that `accepts` agrees to. */
  async verify(pool: RequestPool, accepts: (reply: Reply) => boolean): Promise<void> {
    const chunks: Buffer[] = [];
    const expected = pool.peekIds(VERIFIED_REQUESTS);
    await this.exchange(pool, VERIFIED_REQUESTS, VERIFIED_REQUESTS, (chunk) => chunks.push(chunk));
    const lines = Buffer.concat(chunks).toString('utf8').trimEnd().split('\n');
    const replies = lines.map(parseReply);
    const bad = replies.findIndex((reply) => reply === undefined || !accepts(reply));
    if (bad !== -1) throw this.#child.failure(`gave a wrong answer: ${lines[bad]?.slice(0, 200)}`);
    const answered = new Set(replies.map((reply) => reply?.id));
    if (lines.length !== expected.length || !expected.every((id) => answered.has(id))) {
      throw this.#child.failure('did not answer each request exactly once');
    }
  }

  async #await<T>(
    what: string,
    body: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    using limit = deadline(this.#timeoutMs, {
      reason: () => this.#child.failure(`gave ${what} within ${this.#timeoutMs} ms`),
    });
    return await withSignal(Promise.race([new Promise<T>(body), this.#gone]), limit.signal);
  }
}

export function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

function parseReply(line: string): Reply | undefined {
  try {
    return JSON.parse(line) as Reply;
  } catch {
    return undefined;
  }
}
