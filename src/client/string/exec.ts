// One command over POST /exec: sent once and never again, its output as it comes, called off when nobody wants it any more.

import { newAbort } from '../../base/abort.js';
import { toError } from '../../base/errors.js';
import { decodeEvents } from '../../wire/sse/decode.js';
import { DaemonUnreachableError, NotStringdError, type StringdError } from './errors.js';
import { ExecAnswer, type ExecResult, notBegun } from './exec-result.js';
import { type HttpDaemon, readChunks, type Reply } from './http-daemon.js';
import { pause } from './pause.js';
import { type TimeLimit, timeLimit } from './time-limit.js';

/** How long a command is told again that it is not wanted, until the daemon knows of it. */
export const CANCEL_WAIT_MS = 2000;
/** From one telling to the next: the command itself may still be on its way. */
const CANCEL_PAUSE_MS = 50;
/** How long the end of an answer is waited for after its last event, so that the connection can be used again. */
export const DRAIN_MS = 250;

export interface ExecOrder {
  readonly agentId: string;
  readonly topic: string;
  readonly cmd: string;
  readonly requestId?: string | undefined;
  /** With the output while it runs. */
  readonly isStreamed: boolean;
  /** Calls the command off; what is thrown then is its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Throws a TimeoutError, and calls the command off. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Gives the output piece by piece, and at last the result. Throws a DaemonUnreachableError when nobody was there, and a
 * StringdError when the daemon would not have the request at all. Leaving the loop calls the command off.
 */
export async function* runCommand(
  daemon: HttpDaemon,
  order: ExecOrder,
): AsyncGenerator<string, ExecResult, undefined> {
  const call = new ExecCall(daemon, order);
  try {
    return yield* call.run();
  } finally {
    await call.end();
  }
}

class ExecCall {
  readonly #daemon: HttpDaemon;
  readonly #order: ExecOrder;
  readonly #requestId: string;
  readonly #connection = newAbort();
  readonly #wish: TimeLimit | undefined;
  readonly #answer = new ExecAnswer();
  #calledOff: Promise<void> | undefined;
  #drain: ReturnType<typeof setTimeout> | undefined;
  #isSent = false;
  #isOver = false;

  constructor(daemon: HttpDaemon, order: ExecOrder) {
    this.#daemon = daemon;
    this.#order = order;
    this.#requestId = order.requestId ?? crypto.randomUUID();
    const also = order.signal === undefined ? [] : [order.signal];
    if (order.timeoutMs !== undefined) this.#wish = timeLimit(order.timeoutMs, { also });
    this.#signal?.addEventListener('abort', this.#stop, { once: true });
  }

  async *run(): AsyncGenerator<string, ExecResult, undefined> {
    this.#signal?.throwIfAborted();
    const response = await this.#send();
    if (!('status' in response)) return response;
    try {
      for await (const { event, data } of decodeEvents(readChunks(response))) {
        if (this.#isOver) continue;
        if (event === 'chunk') yield String(JSON.parse(data));
        else if (this.#answer.take(event, data)) this.#finish();
      }
      return this.#result('the daemon ended the answer before it was complete');
    } catch (thrown) {
      return this.#result(toError(thrown).message);
    }
  }

  /** Nothing of it is left on this side, and the daemon knows when it was left. */
  async end(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#stop);
    this.#wish?.end();
    clearTimeout(this.#drain);
    if (this.#isSent && !this.#isOver) this.#stop();
    await this.#calledOff;
    this.#connection.abort();
  }

  get #signal(): AbortSignal | undefined {
    return this.#wish?.signal ?? this.#order.signal;
  }

  async #send(): Promise<Reply | ExecResult> {
    const { agentId, topic, cmd, isStreamed } = this.#order;
    this.#isSent = true;
    try {
      const response = await this.#daemon.open(
        {
          method: 'POST',
          path: isStreamed ? '/exec?stream=1' : '/exec',
          agentId,
          json: { cmd, topic, request_id: this.#requestId },
          headers: { Accept: 'text/event-stream' },
        },
        this.#connection.signal,
      );
      if (response.ok) return response;
      const refusal = await this.#daemon.refusal(response);
      this.#isOver = true;
      if (refusal instanceof NotStringdError || !isAboutTheCommand(refusal)) throw refusal;
      return notBegun(refusal.code, refusal.message);
    } catch (thrown) {
      if (!(thrown instanceof DaemonUnreachableError)) throw thrown;
      if (thrown.wasSent !== false) return this.#incomplete(thrown.message);
      this.#isOver = true;
      throw thrown;
    }
  }

  /** Nothing that comes now counts any more. */
  #finish(): void {
    this.#isOver = true;
    this.#drain = setTimeout(() => this.#connection.abort(), DRAIN_MS);
  }

  #result(why: string): ExecResult {
    return this.#isOver ? this.#answer.complete() : this.#incomplete(why);
  }

  #incomplete(why: string): ExecResult {
    this.#connection.signal.throwIfAborted(); // we have cut it ourselves
    this.#isOver = true;
    return this.#answer.incomplete(why);
  }

  readonly #stop = (): void => {
    this.#calledOff ??= this.#callOff();
  };

  async #callOff(): Promise<void> {
    const reason: unknown = this.#signal?.reason;
    const limit = timeLimit(CANCEL_WAIT_MS);
    try {
      while (!this.#isOver && !(await this.#cancel(limit.signal))) await pause(CANCEL_PAUSE_MS, limit.signal);
    } catch {
      // Told for long enough, or nobody is there to be told.
    } finally {
      limit.end();
      this.#connection.abort(reason);
    }
  }

  async #cancel(signal: AbortSignal): Promise<boolean> {
    return await cancelCommand(this.#daemon, this.#order.agentId, this.#requestId, signal);
  }
}

/** False when no command of this id waits or runs. */
export async function cancelCommand(
  daemon: HttpDaemon,
  agentId: string,
  requestId: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const path = `/exec/${encodeURIComponent(requestId)}`;
  const { cancelled } = await daemon.ask<{ cancelled: boolean }>(
    { method: 'DELETE', path, agentId },
    signal === undefined ? {} : { signal },
  );
  return cancelled;
}

/** It names a code: the request was right, and the command could not be begun now. */
function isAboutTheCommand({ status, code }: StringdError): boolean {
  return code !== `HTTP_${status}`;
}
