// What a daemon answers over HTTP: POST of JSON-RPC, its health, its numbers.

import type { ErrorStyle, HttpError } from '../../wire/http/errors.js';
import { HttpError as HttpFailure } from '../../wire/http/errors.js';
import { readBody, requireJsonType } from '../../wire/http/body.js';
import type { BodyBudget } from '../../wire/http/body-budget.js';
import type { RequestContext } from '../../wire/http/context.js';
import { send, sendEmpty, sendJson } from '../../wire/http/reply.js';
import { defineRoute, type Route } from '../../wire/http/router.js';
import { answerMessage } from '../../wire/jsonrpc/answer-message.js';
import type { CallHandler } from '../../wire/jsonrpc/call-server.js';
import { INVALID_REQUEST, PARSE_ERROR } from '../../wire/jsonrpc/message.js';
import { ERROR_CODES } from '../protocol/errors.js';
import { PROTOCOL } from '../protocol/open-bounds.js';
import type { Access } from './access.js';
import type { Metrics } from './metrics.js';

export interface DaemonParts {
  readonly access: Pick<Access, 'authorise'>;
  readonly metrics: Pick<Metrics, 'contentType' | 'render' | 'addBytes'>;
  readonly bodies: BodyBudget;
  /** Who serves the calls of a holder. */
  readonly callsOf: (holder: string) => CallHandler;
  readonly paths: { readonly rpc: string; readonly ws: string };
}

export function daemonRoutes(parts: DaemonParts): Route[] {
  const { access, metrics, paths } = parts;
  return [
    defineRoute({
      method: 'POST',
      path: paths.rpc,
      summary: 'One JSON-RPC message, or a batch.',
      handler: (ctx) => answerRpc(ctx, parts),
    }),
    defineRoute({
      method: 'GET',
      path: '/health',
      summary: 'Whether the server is there. Asked by anybody, so it tells nothing else.',
      handler: (ctx) => sendJson(ctx, 200, { status: 'ok', protocol: PROTOCOL }, NO_STORE),
    }),
    defineRoute({
      method: 'GET',
      path: '/metrics',
      summary: 'Numbers for Prometheus.',
      handler: async (ctx) => {
        access.authorise(ctx.req);
        send(ctx, 200, metrics.contentType, await metrics.render(), NO_STORE);
      },
    }),
    defineRoute({
      method: 'GET',
      path: paths.ws,
      summary: 'A WebSocket: each text frame a JSON-RPC message.',
      handler: () => {
        throw new HttpFailure(426, 'upgrade_required', 'this is a WebSocket', {
          headers: { Upgrade: 'websocket', Connection: 'Upgrade, close' },
        });
      },
    }),
  ];
}

/** Errors of HTTP on the path of JSON-RPC are answered as JSON-RPC too: one reader does for all answers. */
export function errorStyle(rpcPath: string): ErrorStyle {
  return {
    body: (error, { path }) =>
      path === rpcPath
        ? {
            jsonrpc: '2.0',
            id: null,
            error: { code: codeOf(error), message: error.message, data: { reason: error.code } },
          }
        : { error: { code: error.code, message: error.message } },
  };
}

async function answerRpc(ctx: RequestContext<unknown>, parts: DaemonParts): Promise<void> {
  const holder = parts.access.authorise(ctx.req);
  requireJsonType(ctx.req);
  using share = parts.bodies.open();
  const body = await readBody(ctx, { share });
  const { signal } = ctx;
  const answer = await answerMessage(body, { onCall: parts.callsOf(holder), signal });
  parts.metrics.addBytes('http', body.length, answer?.length ?? 0);
  if (answer === undefined) sendEmpty(ctx, 204);
  else send(ctx, isParseError(answer) ? 400 : 200, 'application/json', answer, NO_STORE);
}

const NO_STORE = { 'Cache-Control': 'no-store' };

/** As it is always written. */
const PARSE_ERROR_HEAD = Buffer.from(`{"jsonrpc":"2.0","id":null,"error":{"code":${PARSE_ERROR},`);

function isParseError(answer: Buffer): boolean {
  return answer.subarray(0, PARSE_ERROR_HEAD.length).equals(PARSE_ERROR_HEAD);
}

function codeOf({ status }: HttpError): number {
  if (status === 401 || status === 403) return ERROR_CODES.unauthorized;
  return status === 503 ? ERROR_CODES.resource_limit : INVALID_REQUEST;
}
