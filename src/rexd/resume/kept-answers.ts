// The answers of a resumable session: a request that is sent again, because its answer was lost with a connection, is not
// carried out again.

import { createHash } from 'node:crypto';
import { newAbort } from '../../base/abort.js';
import { RpcError } from '../../base/errors.js';
import { RawJson } from '../../wire/jsonrpc/encode.js';
import { type JsonRpcId, type JsonRpcParams, REQUEST_CANCELLED } from '../../wire/jsonrpc/message.js';
import { rexdError } from '../errors.js';

/** Answers kept of one session, in bytes; beyond it the oldest goes. */
export const MAX_ANSWERS_BYTES = 8 * 1024 * 1024;
/** Answers kept of one session. */
export const MAX_ANSWERS = 4096;
/** Requests whose answer is gone, but which are still known to have been carried out. */
export const MAX_ANSWERED = 16_384;

/** What an answer takes besides its text. */
const ANSWER_OVERHEAD_BYTES = 256;

/**
 * To carry these out again changes nothing, so their answers are not kept: they would take the place of those that must be, and
 * whoever asks under one id again and again, as scripts do, would be told for ever what was true the first time.
 */
const PURE = new Set([
  'exec.list',
  'exec.read',
  'exec.wait',
  'fs.glob',
  'fs.list',
  'fs.read',
  'fs.search',
  'fs.stat',
  'session.info',
]);

export interface AskedCall {
  readonly id: JsonRpcId;
  readonly method: string;
  readonly params: JsonRpcParams | undefined;
  /** Aborts when the client calls it off, and when its connection ends: only the former is heeded. */
  readonly signal: AbortSignal;
}

interface Kept {
  readonly print: string;
  readonly bytes: number;
  /** Gives the result, or throws the error. */
  readonly answer: () => RawJson;
}

interface Running {
  readonly print: string;
  readonly answer: Promise<RawJson>;
  readonly cancel: (reason: Error) => void;
}

export interface AnswerCaps {
  readonly bytes?: number;
  readonly answers?: number;
  readonly answered?: number;
}

export class KeptAnswers {
  readonly #caps: Required<AnswerCaps>;
  readonly #running = new Map<string, Running>();
  readonly #kept = new Map<string, Kept>();
  /** Carried out, but the answer is gone: by its id, what was asked. */
  readonly #answered = new Map<string, string>();
  #bytes = 0;

  constructor(caps: AnswerCaps = {}) {
    this.#caps = {
      bytes: caps.bytes ?? MAX_ANSWERS_BYTES,
      answers: caps.answers ?? MAX_ANSWERS,
      answered: caps.answered ?? MAX_ANSWERED,
    };
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#kept.size;
  }

  /**
   * The answer of the request with this id: what was kept of it, what the one that runs will give, or what `run` gives. An
   * id that stands for something else by now is a new request: JSON-RPC allows to use them again.
   */
  once(call: AskedCall, run: (signal: AbortSignal) => unknown): RawJson | Promise<RawJson> {
    const key = keyOf(call.id);
    const print = fingerprint(call);
    const running = this.#running.get(key);
    if (running?.print === print) {
      const stop = followCancel(call.signal, running.cancel);
      return running.answer.finally(stop);
    }
    const kept = this.#kept.get(key);
    if (kept?.print === print) return kept.answer();
    if (this.#answered.get(key) === print) throw answerGone(call.method);
    this.#forget(key);
    return this.#run(key, print, call, run);
  }

  /** The client has these. */
  ack(ids: readonly JsonRpcId[]): void {
    for (const id of ids) this.#forget(keyOf(id));
  }

  /** The session is over: what still runs is called off. */
  stop(reason: Error): void {
    for (const { cancel } of this.#running.values()) cancel(reason);
    this.#kept.clear();
    this.#answered.clear();
    this.#bytes = 0;
  }

  #run(
    key: string,
    print: string,
    call: AskedCall,
    run: (signal: AbortSignal) => unknown,
  ): RawJson | Promise<RawJson> {
    const { method } = call;
    const abort = newAbort();
    let result: unknown;
    try {
      result = run(abort.signal);
    } catch (thrown) {
      this.#keepError(key, print, method, thrown);
      throw thrown;
    }
    if (!(result instanceof Promise)) return this.#keep(key, print, method, result);
    const cancel = (reason: Error): void => abort.abort(reason);
    const stop = followCancel(call.signal, cancel);
    const answer = this.#settle(key, print, method, result).finally(stop);
    this.#running.set(key, { print, answer, cancel });
    return answer;
  }

  async #settle(key: string, print: string, method: string, work: Promise<unknown>): Promise<RawJson> {
    try {
      return this.#keep(key, print, method, await work);
    } catch (thrown) {
      this.#keepError(key, print, method, thrown);
      throw thrown;
    } finally {
      if (this.#running.get(key)?.print === print) this.#running.delete(key);
    }
  }

  /** As text from here on: it is put into JSON once, whoever is answered. */
  #keep(key: string, print: string, method: string, result: unknown): RawJson {
    const json = result instanceof RawJson ? result.whole() : new RawJson(JSON.stringify(result ?? null));
    if (!PURE.has(method))
      this.#add(key, { print, bytes: json.json.length + ANSWER_OVERHEAD_BYTES, answer: () => json });
    return json;
  }

  #keepError(key: string, print: string, method: string, thrown: unknown): void {
    if (PURE.has(method)) return;
    const answer = (): RawJson => {
      throw thrown;
    };
    const data = thrown instanceof RpcError ? (JSON.stringify(thrown.data) as string | undefined) : undefined;
    this.#add(key, { print, bytes: (data?.length ?? 0) + ANSWER_OVERHEAD_BYTES, answer });
  }

  #add(key: string, kept: Kept): void {
    this.#forget(key);
    this.#kept.set(key, kept);
    this.#bytes += kept.bytes;
    for (const [oldest, { print }] of this.#kept) {
      if (this.#bytes <= this.#caps.bytes && this.#kept.size <= this.#caps.answers) break;
      this.#forget(oldest);
      this.#answered.set(oldest, print);
    }
    for (const oldest of this.#answered.keys()) {
      if (this.#answered.size <= this.#caps.answered) break;
      this.#answered.delete(oldest);
    }
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept !== undefined) this.#bytes -= kept.bytes;
    this.#kept.delete(key);
    this.#answered.delete(key);
  }
}

/** `1` and `"1"` are two ids. */
function keyOf(id: JsonRpcId): string {
  return `${typeof id}:${String(id)}`;
}

function fingerprint({ method, params }: AskedCall): string {
  return createHash('sha256')
    .update(method)
    .update(JSON.stringify(params ?? null))
    .digest('base64');
}

/** A connection that ends calls nothing off. */
function followCancel(signal: AbortSignal, cancel: (reason: Error) => void): () => void {
  const follow = (): void => {
    const reason: unknown = signal.reason;
    if (reason instanceof RpcError && reason.code === REQUEST_CANCELLED) cancel(reason);
  };
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  return () => signal.removeEventListener('abort', follow);
}

function answerGone(method: string): Error {
  const message = 'The request was carried out, but its answer is no longer kept';
  return rexdError('resource_limit', message, { limit: 'kept_answers', method });
}
