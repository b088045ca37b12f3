// The way of a client's message: what it is, whose session, which pool, which worker.

import type { Slab } from '../flow/slab.js';
import {
  INVALID_REQUEST,
  OVERLOADED,
  PARSE_ERROR,
  SESSION_NOT_YOURS,
  SHUTTING_DOWN,
  UNKNOWN_POOL,
} from '../protocol.js';
import { scan } from '../scan/scan.js';
import { rawId, refuse, refuseAndClose } from './answers.js';
import { findCancelled, isCancellation } from './cancel.js';
import { namedPool, type PoolChoice } from './choose-pool.js';
import type { Client } from './client.js';
import { answerControl, authenticate, isControl } from './control.js';
import type { Core } from './core.js';
import { forwardToWorker } from './forward.js';
import type { HeldLine } from './held.js';
import { GONE_ASKER_MS, hold } from './hold.js';
import { isAbandoned, isTaken, type Pool } from './pool.js';
import type { Session } from './sessions.js';
import { routeAnswer } from './worker-requests.js';
import { waitForWorker } from './waiting.js';
import type { Worker } from './worker.js';

/** The length of a frame that is too long is most likely the beginning of a line. */
const TOO_LARGE_HINT = {
  ndjson: 'send less in one message, or raise limits.max_input_buffer',
  length:
    'here a message is 4 bytes of length, big-endian, and its bytes; for lines set transport.framing to "ndjson". If it was one: send less in one message, or raise limits.max_input_buffer',
} as const;

/** A line that has waited already, and is tried again. */
export type Again = HeldLine<Client, Worker> | undefined;

export class ClientMessages {
  readonly #core: Core;
  choice: PoolChoice;

  constructor(core: Core, choice: PoolChoice) {
    this.#core = core;
    this.choice = choice;
  }

  /** False: this client is not listened to any more. */
  route(client: Client, slab: Slab, start: number, end: number): boolean {
    const core = this.#core;
    if (!scan(slab, start, end, core.fields)) {
      core.counters.malformedFromClients += 1;
      refuseAndClose(core, client, undefined, PARSE_ERROR, {
        reason: 'not_json',
        hint: 'send one JSON object a line, not an array of them, in UTF-8, without line breaks inside',
      });
      return false;
    }
    core.counters.messagesFromClients += 1;
    if (!client.authenticated) return authenticate(core, client, slab, start, end);
    this.routeScanned(client, slab, start, end, undefined);
    return client.open;
  }

  tooLong(client: Client, slab: Slab, start: number, end: number): void {
    const core = this.#core;
    scan(slab, start, end, core.fields); // cut off as it is, its id may have been at the front
    core.counters.oversizeFromClients += 1;
    refuseAndClose(core, client, rawId(core, slab), INVALID_REQUEST, {
      reason: 'too_large',
      hint: TOO_LARGE_HINT[client.options.framing],
      maxBytes: core.settings.limits.maxInputBufferBytes,
    });
  }

