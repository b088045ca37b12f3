// The server as a client sees it: answers, errors, headers, methods, targets, guard.

import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { readJson } from '../../../../src/wire/http/body.js';
import { send, sendEmpty, sendJson, sendText } from '../../../../src/wire/http/reply.js';
import { defineRoute } from '../../../../src/wire/http/router.js';
import { HttpServer, type RequestGuard } from '../../../../src/wire/http/server.js';
import { until } from '../../../helpers/wait.js';
import { recordLog, request, route, TestServer } from './kit.js';

const ok = route('/ok', (ctx) => sendJson(ctx, 200, { ok: true }));
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Content-Type, X-Agent-Id',
};

describe('answers', () => {
  test('JSON has exactly these headers and nothing that names the software', async () => {
    await using kit = await TestServer.start({ routes: [ok] });
    const { head, body } = await kit.exchange(request('GET /ok'));
    expect(head.replace(/Date: .*/, 'Date: …').split('\r\n')).toEqual([
      'HTTP/1.1 200 OK',
      'Content-Type: application/json',
      'Content-Length: 11',
      'Date: …',
      'Connection: keep-alive',
      'Keep-Alive: timeout=30',
    ]);
    expect(body).toBe('{"ok":true}');
  });

  test('text counts bytes, not characters', async () => {
    await using kit = await TestServer.start({
      routes: [route('/t', (ctx) => sendText(ctx, 202, '€😀', { 'X-A': 'b' }))],
    });
    const { status, headers, body } = await kit.exchange(request('GET /t'));
    expect([status, headers['Content-Type'], headers['Content-Length'], headers['X-A'], body]).toEqual([
      202,
      'text/plain; charset=utf-8',
      '7',
      'b',
      '€😀',
    ]);
  });

  test('bytes of any type go out as they are', async () => {
    const bytes = Uint8Array.of(0, 0xff, 0x0a);
    await using kit = await TestServer.start({
      routes: [route('/b', (ctx) => send(ctx, 200, 'application/octet-stream', bytes, { ETag: '"1"' }))],
    });
    await using client = await kit.connect();
    client.write(request('GET /b'));
    await client.seen('\0\u00ff\n');
    expect((await client.response()).headers).toMatchObject({
      'Content-Type': 'application/octet-stream',
      'Content-Length': '3',
      ETag: '"1"',
    });
  });

  test('an empty 204 has no length and an empty 202 says 0', async () => {
    const routes = [route('/204', (ctx) => sendEmpty(ctx)), route('/202', (ctx) => sendEmpty(ctx, 202))];
    await using kit = await TestServer.start({ routes });
    expect((await kit.exchange(request('GET /204'))).headers).not.toHaveProperty('Content-Length');
    expect((await kit.exchange(request('GET /202'))).headers).toHaveProperty('Content-Length', '0');
  });

  test('HEAD gets the head of GET and no body', async () => {
    await using kit = await TestServer.start({ routes: [ok] });
    await using client = await kit.connect();
    client.write(request('HEAD /ok') + request('GET /ok'));
    const head = await client.response({ head: true });
    expect([head.status, head.headers['Content-Length']]).toEqual([200, '11']);
    expect((await client.response()).body).toBe('{"ok":true}');
  });

  test('a connection serves many requests, also pipelined, in order', async () => {
    const echo = route('/echo', async (ctx) => sendText(ctx, 200, ctx.query.get('n') ?? ''));
    await using kit = await TestServer.start({ routes: [echo] });
    await using client = await kit.connect();
    client.write(['1', '2', '3'].map((n) => request(`GET /echo?n=${n}`)).join(''));
    const bodies = [await client.response(), await client.response(), await client.response()].map(
      (r) => r.body,
    );
    expect(bodies).toEqual(['1', '2', '3']);
    expect(kit.server.connections).toBe(1);
  });

  test('a handler knows its params, query and URL', async () => {
    const withParam = defineRoute({
      method: 'GET',
      path: '/a/:id',
      summary: '',
      handler: (ctx) =>
        sendJson(ctx, 200, [ctx.params.id, ctx.query.getAll('q'), ctx.url.href, ctx.path, ctx.route.path]),
    });
    await using kit = await TestServer.start({ routes: [withParam] });
    const { body } = await kit.exchange(request('GET http://elsewhere/a/x%20y?q=1&q=%zz'));
    expect(JSON.parse(body)).toEqual([
      'x y',
      ['1', '%zz'],
      'http://localhost/a/x%20y?q=1&q=%zz',
      '/a/x%20y',
      '/a/:id',
    ]);
  });

  test('a path that begins with two slashes is never taken for a host', async () => {
    const root = route('/', (ctx) => sendText(ctx, 200, ctx.url.host));
    await using kit = await TestServer.start({ routes: [root] });
    expect((await kit.exchange(request('GET //evil.com/'))).status).toBe(404);
    expect((await kit.exchange(request('GET /'))).body).toBe('localhost');
  });
});

