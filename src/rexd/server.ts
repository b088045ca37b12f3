// The REXD server: connections in, answers out. What a connection opened ends with it.

import { deadline, withSignal } from '../base/deadline.js';
import { toError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { Resource } from '../base/resource.js';
import type { AuditLog } from '../guard/audit.js';
import type { CallHandler } from '../wire/jsonrpc/call-server.js';
import { RpcPeer } from '../wire/jsonrpc/peer.js';
import { Router } from '../wire/jsonrpc/router.js';
import type { Link } from '../wire/transport/link.js';
import { auditCall } from './audit-calls.js';
import type { CallContext, ServerFacts } from './context.js';
import type { EventSink } from './exec/output-stream.js';
import { openSession } from './methods/session-open.js';
import { SessionOpen } from './protocol/session-open.js';
import { LongAnswers } from './long-answers.js';
import { SessionPlaces, Sessions } from './sessions.js';

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
}

export class RexdServer extends Resource {
  readonly #facts: ServerFacts;
  readonly #log: Log;
  readonly #router: Router<CallContext>;
  readonly #places: SessionPlaces;
  readonly #connections = new Map<RpcPeer, Sessions>();

  constructor(options: RexdServerOptions) {
    super();
    this.#facts = options.facts;
    this.#log = options.log;
    this.#places = new SessionPlaces(options.facts.limits.get('max_concurrent_sessions'));
    const { audit } = options;
    this.#router = new Router<CallContext>({
      log: options.log,
      ...(audit !== undefined && { onCall: (report) => auditCall(audit, report) }),
    })
      .method(SessionOpen, openSession)
      .family('session.', async () => (await import('./families/session.js')).addSessionMethods)
      .family('exec.', async () => (await import('./families/exec.js')).addExecMethods)
      .family('fs.', async () => (await import('./families/fs.js')).addFsMethods)
      .family('pty.', async () => (await import('./families/pty.js')).addPtyMethods);
  }

  /** Serves one client until either side ends the connection, and says why if it broke. Its sessions are gone then too. */
  async serve(link: Link): Promise<Error | undefined> {
    const sessions = new Sessions(this.#places);
    const call: CallHandler = (incoming) =>
      this.#router.call(incoming.method, incoming.params, {
        // Asked for by few, and made when it is.
        get signal() {
          return incoming.signal;
        },
        server: this.#facts,
        sessions,
        log: this.#log,
        sink,
        reads,
        walks,
        afterReply: (then) => incoming.afterReply(then),
      });
    const peer = new RpcPeer(link, {
      onRequest: call,
      // Nobody would learn the id of a session that is opened without an answer; it would only hold a place.
      onNotification: (incoming) => (incoming.method === SessionOpen.name ? undefined : call(incoming)),
      refuseBlankLines: true,
      drainMs: LAST_ANSWERS_MS,
      log: this.#log,
    });
    const sink = eventSink(peer);
    const reads = longAnswers(peer, MAX_READS_AT_ONCE);
    const walks = longAnswers(peer, MAX_WALKS_AT_ONCE);
    // A client that sends nothing more is gone: what it started ends now, not when the last answer has been taken.
    void peer.inputEnded.then(() => this.#end(sessions));
    this.#connections.set(peer, sessions);
    const lost = await peer.closed;
    this.#connections.delete(peer);
    await this.#end(sessions);
    if (lost !== undefined) this.#log.warn('connection lost', { link: link.name, reason: lost.message });
    return lost;
  }

  protected override async release(reason: Error): Promise<void> {
    await Promise.all(
      [...this.#connections].map(async ([peer, sessions]) => {
        // Its programs first, so that the client hears of their end. One that does not listen keeps nobody waiting.
        using limit = deadline(LAST_EVENTS_MS);
        await withSignal(this.#end(sessions), limit.signal).catch(() => {});
        await peer.close(reason);
      }),
    );
  }

  /** Whoever cannot be ended (another user's program, a broken disk) is told of, and does not keep the rest from ending. */
  async #end(sessions: Sessions): Promise<void> {
    try {
      await sessions.close();
    } catch (thrown) {
      this.#log.error('not all programs could be ended', { reason: toError(thrown).message });
    }
  }
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
