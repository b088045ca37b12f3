// The REXD server: connections in, answers out. What a connection opened ends with it, unless it was opened to be resumed.

import { deadline, withSignal } from '../base/deadline.js';
import { LocalError, toError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { Resource } from '../base/resource.js';
import type { AuditLog } from '../guard/audit.js';
import type { CallHandler } from '../wire/jsonrpc/call-server.js';
import { RpcPeer } from '../wire/jsonrpc/peer.js';
import { type CallReport, Router } from '../wire/jsonrpc/router.js';
import { deflateLink } from '../wire/transport/deflate-link.js';
import type { Link } from '../wire/transport/link.js';
import { type AnsweredCall, answerOnce } from './answer-once.js';
import { auditCall } from './audit-calls.js';
import { Compression } from './compression.js';
import type { CallContext, ServerFacts } from './context.js';
import type { EventSink } from './exec/output-stream.js';
import { type HeldSessions, type HoldOptions, holdSessions } from './held-sessions.js';
import { openSession } from './methods/session-open.js';
import { SESSION_OPEN } from './protocol/open-bounds.js';
import { openPlainly } from './protocol/open-plainly.js';
import type { SessionOpen } from './protocol/session-open.js';
import { LongAnswers } from './long-answers.js';
import type { Outlet } from './resume/journal.js';
import { WaitingSessions } from './resume/waiting-sessions.js';
import { type Session, type SessionFacts, SessionPlaces, Sessions } from './sessions.js';

/** After the end of its input a client has this long to take what it is owed; then again while it takes nothing. */
export const LAST_ANSWERS_MS = 5000;
/** When the server is told to end: how long a client may take to hear how its programs ended. More than their grace. */
export const LAST_EVENTS_MS = 3000;

/** fs.read and exec.read of one client that are made at the same time; the others wait their turn. */
export const MAX_READS_AT_ONCE = 8;
/** fs.list, fs.glob and fs.search of one client that run at the same time. */
export const MAX_WALKS_AT_ONCE = 8;

export interface RexdServerOptions {
  readonly facts: ServerFacts;
  readonly log: Log;
  /** Absent when nothing is to be audited. */
  readonly audit?: AuditLog;
  /** Told of every call when it is over, as the audit log is. */
  readonly onCall?: (report: CallReport<CallContext>) => void;
}

/** What is going on in a server right now. */
export interface ServerLoad {
  readonly sessions: number;
  readonly processes: number;
}

type ConnectionContext = Pick<CallContext, 'sessions' | 'reads' | 'walks' | 'compression'>;

export class RexdServer extends Resource {
  readonly #facts: ServerFacts;
  readonly #log: Log;
  readonly #router: Router<CallContext>;
  readonly #places: SessionPlaces;
  readonly #connections = new Map<RpcPeer, Sessions>();
  readonly #held = new Set<HeldSessions>();
  readonly #waiting: WaitingSessions;
  #waitingForQuiet: (() => void)[] = [];

  constructor(options: RexdServerOptions) {
    super();
    this.#facts = options.facts;
    this.#log = options.log;
    this.#places = new SessionPlaces(options.facts.limits.get('max_concurrent_sessions'));
    this.#waiting = new WaitingSessions({
      places: this.#places,
      end: (sessions, session) => this.#endSession(sessions, session),
      onLeft: () => this.#tellQuiet(),
    });
    const onCall = reporter(options);
    this.#router = new Router<CallContext>({ log: options.log, ...(onCall !== undefined && { onCall }) })
      .early<typeof SessionOpen>(SESSION_OPEN, openPlainly, openSession)
      .family('session.', async () => (await import('./families/session.js')).addSessionMethods)
      .family('exec.', async () => (await import('./families/exec.js')).addExecMethods)
      .family('fs.', async () => (await import('./families/fs.js')).addFsMethods)
      .family('pty.', async () => (await import('./families/pty.js')).addPtyMethods);
  }

  /**
   * Serves one client until either side ends the connection, and says why if it broke. Its sessions are gone then too, but
   * for those that can be resumed: they wait for a while, see `quiet`. `opened` is a session that it has been granted already.
   */
  async serve(link: Link, opened?: SessionFacts): Promise<Error | undefined> {
    const wire = deflateLink(link);
    const compression = link.linesOnly === true ? undefined : new Compression(wire);
    const call: CallHandler = (incoming) => this.#call(incoming, { sessions, reads, walks, compression });
    const peer = new RpcPeer(wire.link, {
      onRequest: call,
      // Nobody would learn the id of a session that is opened without an answer; it would only hold a place.
      onNotification: (incoming) => (incoming.method === SESSION_OPEN ? undefined : call(incoming)),
      refuseBlankLines: true,
      drainMs: LAST_ANSWERS_MS,
      log: this.#log,
    });
    const sessions = new Sessions(this.#places, {
      sink: eventSink(peer),
      outlet: outletOf(peer),
      onTaken: () => closeIfEmpty(peer, sessions),
    });
    if (opened !== undefined) sessions.open(opened);
    const reads = longAnswers(peer, MAX_READS_AT_ONCE);
    const walks = longAnswers(peer, MAX_WALKS_AT_ONCE);
    // A client that sends nothing more is gone: what it started ends now, not when the last answer has been taken.
    void peer.inputEnded.then(() => this.#quietly(() => sessions.endPlain()));
    this.#connections.set(peer, sessions);
    const lost = await peer.closed;
    this.#connections.delete(peer);
    if (!this.closing) for (const session of sessions.resumable()) this.#keepWaiting(sessions, session);
    await this.#quietly(() => sessions.close());
    this.#tellQuiet();
    if (lost !== undefined) this.#log.warn('connection lost', { link: link.name, reason: lost.message });
    return lost;
  }

  /** Sessions of no connection, for clients that send each request by itself. They end when nobody asks for long. */
  hold(options: HoldOptions): HeldSessions {
    const held = holdSessions(options, {
      places: this.#places,
      call: (incoming, sessions) => {
        const answers = { isCongested: () => false, drained: () => Promise.resolve() };
        reads ??= new LongAnswers({ maxAtOnce: MAX_READS_AT_ONCE, ...answers });
        walks ??= new LongAnswers({ maxAtOnce: MAX_WALKS_AT_ONCE, ...answers });
        return this.#call(incoming, { sessions, reads, walks });
      },
      end: (sessions, session) => this.#endSession(sessions, session),
    });
    let reads: LongAnswers | undefined;
    let walks: LongAnswers | undefined;
    this.#held.add(held);
    held.signal.addEventListener('abort', () => this.#held.delete(held), { once: true });
    return held;
  }

  load(): ServerLoad {
    return this.#places.load();
  }

  /** Whether there are sessions that would outlive their connection, or wait already. */
  get hasResumable(): boolean {
    return this.#waiting.size > 0 || [...this.#connections.values()].some((one) => one.hasResumable);
  }

  /** Gives all connections up as lost. Sessions that can be resumed wait, the others end. */
  disconnect(): void {
    for (const peer of this.#connections.keys())
      void peer.close(new LocalError('hung_up', 'the connection was hung up'));
  }

  /** Resolves when nobody is connected and no session waits for its client to come back. */
  async quiet(): Promise<void> {
    while (this.#connections.size > 0 || this.#waiting.size > 0)
      await new Promise<void>((resolve) => this.#waitingForQuiet.push(resolve));
  }

  protected override async release(reason: Error): Promise<void> {
    await Promise.all([
      this.#quietly(() => this.#waiting.close()),
      ...[...this.#held].map((held) => this.#quietly(() => held.close(reason))),
      ...[...this.#connections].map(async ([peer, sessions]) => {
        // Its programs first, so that the client hears of their end. One that does not listen keeps nobody waiting.
        using limit = deadline(LAST_EVENTS_MS);
        await withSignal(
          this.#quietly(() => sessions.close()),
          limit.signal,
        ).catch(() => {});
        await peer.close(reason);
      }),
    ]);
  }

  #call(incoming: AnsweredCall, rest: ConnectionContext): unknown {
    const { sessions, reads, walks, compression } = rest;
    const run = (own?: AbortSignal): unknown =>
      this.#router.call(incoming.method, incoming.params, {
        // Asked for by few, and made when it is.
        get signal() {
          return own ?? incoming.signal;
        },
        server: this.#facts,
        sessions,
        log: this.#log,
        reads,
        walks,
        compression,
        afterReply: (then) => incoming.afterReply(then),
      });
    return sessions.hasResumable ? answerOnce(incoming, sessions, run) : run();
  }

  #keepWaiting(sessions: Sessions, session: Session): void {
    sessions.yield(session);
    const windowMs = session.resumption?.windowMs ?? 0;
    this.#waiting.take(session, windowMs);
    this.#log.debug('a session waits for its client', { session: session.id, window_ms: windowMs });
  }

  async #endSession(sessions: Sessions, session: Session): Promise<void> {
    this.#log.debug('a session was left by its client', { session: session.id });
    await this.#quietly(() => sessions.end(session.id));
  }

  #tellQuiet(): void {
    for (const look of this.#waitingForQuiet.splice(0)) look();
  }

  /** Whoever cannot be ended (another user's program, a broken disk) is told of, and does not keep the rest from ending. */
  async #quietly(end: () => Promise<void>): Promise<void> {
    try {
      await end();
    } catch (thrown) {
      this.#log.error('not all programs could be ended', { reason: toError(thrown).message });
    }
  }
}