describe('methods', () => {
  test('405 names the methods there are, 404 the path there is not', async () => {
    await using kit = await TestServer.start({ routes: [ok] });
    const wrong = await kit.exchange(request('DELETE /ok'));
    expect([wrong.status, wrong.headers['Allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(JSON.parse(wrong.body)).toEqual({
      error: { code: 'method_not_allowed', message: 'Method not allowed: DELETE /ok' },
    });
    const none = await kit.exchange(request('GET /ok/'));
    expect([none.status, JSON.parse(none.body).error.message]).toEqual([404, 'Not found: GET /ok/']);
  });

  test('malformed percent-encoding is a 400', async () => {
    await using kit = await TestServer.start({ routes: [route('/a/:id', (ctx) => sendEmpty(ctx))] });
    expect((await kit.exchange(request('GET /a/%zz'))).status).toBe(400);
  });

  test('OPTIONS is a 204 on every path and for the server itself', async () => {
    await using kit = await TestServer.start({ routes: [ok], headers: CORS });
    for (const target of ['/ok', '/none', '*']) {
      const { status, headers, body } = await kit.exchange(request(`OPTIONS ${target}`));
      expect([status, headers['Access-Control-Allow-Origin'], body]).toEqual([204, '*', '']);
    }
  });

  test('CONNECT is refused: this is no proxy', async () => {
    await using kit = await TestServer.start({ routes: [ok], headers: CORS });
    await using client = await kit.connect();
    client.write(request('CONNECT evil.com:80'));
    expect(await client.response()).toMatchObject({ status: 405, headers: CORS });
    client.socket.resetAndDestroy(); // an error on a socket that node:http has let go of
    await until(() => kit.server.connections === 0, 'the connection to be forgotten');
  });
});

describe('headers on every answer', () => {
  test.each([
    ['200', request('GET /ok')],
    ['204', request('OPTIONS /ok')],
    ['400', request('GET /%zz')],
    ['400', 'GET /ok HTTP/1.1\r\n\r\n'],
    ['400', 'GET /ok HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    ['400', 'nonsense\r\n\r\n'],
    ['400', request('GET ftp://x/')],
    ['403', request('GET /ok', { 'X-Refuse': 'yes' })],
    ['404', request('GET /none')],
    ['405', request('PUT /ok')],
    ['413', request('POST /json', { 'Content-Type': 'application/json', 'Content-Length': '999999999' })],
    ['414', request(`GET /${'a'.repeat(9000)}`)],
    ['415', request('POST /json', { 'Content-Type': 'text/plain' }, '{}')],
    ['417', request('GET /ok', { Expect: 'miracles' })],
    ['431', request('GET /ok', { 'X-Long': 'a'.repeat(20_000) })],
    ['500', request('GET /fail')],
  ])('%s carries them (%#)', async (status, text) => {
    const routes = [
      ok,
      route('/json', async (ctx) => sendJson(ctx, 200, await readJson(ctx)), 'POST'),
      route('/fail', () => {
        throw new Error('x');
      }),
    ];
    const guard: RequestGuard = (req) =>
      req.headers['x-refuse'] === undefined ? undefined : { status: 403, code: 'no', message: 'no' };
    await using kit = await TestServer.start({ routes, headers: CORS, guard });
    const response = await kit.exchange(text);
    expect(String(response.status)).toBe(status);
    expect(response.headers).toMatchObject(CORS);
    const body: unknown = response.body === '' ? {} : JSON.parse(response.body);
    expect('error' in Object(body)).toBe(response.status >= 400);
  });
});

test('headers that cannot be sent are refused when the server is made', () => {
  const { log } = recordLog();
  expect(() => new HttpServer({ routes: [], log, headers: { 'X-A': 'a\r\nX-B: b' } })).toThrow(TypeError);
  expect(() => new HttpServer({ routes: [], log, headers: { 'X A': 'a' } })).toThrow(TypeError);
});

describe('the guard', () => {
  test('comes before routing and bodies, on every path and method', async () => {
    const reached: string[] = [];
    const routes = [route('/ok', (ctx) => void reached.push(ctx.path), 'POST')];
    const guard = () => ({ status: 403, code: 'forbidden', message: 'no', headers: { 'X-Why': 'test' } });
    await using kit = await TestServer.start({ routes, guard });
    for (const line of [
      'POST /ok',
      'GET /none',
      'OPTIONS /ok',
      'OPTIONS *',
      'PUT /ok',
      'GET /%zz',
      'HEAD /ok',
    ]) {
      await using client = await kit.connect();
      client.write(request(line, {}, line.startsWith('POST') ? '{}' : undefined));
      const { status, headers } = await client.response({ head: line.startsWith('HEAD') });
      expect([line, status, headers['X-Why']]).toEqual([line, 403, 'test']);
    }
    expect(reached).toEqual([]);
  });

  test('sees headers past the thousandth', async () => {
    const guard = (req: { rawHeaders: string[] }) =>
      req.rawHeaders.includes('Origin') ? { status: 403, code: 'no', message: 'no' } : undefined;
    await using kit = await TestServer.start({ routes: [ok], guard });
    const filler = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [i.toString(36), '']));
    expect((await kit.exchange(request('GET /ok', { ...filler, Origin: 'x' }))).status).toBe(403);
  });

  test('that throws lets nobody in', async () => {
    const guard = () => {
      throw new Error('bug');
    };
    await using kit = await TestServer.start({ routes: [ok], guard });
    expect((await kit.exchange(request('GET /ok'))).status).toBe(500);
    expect(kit.server.inFlight).toBe(0);
  });
});

test('routes stay readable as data, with their summaries and body schemas', async () => {
  const body = z.object({ cmd: z.string() });
  const exec = defineRoute({
    method: 'POST',
    path: '/exec',
    summary: 'Execute one command.',
    body,
    handler: (ctx) => sendEmpty(ctx),
  });
  await using server = new HttpServer({ routes: [exec], log: recordLog().log });
  expect(server.routes.map((r) => [r.method, r.path, r.summary, r.body === body])).toEqual([
    ['POST', '/exec', 'Execute one command.', true],
  ]);
});
