// The route table bound to its handlers, and how errors are written.

import { VERSION } from '../../base/version.js';
import type { ErrorStyle } from '../../wire/http/errors.js';
import { HttpError } from '../../wire/http/errors.js';
import { send, sendJson } from '../../wire/http/reply.js';
import type { ParamNames, Route, RouteOf } from '../../wire/http/router.js';
import { ROUTES, type RouteId, type RouteSpec } from '../protocol.js';
import { deleteAgent, listAgents, registerAgent, rotateWebhook, showWebhook } from './agent-routes.js';
import type { Agents } from './agents.js';
import { answerChanFlow } from './chanflow-route.js';
import { ackEvent, countEvents, postEvent } from './event-routes.js';
import { type StreamParts, streamEvents } from './event-stream-route.js';
import { answerExec, cancelExec, type ExecParts } from './exec-route.js';
import type { McpRoute } from './mcp-route.js';
import type { Metrics } from './metrics.js';
import { describeApi } from './openapi.js';
import {
  closeSession,
  listSessions,
  openSession,
  refuseSessionPath,
  type SessionParts,
} from './session-routes.js';

export interface RouteParts {
  readonly agents: Agents;
  readonly exec: ExecParts;
  readonly events: StreamParts;
  readonly sessions: SessionParts;
  readonly mcp: McpRoute;
  readonly metrics: Metrics;
  readonly health: () => { agents: number; sessions: number };
  readonly shutDown: () => void;
  /** `http://127.0.0.1:PORT`. */
  readonly url: () => string;
}

/** What a handler is given for `:name` in its path is there: the router has seen to that. */
type Params<Id extends RouteId> = Readonly<Record<ParamNames<(typeof ROUTES)[Id]['path']>, string>>;
type Handlers = { readonly [Id in RouteId]: RouteOf<Params<Id>>['handler'] };

export function daemonRoutes(parts: RouteParts): Route[] {
  const handlers = bindHandlers(parts);
  const named = Object.entries<RouteSpec>(ROUTES).map(([id, { method, path, summary }]) => ({
    method,
    path,
    summary,
    handler: handlers[id as RouteId],
  }));
  return [...named, ...OTHER_SESSION_PATHS];
}

function bindHandlers(parts: RouteParts): Handlers {
  const { agents, exec, events, sessions, mcp } = parts;
  return {
    listAgents: (ctx) => listAgents(ctx, agents),
    registerAgent: (ctx) => registerAgent(ctx, agents),
    deleteAgent: (ctx) => deleteAgent(ctx, agents),
    showWebhook: (ctx) => showWebhook(ctx, agents),
    rotateWebhook: (ctx) => rotateWebhook(ctx, agents),
    postEvent: (ctx) => postEvent(ctx, events),
    streamEvents: (ctx) => streamEvents(ctx, events),
    countEvents: (ctx) => countEvents(ctx, events),
    ackEvent: (ctx) => ackEvent(ctx, events),
    listSessions: (ctx) => listSessions(ctx, sessions),
    openSession: (ctx) => openSession(ctx, sessions),
    closeSession: (ctx) => closeSession(ctx, sessions),
    exec: (ctx) => answerExec(ctx, exec),
    cancelExec: (ctx) => cancelExec(ctx, exec),
    postMcp: (ctx) => mcp.post(ctx),
    getMcp: (ctx) => mcp.refuse(ctx),
    deleteMcp: (ctx) => mcp.refuse(ctx),
    chanflow: (ctx) => answerChanFlow(ctx, exec),
    health: (ctx) => sendJson(ctx, 200, { ok: true, ...parts.health(), version: VERSION, pid: process.pid }),
    shutdown: (ctx) => {
      ctx.res.once('close', parts.shutDown);
      sendJson(ctx, 200, { ok: true, message: 'stringd shutting down' }, { Connection: 'close' });
    },
    metrics: async (ctx) => {
      const { type, text } = await parts.metrics.render();
      send(ctx, 200, type, text, { 'Cache-Control': 'no-store' });
    },
    openapi: (ctx) => sendJson(ctx, 200, describeApi(parts.url())),
  };
}

/** Paths that were meant to close a topic and name none, or more than one. */
const OTHER_SESSION_PATHS: Route[] = ['', '/', '/:agent_id', '/:agent_id/', '/:agent_id/:topic/:more'].map(
  (rest) => ({
    method: 'DELETE',
    path: `/sessions${rest}`,
    summary: 'Refused: it names no topic.',
    handler: refuseSessionPath,
  }),
);

/** Every error is `{error}`, in words. A path with another method is as unknown as any other path. */
export const ERROR_STYLE: ErrorStyle = {
  translate: (thrown) => {
    if (!(thrown instanceof HttpError) || thrown.code !== 'method_not_allowed') return undefined;
    const message = thrown.message.replace(/^Method not allowed/, 'Not found');
    return new HttpError(404, 'not_found', message, { headers: thrown.headers });
  },
  body: ({ message }) => ({ error: message }),
};