/** The last session of a connection has gone to another one: this one is not needed, and may be dead without knowing. */
function closeIfEmpty(peer: RpcPeer, sessions: Sessions): void {
  if (sessions.size > 0 || peer.closing) return;
  void peer.close(new LocalError('taken_over', 'the session goes on on another connection'));
}

function reporter({
  audit,
  onCall,
}: RexdServerOptions): ((report: CallReport<CallContext>) => void) | undefined {
  if (audit === undefined) return onCall;
  return (report) => {
    auditCall(audit, report);
    onCall?.(report);
  };
}

function longAnswers(peer: RpcPeer, maxAtOnce: number): LongAnswers {
  return new LongAnswers({ maxAtOnce, isCongested: () => peer.congested, drained: () => peer.drained() });
}

/** Events in order with the answers. One that cannot be queued must not just be missing: that ends the connection. */
function eventSink(peer: RpcPeer): EventSink {
  return (frame) => {
    if (peer.closing) return undefined;
    try {
      return peer.notifyFrame(frame) ? undefined : peer.drained().catch(() => {});
    } catch (thrown) {
      void peer.close(toError(thrown));
      return undefined;
    }
  };
}

/** For events that are kept until the client has them: what cannot be sent now is sent again. */
function outletOf(peer: RpcPeer): Outlet {
  return {
    send: (frame) => {
      try {
        return peer.closing || peer.notifyFrame(frame);
      } catch (thrown) {
        void peer.close(toError(thrown));
        return false;
      }
    },
    drained: () => peer.drained(),
  };
}
