// StringClient wherever there is fetch: a browser, or any other runtime. It finds a daemon that runs; it starts none.

import { newAbort } from '../../base/abort.js';
import { MAX_TIMER_MS, TimeoutError, withSignal } from '../../base/deadline.js';
import type { AgentInfo, EventCounts, ExecHead, SessionInfo, StreamedEvent } from '../../string/protocol.js';
import { DEFAULT_AGENT, DEFAULT_PORT } from '../../wire/stringd-defaults.js';
import { DaemonUnreachableError, NotStringdError } from './errors.js';
import { cancelCommand, runCommand } from './exec.js';
import type { ExecResult } from './exec-result.js';
import { type Fetch, HttpDaemon } from './http-daemon.js';
import { timeLimit } from './time-limit.js';
import { acknowledge, followEvents, type WatchOptions } from './watch-events.js';

export type { EventCounts } from '../../string/protocol.js';
export { DEFAULT_AGENT, DEFAULT_PORT } from '../../wire/stringd-defaults.js';
export { DaemonUnreachableError, NotStringdError, StringdError } from './errors.js';
export {
  type ExecResult,
  QUEUE_FULL,
  QUEUE_TIMEOUT,
  STREAM_INCOMPLETE,
  stripContentPrefix,
} from './exec-result.js';

/** How long a daemon may take to say that it is there. */
export const PING_TIMEOUT_MS = 2000;
/** And when it has not: until it is said that nobody will. */
export const REACH_TIMEOUT_MS = 3000;

export interface StringClientOptions {
  /** On 127.0.0.1; 3923 unless said otherwise. */
  readonly port?: number;
  /** Instead of the port: the whole of `http://127.0.0.1:3923`. */
  readonly url?: string;
  /** Who commands are executed as; `default` unless said otherwise. */
  readonly agentId?: string;
  /** Sent when the agent is registered, if given: where it is at home, and which other folders it may use. */
  readonly home?: string;
  readonly allowedPaths?: readonly string[];
  /** Instead of the runtime's own. */
  readonly fetch?: Fetch;
}

export interface ExecOptions {
  /** To call it off by `cancel`, and to know it again; one is made up when there is none. */
  readonly requestId?: string;
  /** Calls the command off; `exec` rejects with its reason once the daemon has been told. */
  readonly signal?: AbortSignal;
  /** Calls the command off and rejects with a TimeoutError. A daemon's start counts, and the wait for a turn. */
  readonly timeoutMs?: number;
}

export type ExecEvent =
  | { readonly type: 'chunk'; readonly text: string }
  | { readonly type: 'result'; readonly result: ExecResult };

export interface Health {
  readonly ok: true;
  readonly agents: number;
  readonly sessions: number;
  readonly version?: string;
  /** Of the daemon, when it says so. */
  readonly pid?: number;
}

export interface RegisteredAgent {
  readonly agent_id: string;
  readonly home: string;
  readonly created: boolean;
}

export interface WatchEventsOptions extends WatchOptions {
  /** Acknowledges each event once the handler is done with it. */
  readonly autoAck?: boolean;
}

export interface EventWatch extends AsyncDisposable {
  /** Settles when the watch is over; rejects with what ended it, a handler that threw included. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export class StringClient {
  readonly agentId: string;
  protected readonly daemon: HttpDaemon;
  readonly #options: StringClientOptions;
  #ready: Promise<void> | undefined;

  constructor(options: StringClientOptions = {}) {
    this.#options = options;
    this.agentId = options.agentId ?? DEFAULT_AGENT;
    this.daemon = new HttpDaemon(
      options.url ?? `http://127.0.0.1:${options.port ?? DEFAULT_PORT}`,
      options.fetch,
    );
  }

  get url(): string {
    return this.daemon.url;
  }

  /** Whether a stringd answers. Never rejects. */
  async ping(timeoutMs: number = PING_TIMEOUT_MS): Promise<boolean> {
    try {
      return (await this.health({ timeoutMs })).ok;
    } catch {
      return false;
    }
  }

