// Numbers over HTTP for Prometheus, kept from web pages and from strangers.

import type { IncomingMessage } from 'node:http';
import type { Log } from '../../base/log.js';
import { readBearer } from '../../guard/bearer.js';
import { createBrowserGuard } from '../../guard/browser-guard.js';
import { isLoopbackHost, type ListenAddress } from '../../guard/listen-address.js';
import { HttpError } from '../../wire/http/errors.js';
import { send, sendJson } from '../../wire/http/reply.js';
import { defineRoute } from '../../wire/http/router.js';
import { HttpServer } from '../../wire/http/server.js';
import type { BusReport } from '../bus-report.js';
import { openMetrics } from '../metrics.js';
import { silentLog } from '../silent-log.js';
import type { Access } from './access.js';

/** Answers under way; whoever scrapes asks one at a time. */
const MAX_SCRAPES = 16;

const NO_STORE = { 'Cache-Control': 'no-store' };

export interface MetricsOptions {
  readonly report: () => BusReport;
  readonly access: Access;
  readonly log: Log;
}

/** On loopback anybody may ask; elsewhere it takes the token, as everything does. */
export async function openMetricsServer(
  where: ListenAddress,
  { report, access, log }: MetricsOptions,
): Promise<HttpServer> {
  const metrics = await openMetrics(report);
  const remote = !isLoopbackHost(where.host);
  const host = where.host.includes(':') ? `[${where.host}]` : where.host;
  const { tls } = access;
  const server = new HttpServer({
    // Its "listening" would be taken for the bus's own.
    log: {
      ...silentLog,
      warn: (text, facts) => log.warn(text, facts),
      error: (text, facts) => log.error(text, facts),
    },
    guard: createBrowserGuard({ hosts: remote ? [host] : [] }),
    headers: { 'X-Content-Type-Options': 'nosniff' },
    settings: { maxInFlight: MAX_SCRAPES },
    ...(remote && tls !== undefined && { tls }),
    routes: [
      defineRoute({
        method: 'GET',
        path: '/metrics',
        summary: 'Numbers for Prometheus.',
        handler: async (ctx) => {
          if (remote) authorise(ctx.req, access);
          send(ctx, 200, metrics.contentType, await metrics.render(), NO_STORE);
        },
      }),
      defineRoute({
        method: 'GET',
        path: '/health',
        summary: 'Whether every pool has a worker that is ready. Tells nothing else.',
        handler: (ctx) => {
          const { draining, pools } = report();
          const ok = !draining && pools.every(({ ready }) => ready > 0);
          sendJson(ctx, ok ? 200 : 503, { status: ok ? 'ok' : draining ? 'draining' : 'degraded' }, NO_STORE);
        },
      }),
    ],
  });
  await server.listen(where);
  return server;
}

function authorise(req: IncomingMessage, { checkToken }: Access): void {
  if (checkToken === undefined) return; // then it takes a certificate, which TLS has seen
  const given = readBearer(req.headers.authorization);
  if (given !== undefined && checkToken(given)) return;
  throw new HttpError(401, 'unauthorized', 'send the token as "Authorization: Bearer TOKEN"', {
    headers: { 'WWW-Authenticate': 'Bearer realm="stdio-bus"' },
  });
}
