// What a client learns when a handler fails, and what the log does.

import { expect, describe, test } from 'vitest';
import { LaneFullError } from '../../../../src/base/lane.js';
import { HttpError } from '../../../../src/wire/http/errors.js';
import { sendEmpty, sendJson } from '../../../../src/wire/http/reply.js';
import type { Route } from '../../../../src/wire/http/router.js';
import { until } from '../../../helpers/wait.js';
import { request, route, TestServer } from './kit.js';

const ok = route('/ok', (ctx) => sendJson(ctx, 200, { ok: true }));

describe('errors', () => {
  const failing = (thrown: unknown): Route =>
    route('/fail', async () => {
      throw thrown;
    });

  test('an HttpError is answered with its status, headers and message', async () => {
    const thrown = new HttpError(429, 'busy', 'try later', { headers: { 'Retry-After': '1' } });
    await using kit = await TestServer.start({ routes: [failing(thrown)] });
    const { status, headers, body } = await kit.exchange(request('GET /fail'));
    expect([status, headers['Retry-After'], JSON.parse(body)]).toEqual([
      429,
      '1',
      { error: { code: 'busy', message: 'try later' } },
    ]);
    expect(kit.problems()).toEqual([]);
  });

  test('anything else is a 500 that tells the client nothing and the log everything', async () => {
    const thrown = Object.assign(new Error('password is hunter2'), { status: 200, code: 'EPERM' });
    await using kit = await TestServer.start({ routes: [failing(thrown)] });
    const { status, body } = await kit.exchange(request('GET /fail'));
    expect([status, body]).toEqual([500, '{"error":{"code":"internal_error","message":"Internal error"}}']);
    expect(kit.problems()).toMatchObject([
      {
        level: 'error',
        message: 'request failed',
        facts: { route: '/fail', error: expect.stringContaining('hunter2') },
      },
    ]);
  });

  test('a handler that throws before it awaits is answered the same way', async () => {
    const thrower = route('/sync', () => {
      throw new HttpError(418, 'teapot', 'short and stout');
    });
    await using kit = await TestServer.start({ routes: [thrower] });
    expect((await kit.exchange(request('GET /sync'))).status).toBe(418);
  });

  test('a handler that gives no answer is a 500', async () => {
    await using kit = await TestServer.start({ routes: [route('/mute', () => {})] });
    expect((await kit.exchange(request('GET /mute'))).status).toBe(500);
    expect(kit.problems()).toHaveLength(1);
  });

  test('a handler that fails after part of its answer has the connection cut, so that the part is not taken for whole', async () => {
    const half = route('/half', async ({ res }) => {
      res.writeHead(200, { 'Content-Length': 10 });
      res.write('12345');
      await until(() => res.writableLength === 0, 'the first half to go out');
      throw new Error('broken');
    });
    await using kit = await TestServer.start({ routes: [half] });
    await using client = await kit.connect();
    client.write(request('GET /half'));
    await client.closed();
    expect(client.received).toMatch(/\r\n\r\n12345$/);
  });

  test('a handler that fails after its whole answer is logged and harms nobody', async () => {
    const late = route('/late', async (ctx) => {
      sendEmpty(ctx);
      throw new Error('too late');
    });
    await using kit = await TestServer.start({ routes: [late] });
    await using client = await kit.connect();
    client.write(request('GET /late') + request('GET /late'));
    expect([(await client.response()).status, (await client.response()).status]).toEqual([204, 204]);
    await until(() => kit.problems().length === 2, 'both failures to be logged');
  });

  test('a handler that goes on writing after its answer harms nobody', async () => {
    const chatty = route('/chatty', (ctx) => {
      sendJson(ctx, 200, {});
      ctx.res.write('more');
    });
    await using kit = await TestServer.start({ routes: [chatty] });
    await using client = await kit.connect();
    for (let i = 0; i < 2; i++) {
      client.write(request('GET /chatty'));
      expect(await client.response()).toMatchObject({ status: 200, body: '{}' });
    }
  });

  test('a room has its own error shape and its own translations', async () => {
    const routes = [
      failing(new LaneFullError(5)),
      route('/body', () => {
        throw new HttpError(504, 'timeout', '', {
          body: { error: 'QUEUE_TIMEOUT', message: 'Timed out waiting in queue.' },
        });
      }),
    ];
    const errors = {
      translate: (thrown: unknown) =>
        thrown instanceof LaneFullError ? new HttpError(429, 'QUEUE_FULL', 'full') : undefined,
      body: (error: HttpError) => ({ error: error.message }),
    };
    await using kit = await TestServer.start({ routes, errors });
    const bodies = [];
    for (const path of ['/fail', '/body', '/none']) {
      const { status, body } = await kit.exchange(request(`GET ${path}`));
      bodies.push([status, JSON.parse(body)]);
    }
    expect(bodies).toEqual([
      [429, { error: 'full' }],
      [504, { error: 'QUEUE_TIMEOUT', message: 'Timed out waiting in queue.' }],
      [404, { error: 'Not found: GET /none' }],
    ]);
  });

  test('a mistake in the error shape costs the one connection, not the server', async () => {
    const errors = {
      body: () => {
        throw new Error('bug');
      },
    };
    await using kit = await TestServer.start({ routes: [ok], errors });
    for (const bad of [request('GET /none'), 'nonsense\r\n\r\n']) {
      await using client = await kit.connect();
      client.write(bad);
      await client.closed();
      expect(client.received).toBe('');
    }
    expect((await kit.exchange(request('GET /ok'))).status).toBe(200);
    expect(kit.problems()).toHaveLength(2);
  });

  test('a token in a path stays out of the log', async () => {
    const hook = route('/webhook/:token', (ctx) => {
      ctx.log.info('called');
      throw new Error('failed');
    });
    await using kit = await TestServer.start({ routes: [hook] });
    await kit.exchange(request('GET /webhook/wh_secret'));
    expect(JSON.stringify(kit.records)).not.toContain('wh_secret');
    expect(kit.records).toContainEqual({
      level: 'info',
      message: 'called',
      facts: { method: 'GET', route: '/webhook/:token' },
    });
  });
});