  async health(options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<Health> {
    const said = await this.daemon.ask<Partial<Health> | null>({ method: 'GET', path: '/health' }, options);
    const { ok, agents, sessions } = said ?? {};
    // Many a program answers /health with ok, and would be given commands with secrets in them.
    if (ok !== true || typeof agents !== 'number' || typeof sessions !== 'number')
      throw new NotStringdError(this.url, 'its /health says something else');
    return { ...said, ok, agents, sessions };
  }

  /**
   * Makes sure that the daemon is there and knows our agent. Every command and every watch asks for it first; once it has
   * gone well it costs nothing.
   */
  ready(): Promise<void> {
    if (this.#ready === undefined) {
      const attempt = this.#prepare();
      this.#ready = attempt;
      attempt.catch(() => this.#forget(attempt)); // the next one tries again
    }
    return this.#ready;
  }

  /** Registers our agent, or updates what is given of it. Once more is no harm. */
  async ensureAgent(
    fields: { home?: string; allowedPaths?: readonly string[] } = {},
    options: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<RegisteredAgent> {
    const { home, allowedPaths } = fields;
    const json = {
      agent_id: this.agentId,
      ...(home !== undefined && { home }),
      ...(allowedPaths !== undefined && { allowed_paths: allowedPaths }),
    };
    return await this.daemon.ask<RegisteredAgent>({ method: 'POST', path: '/agents', json }, options);
  }

  async listAgents(): Promise<AgentInfo[]> {
    return (await this.daemon.ask<{ agents: AgentInfo[] }>({ method: 'GET', path: '/agents' })).agents;
  }

  /** Its topics, shells and streams end; its files stay. False when there was no such agent. */
  async deleteAgent(id: string = this.agentId): Promise<boolean> {
    const path = `/agents/${encodeURIComponent(id)}`;
    const { deleted } = await this.daemon.ask<{ deleted: boolean }>({ method: 'DELETE', path });
    if (id === this.agentId) this.#ready = undefined;
    return deleted;
  }

  /**
   * Executes one command. What it came to is in the result, also when it failed, when its turn did not come (QUEUE_FULL,
   * QUEUE_TIMEOUT: it has not run), and when the answer broke off (STREAM_INCOMPLETE: nobody knows). It is never sent twice.
   */
  async exec(topic: string, cmd: string, options: ExecOptions = {}): Promise<ExecResult> {
    const running = this.#run(topic, cmd, options, false);
    for (;;) {
      const step = await running.next();
      if (step.done === true) return step.value;
    }
  }

  /** The output of a command while it runs, then what it came to. Leaving the loop calls the command off. */
  async *execStream(
    topic: string,
    cmd: string,
    options: ExecOptions = {},
  ): AsyncGenerator<ExecEvent, void, undefined> {
    const running = this.#run(topic, cmd, options, true);
    try {
      for (;;) {
        const step = await running.next();
        if (step.done === true) {
          yield { type: 'result', result: step.value };
          return;
        }
        yield { type: 'chunk', text: step.value };
      }
    } finally {
      await running.return(undefined as never);
    }
  }

  /** Calls a command off that waits or runs: it ends with the code CANCELLED. False when there is none of this id. */
  async cancel(requestId: string): Promise<boolean> {
    return await cancelCommand(this.daemon, this.agentId, requestId);
  }

  /** The events of our agent, for as long as the loop goes on: connects again by itself, gives each event once. */
  async *events(options: WatchOptions = {}): AsyncGenerator<StreamedEvent, void, undefined> {
    const { signal } = options;
    try {
      await waitFor(this.ready(), signal);
    } catch (thrown) {
      if (signal?.aborted === true) return;
      throw thrown;
    }
    yield* followEvents(this.daemon, this.agentId, { ...this.watchDefaults(), ...options });
  }

  /** The same with a handler; the next event waits until it is done with the last. */
  watchEvents(
    onEvent: (event: StreamedEvent) => void | Promise<void>,
    options: WatchEventsOptions = {},
  ): EventWatch {
    const ending = newAbort();
    const { signal } = options;
    const stop = (): void => ending.abort();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    const watch = async (): Promise<void> => {
      try {
        const watching = { ...options, signal: ending.signal };
        for await (const event of this.events(watching)) {
          await onEvent(event);
          if (options.autoAck === true) await acknowledge(this.daemon, this.agentId, event.id, watching);
        }
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    };
    const closed = watch();
    closed.catch(() => {}); // told to whoever asks
    const close = async (): Promise<void> => {
      stop();
      await closed.catch(() => {});
    };
    return { closed, close, [Symbol.asyncDispose]: close };
  }

  async countEvents(): Promise<EventCounts> {
    return await this.#askAs<EventCounts>('GET', '/events/count');
  }

  /** Rejects with a StringdError (404) for an event that our agent does not have. */
  async ackEvent(id: string): Promise<void> {
    await this.#askAs('POST', `/events/${encodeURIComponent(id)}/ack`);
  }

  /** The address to which whoever knows it may post texts for our agent. */
  async webhookUrl(): Promise<string> {
    return await this.#webhook('GET');
  }

  /** A new address; the old one is dead at once. */
  async rotateWebhook(): Promise<string> {
    return await this.#webhook('POST');
  }

  /** All of our agent's open topics, or of every agent's. */
  async listSessions(options: { allAgents?: boolean } = {}): Promise<SessionInfo[]> {
    const query = options.allAgents === true ? '' : `?agent_id=${encodeURIComponent(this.agentId)}`;
    const path = `/sessions${query}`;
    return (await this.daemon.ask<{ sessions: SessionInfo[] }>({ method: 'GET', path })).sessions;
  }

  /** Opens a topic without executing anything in it. */
  async openSession(
    topic: string,
  ): Promise<{ topic: string; topic_type: ExecHead['topic_type']; created: boolean }> {
    const json = { agent_id: this.agentId, topic };
    return await this.#whenReady(() => this.daemon.ask({ method: 'POST', path: '/sessions', json }));
  }

  /** With its shell. False when it was not open. */
  async closeSession(topic: string): Promise<boolean> {
    const path = `/sessions/${encodeURIComponent(this.agentId)}/${encodeURIComponent(topic)}`;
    return (await this.daemon.ask<{ deleted: boolean }>({ method: 'DELETE', path })).deleted;
  }

  /** Text with ChanFlow blocks in, the blocks that answer them out. */
  async chanflow(text: string, options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<string> {
    const question = { method: 'POST', path: '/chanflow', agentId: this.agentId, text } as const;
    return await this.#whenReady(() => this.daemon.askText(question, options), options.signal);
  }

  /** The daemon ends after it has answered. */
  async shutdown(): Promise<void> {
    await this.daemon.ask({ method: 'POST', path: '/shutdown' });
    this.#ready = undefined;
  }

  /** Called when nobody answered our ping. Here all that can be done is to say so. */
  protected async reach(): Promise<void> {
    try {
      await this.health({ timeoutMs: REACH_TIMEOUT_MS }); // in its own words
    } catch (thrown) {
      if (!(thrown instanceof TimeoutError)) throw thrown;
      throw new NotStringdError(this.daemon.url, `nothing was said for ${REACH_TIMEOUT_MS / 1000} s`);
    }
  }

  protected watchDefaults(): WatchOptions {
    return { lastEventIdIn: 'query' };
  }

  async #prepare(): Promise<void> {
    if (!(await this.ping())) await this.reach();
    const { home, allowedPaths } = this.#options;
    await this.ensureAgent({
      ...(home !== undefined && { home }),
      ...(allowedPaths !== undefined && { allowedPaths }),
    });
  }

  async *#run(
    topic: string,
    cmd: string,
    options: ExecOptions,
    isStreamed: boolean,
  ): AsyncGenerator<string, ExecResult, undefined> {
    const { timeoutMs } = options;
    const startedMs = performance.now();
    const leftMs = (): number | undefined =>
      timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - startedMs);
    for (let isLast = false; ; isLast = true) {
      const ready = this.ready();
      await waitFor(ready, options.signal, leftMs());
      try {
        return yield* runCommand(this.daemon, {
          ...options,
          agentId: this.agentId,
          topic,
          cmd,
          isStreamed,
          timeoutMs: leftMs(),
        });
      } catch (thrown) {
        if (!this.#hasMissed(thrown, ready) || isLast) throw thrown;
      }
    }
  }

  async #whenReady<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let isLast = false; ; isLast = true) {
      const ready = this.ready();
      await waitFor(ready, signal);
      try {
        return await ask();
      } catch (thrown) {
        if (!this.#hasMissed(thrown, ready) || isLast) throw thrown;
      }
    }
  }

  /**
   * The daemon was there, and is not any more: it is looked for again before the next question. True when this one cannot
   * have reached anybody; only then may it be asked after all, once.
   */
  #hasMissed(thrown: unknown, ready: Promise<void>): boolean {
    if (!(thrown instanceof DaemonUnreachableError)) return false;
    this.#forget(ready);
    return thrown.wasSent === false;
  }

  #forget(attempt: Promise<void>): void {
    if (this.#ready === attempt) this.#ready = undefined;
  }

  async #askAs<T>(method: 'GET' | 'POST', path: string): Promise<T> {
    return await this.#whenReady(() => this.daemon.ask<T>({ method, path, agentId: this.agentId }));
  }

  async #webhook(method: 'GET' | 'POST'): Promise<string> {
    const path = `/agents/${encodeURIComponent(this.agentId)}/webhook`;
    const ask = () => this.daemon.ask<{ webhook_url: string }>({ method, path });
    return (await this.#whenReady(ask)).webhook_url;
  }
}

/** A daemon that is being started is not waited for by who has no time, or has lost interest. */
async function waitFor(ready: Promise<void>, signal?: AbortSignal, timeoutMs?: number): Promise<void> {
  if (timeoutMs === undefined && signal === undefined) return await ready;
  const limit = timeLimit(timeoutMs ?? MAX_TIMER_MS, signal === undefined ? {} : { also: [signal] });
  try {
    await withSignal(ready, limit.signal);
  } finally {
    limit.end();
  }
}