  /** What the scanner has found lies in `core.fields`. */
  routeScanned(client: Client, slab: Slab, start: number, end: number, again: Again): void {
    const core = this.#core;
    const { fields, idKey, sessionKey } = core;
    const isRequest = idKey.take(slab.bytes, fields.id);
    const hasSession =
      sessionKey.take(slab.bytes, fields.session) || sessionKey.take(slab.bytes, fields.paramsSession);
    if (fields.methodStart < 0) {
      if (!isRequest && !hasSession && !core.settings.lenient) {
        this.#refuseUnroutable(client);
        return;
      }
      if (fields.hasResult || fields.hasError) {
        routeAnswer(core, client, slab, start, end, isRequest, hasSession);
        return;
      }
    } else if (isControl(fields, slab) && answerControl(core, client, slab, start, end)) return;
    const session = hasSession ? core.sessions.find(sessionKey) : undefined;
    if (session !== undefined && session.owner !== client && core.settings.sessionOwnership === 'strict') {
      refuse(core, client, slab, SESSION_NOT_YOURS, {
        reason: 'session_owned',
        hint: 'open a session of your own, or set sessionOwnership to "shared"',
      });
      return;
    }
    if (!isRequest && isCancellation(fields, slab)) {
      const found = findCancelled(core, client, slab, start, end);
      if (found === 'sent') return;
      if (found === 'unknown' && session === undefined) {
        core.counters.notificationsDropped += 1;
        core.hooks.log.debug('nothing to cancel', { client: client.name });
        return;
      }
    }
    if (isRequest && !this.#mayAsk(client, slab)) return;
    const pool = session?.worker.pool ?? this.#choosePool(client, slab);
    if (pool === undefined) return;
    if (session !== undefined && core.settings.sessionTtlMs !== undefined) session.usedAt = Date.now();
    this.#toPool(pool, client, slab, start, end, isRequest, hasSession, session, again);
  }

  #toPool(
    pool: Pool,
    client: Client,
    slab: Slab,
    start: number,
    end: number,
    isRequest: boolean,
    hasSession: boolean,
    session: Session | undefined,
    again: Again,
  ): void {
    const core = this.#core;
    if (session?.worker.state === 'retiring' && this.#mustFollow(client, session.worker)) {
      // A notification is no new work, and may be about what is under way there.
      if (isRequest || client.held.length > 0)
        hold(core, client, pool, session.worker, slab, start, end, again);
      else forwardToWorker(core, client, session.worker, slab, start, end, false, false);
      return;
    }
    const pinned = session?.worker.state === 'ready' ? session.worker : undefined;
    const worker =
      pinned === undefined ? pool.pick(core, client, isRequest ? core.idKey : undefined) : pinned;
    if (worker === undefined) {
      const substitute = pool.leastLoaded();
      if (substitute === undefined) waitForWorker(core, pool, client, slab, start, end);
      else if (isRequest && this.#mayRewrite(client, substitute, again)) {
        if (hasSession && !this.#openSession(session, substitute, client, slab, pool)) return;
        forwardToWorker(core, client, substitute, slab, start, end, isRequest, true);
      } else hold(core, client, pool, undefined, slab, start, end, again);
      return;
    }
    let rewriteId = false;
    if (pinned !== undefined) {
      const isIdTaken = isRequest && isTaken(core, core.idKey, worker, client);
      if (isIdTaken && this.#mayRewrite(client, worker, again)) rewriteId = true;
      else if (isIdTaken || this.#mustWait(client, worker)) {
        hold(core, client, pool, worker, slab, start, end, again);
        return;
      }
    } else if (hasSession && !this.#openSession(session, worker, client, slab, pool)) return;
    forwardToWorker(core, client, worker, slab, start, end, isRequest, rewriteId);
  }

  /** A session leaves a worker that takes no more only behind what this client has sent there before. */
  #mustFollow(client: Client, worker: Worker): boolean {
    return client.held.some(({ to }) => to === worker) || this.#core.pending.waitsFor(client, worker);
  }

  #mustWait(client: Client, worker: Worker): boolean {
    if (client.held.length > 0 && client.mustFollowHeld(worker)) return true;
    return worker.output.queuedBytes >= this.#core.settings.limits.maxWorkerQueueBytes;
  }

  #mayRewrite(client: Client, worker: Worker, again: Again): boolean {
    const core = this.#core;
    if (this.#mustWait(client, worker)) return false;
    if (core.settings.idCollision === 'rewrite') return true;
    // Nobody can say when an answer comes that nobody waits for; until then the id is not free.
    const waitedMs = again === undefined ? 0 : Date.now() - again.since;
    return waitedMs >= GONE_ASKER_MS && isAbandoned(core, core.idKey, worker);
  }

  /** A session that is new, or whose worker takes no more, is bound to this one. False: it was refused. */
  #openSession(
    session: Session | undefined,
    worker: Worker,
    client: Client,
    slab: Slab,
    pool: Pool,
  ): boolean {
    const core = this.#core;
    if (session !== undefined) {
      core.counters.sessionsLost += 1;
      core.sessions.bind(session, worker);
      return true;
    }
    if (core.fields.session.start < 0 && !pool.lifts) return true;
    if (core.sessions.size >= core.settings.limits.maxSessions) {
      refuse(core, client, slab, OVERLOADED, {
        reason: 'too_many_sessions',
        hint: 'close clients that have sessions, or raise limits.max_sessions',
        sessions: core.sessions.size,
      });
      return false;
    }
    core.sessions.add(core.sessionKey, worker, client, Date.now());
    core.counters.sessionsOpened += 1;
    return true;
  }

  #mayAsk(client: Client, slab: Slab): boolean {
    const core = this.#core;
    if (core.refusing) {
      refuse(core, client, slab, SHUTTING_DOWN, {
        reason: 'shutting_down',
        hint: 'the bus finishes what is under way and ends; connect again later',
      });
      return false;
    }
    if (!core.pending.isFull(core.settings.limits.maxPending)) return true;
    refuse(core, client, slab, OVERLOADED, {
      reason: 'too_many_pending',
      hint: 'wait for answers before you ask for more, or raise limits.max_pending',
      pending: core.pending.size,
    });
    return false;
  }

  #choosePool(client: Client, slab: Slab): Pool | undefined {
    const core = this.#core;
    const pool = this.choice.choose(core, slab);
    if (pool === undefined) {
      const named = namedPool(core, slab);
      refuse(core, client, slab, UNKNOWN_POOL, {
        reason: named === undefined ? 'pool_required' : 'unknown_pool',
        hint: 'put the name of a pool into the top-level field "pool"',
        ...(named !== undefined && { pool: named }),
        pools: [...core.pools.keys()],
      });
    }
    return pool;
  }

  #refuseUnroutable(client: Client): void {
    const core = this.#core;
    core.counters.unroutableFromClients += 1;
    refuseAndClose(core, client, undefined, INVALID_REQUEST, {
      reason: 'no_routing_field',
      hint: 'a message has an id, a method or a sessionId',
    });
  }
}
