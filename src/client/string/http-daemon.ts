// One stringd by its address: requests to it, and what it answers, within caps. Nothing here is of Node alone.

import { toError } from '../../base/errors.js';
import { DaemonUnreachableError, NotStringdError, StringdError } from './errors.js';
import { timeLimit } from './time-limit.js';

/** A question that is answered at once, if at all. */
export const ASK_TIMEOUT_MS = 30_000;
/** Of an answer that is JSON: the longest list there is has a row for each topic of each agent. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** As much of a Response as is looked at, so that something lighter than the runtime's own can take its place. */
export interface Reply {
  readonly ok: boolean;
  readonly status: number;
  readonly body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Reply>;

export interface Question {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly agentId?: string;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class HttpDaemon {
  readonly url: string;
  readonly #fetch: Fetch;

  constructor(url: string, fetch: Fetch = (address, init) => globalThis.fetch(address, init)) {
    this.url = url.replace(/\/+$/, '');
    this.#fetch = fetch;
  }

  /** The answer as JSON. Rejects with a StringdError when it is an error. */
  async ask<T>(question: Question, options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<T> {
    const text = await this.askText(question, options);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new NotStringdError(this.url, `${question.method} ${question.path} gave no JSON`);
    }
  }

  async askText(
    question: Question,
    options: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<string> {
    const { signal, timeoutMs = ASK_TIMEOUT_MS } = options;
    const limit = timeLimit(timeoutMs, signal === undefined ? {} : { also: [signal] });
    try {
      const response = await this.open(question, limit.signal);
      if (!response.ok) throw await this.refusal(response);
      return await this.#read(response, limit.signal);
    } finally {
      limit.end();
    }
  }

  /** As soon as the status is known; the body is the caller's to read. Rejects with a DaemonUnreachableError. */
  async open(question: Question, signal: AbortSignal): Promise<Reply> {
    const { method, path, agentId, json, text } = question;
    const headers: Record<string, string> = { ...question.headers };
    if (agentId !== undefined) headers['X-Agent-Id'] = agentId;
    if (json !== undefined) headers['Content-Type'] = 'application/json';
    if (text !== undefined) headers['Content-Type'] = 'text/plain; charset=utf-8';
    const body = json === undefined ? text : JSON.stringify(json);
    try {
      return await this.#fetch(`${this.url}${path}`, {
        method,
        headers,
        redirect: 'error', // no stringd does, and what we send is for none but one
        signal,
        ...(body !== undefined && { body }),
      });
    } catch (thrown) {
      signal.throwIfAborted();
      throw new DaemonUnreachableError(this.url, thrown);
    }
  }

  /** What an answer that is an error says. Every stringd says it as JSON. */
  async refusal(response: Reply): Promise<StringdError | NotStringdError> {
    const { status } = response;
    let text: string;
    try {
      text = await this.#read(response);
    } catch (thrown) {
      return new StringdError(status, `HTTP_${status}`, toError(thrown).message);
    }
    const body = parseObject(text);
    const error = typeof body?.['error'] === 'string' ? body['error'] : undefined;
    const message = typeof body?.['message'] === 'string' ? body['message'] : undefined;
    if (error === undefined) return new NotStringdError(this.url, `status ${status} without a word of JSON`);
    return message === undefined
      ? new StringdError(status, `HTTP_${status}`, error)
      : new StringdError(status, error, message);
  }

  async #read(response: Reply, signal?: AbortSignal): Promise<string> {
    const utf8 = new TextDecoder();
    let text = '';
    let bytes = 0;
    try {
      for await (const chunk of readChunks(response)) {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES)
          throw new NotStringdError(this.url, `an answer of more than ${MAX_ANSWER_BYTES} bytes`);
        text += utf8.decode(chunk, { stream: true });
      }
    } catch (thrown) {
      if (thrown instanceof NotStringdError) throw thrown;
      signal?.throwIfAborted();
      throw new DaemonUnreachableError(this.url, thrown);
    }
    return text + utf8.decode();
  }
}

/** The body piece by piece: not every browser can iterate over one. Leaving the loop lets go of the connection. */
export async function* readChunks({ body }: Reply): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  if (!('getReader' in body)) {
    yield* body;
    return;
  }
  const reader = body.getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
