// Sessions of no connection: their client sends each request by itself, as over plain HTTP. Whoever does not ask for
// long is gone.

import { newAbort } from '../base/abort.js';
import { Resource } from '../base/resource.js';
import type { JsonRpcId, JsonRpcParams } from '../wire/jsonrpc/message.js';
import { type AnsweredCall, sessionIdOf } from './answer-once.js';
import { type Session, type SessionPlaces, Sessions } from './sessions.js';

export interface HoldOptions {
  /** A session that nobody has asked for that long, and that no request is waiting in, ends. */
  readonly idleMs: number;
}

export interface HeldCall {
  readonly method: string;
  readonly params: JsonRpcParams | undefined;
  /** Undefined for a notification. */
  readonly id: JsonRpcId | undefined;
  /** Aborts when the request's client goes away; of a resumable session it calls nothing off. */
  readonly signal?: AbortSignal;
}

/**
 * Events of a session that was opened with `resumable` are asked for by session.events. Those of any other are not kept:
 * exec.read and exec.wait tell the same.
 */
export interface HeldSessions extends Resource {
  /** The sessions there are. */
  readonly size: number;
  /** No session is there, and no request that may open one is under way. */
  readonly idle: boolean;
  /** The result, to be put into JSON by `encodeResult` (it may be RawJson); throws what `toWireError` makes an error of. */
  call(call: HeldCall): Promise<unknown>;
}

interface Server {
  readonly places: SessionPlaces;
  readonly call: (call: AnsweredCall, sessions: Sessions) => unknown;
  readonly end: (sessions: Sessions, session: Session) => Promise<void>;
}

export function holdSessions(options: HoldOptions, server: Server): HeldSessions {
  return new Held(options, server);
}

class Held extends Resource implements HeldSessions {
  readonly #idleMs: number;
  readonly #server: Server;
  readonly #sessions: Sessions;
  /** Requests under way, by session. */
  readonly #busy = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #underWay = 0;

  constructor({ idleMs }: HoldOptions, server: Server) {
    super();
    this.#idleMs = idleMs;
    this.#server = server;
    this.#sessions = new Sessions(server.places, { onTaken: ({ id }) => this.#forget(id) });
  }

  get size(): number {
    return this.#sessions.size;
  }

  get idle(): boolean {
    return this.size === 0 && this.#underWay === 0;
  }

  async call({ id, method, params, signal = newAbort().signal }: HeldCall): Promise<unknown> {
    const after: (() => void)[] = [];
    const afterReply = (then: () => void): void => void after.push(then);
    const named = sessionIdOf(params);
    this.#underWay += 1;
    if (named !== undefined) this.#begin(named);
    try {
      const result = await this.#server.call({ id, method, params, signal, afterReply }, this.#sessions);
      this.#watch(result);
      return result;
    } finally {
      this.#underWay -= 1;
      if (named !== undefined) this.#finish(named);
      // What a client is told by the answer, it should have before it can ask for more: the events that follow wait in
      // the journal either way.
      setImmediate(() => {
        for (const then of after) then();
      });
    }
  }

  protected override async release(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await this.#sessions.close();
  }

  /** A session that was just opened, or resumed here. */
  #watch(result: unknown): void {
    const id = sessionIdOf(result);
    if (id !== undefined && !this.#busy.has(id)) this.#restart(id);
  }

  #begin(id: string): void {
    this.#busy.set(id, (this.#busy.get(id) ?? 0) + 1);
    clearTimeout(this.#timers.get(id));
  }

  #finish(id: string): void {
    const left = (this.#busy.get(id) ?? 1) - 1;
    if (left > 0) {
      this.#busy.set(id, left);
      return;
    }
    this.#busy.delete(id);
    this.#restart(id);
  }

  #restart(id: string): void {
    clearTimeout(this.#timers.get(id));
    if (this.closing || this.#sessions.find(id) === undefined) {
      this.#timers.delete(id);
      return;
    }
    this.#timers.set(
      id,
      setTimeout(() => void this.#expire(id), this.#idleMs),
    );
  }

  async #expire(id: string): Promise<void> {
    this.#timers.delete(id);
    const session = this.#sessions.find(id);
    if (session !== undefined) await this.#server.end(this.#sessions, session);
  }

  #forget(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}
