// The REXD server: connections in, answers out. What a connection opened ends with it.

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
import { closeSession } from './methods/session-close.js';
import { describeSession } from './methods/session-info.js';
import { openSession } from './methods/session-open.js';
import { SESSION_METHODS } from './protocol/session.js';
import { SessionPlaces, Sessions } from './sessions.js';

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
  readonly #connections = new Set<RpcPeer>();

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
      .methods(SESSION_METHODS, {
        SessionOpen: openSession,
        SessionInfo: describeSession,
        SessionClose: closeSession,
      })
      .family('exec.', async () => (await import('./families/exec.js')).addExecMethods)
      .family('fs.', async () => (await import('./families/fs.js')).addFsMethods)
      .family('pty.', async () => (await import('./families/pty.js')).addPtyMethods);
  }

  /** Serves one client until either side ends the connection, and says why if it broke. Its sessions are gone then too. */
  async serve(link: Link): Promise<Error | undefined> {
    await using sessions = new Sessions(this.#places);
    const call: CallHandler = (incoming) =>
      this.#router.call(incoming.method, incoming.params, {
        signal: incoming.signal,
        server: this.#facts,
        sessions,
        log: this.#log,
        sink,
        afterReply: (then) => incoming.afterReply(then),
      });
    const peer = new RpcPeer(link, {
      onRequest: call,
      onNotification: call,
      refuseBlankLines: true,
      log: this.#log,
    });
    const sink = eventSink(peer);
    // A client that sends nothing more is gone: what it started ends now, not when the last answer has been taken.
    void peer.inputEnded.then(() => sessions.close());
    this.#connections.add(peer);
    const lost = await peer.closed;
    this.#connections.delete(peer);
    if (lost !== undefined) this.#log.warn('connection lost', { link: link.name, reason: lost.message });
    return lost;
  }

  protected override async release(reason: Error): Promise<void> {
    await Promise.all([...this.#connections].map((peer) => peer.close(reason)));
  }
}

/** Events in order with the answers. What cannot be sent is dropped: nobody is there to read it. */
function eventSink(peer: RpcPeer): EventSink {
  return (line) => {
    if (peer.closing) return undefined;
    try {
      return peer.notifyRaw(line) ? undefined : peer.drained().catch(() => {});
    } catch {
      return undefined;
    }
  };
}
