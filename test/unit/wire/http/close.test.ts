// The end of a server: what closes at once, what may finish, and what is cut off.

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openEventStream } from '../../../../src/wire/http/event-stream.js';
import { sendText } from '../../../../src/wire/http/reply.js';
import { until } from '../../../helpers/wait.js';
import { gate, request, route, TestServer } from './kit.js';

const LONG_MS = 60_000; // longer than any test: a close that waits for it fails
const ok = route('/ok', (ctx) => sendText(ctx, 200, 'ok'));

describe('at once', () => {
  test.each([
    ['kept alive after an answer', request('GET /ok')],
    ['that has not said a word', ''],
    ['in the middle of its headers', 'GET /ok HTTP/1.1\r\nHost: loc'],
  ])('a connection %s closes', async (_, text) => {
    await using kit = await TestServer.start({ routes: [ok], settings: { graceMs: LONG_MS } });
    await using client = await kit.connect();
    client.write(text);
    if (text.endsWith('\r\n\r\n')) await client.response();
    await until(() => kit.server.connections === 1, 'the connection to be accepted');
    await kit.server.close();
    await client.closed();
    expect(kit.server.connections).toBe(0);
  });

  test('new connections are refused', async () => {
    await using kit = await TestServer.start({ routes: [ok] });
    await kit.server.close();
    expect(kit.server.address).toBeUndefined();
    const [error] = (await once(connect(kit.port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  test('closing twice is closing once', async () => {
    const kit = await TestServer.start({ routes: [ok] });
    expect(kit.server.close()).toBe(kit.server.close());
    await kit.server.close();
    expect(kit.server.signal.aborted).toBe(true);
  });
});

describe('within the grace', () => {
  test('a request in flight is answered whole, told that the connection closes, and closed', async () => {
    const finish = gate();
    const slow = route('/slow', async (ctx) => {
      await finish.promise;
      sendText(ctx, 200, 'x'.repeat(1_000_000));
    });
    await using kit = await TestServer.start({ routes: [slow], settings: { graceMs: LONG_MS } });
    await using client = await kit.connect();
    client.write(request('GET /slow'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    const closing = kit.server.close();
    finish.open();
    const { status, headers, body } = await client.response();
    expect([status, headers['Connection'], body.length]).toEqual([200, 'close', 1_000_000]);
    await closing;
    await client.closed();
    expect(client.error).toBeUndefined();
  });

  test('an answer that had begun goes on to its end', async () => {
    const finish = gate();
    const half = route('/half', async ({ res }) => {
      res.writeHead(200, { 'Content-Length': 10 });
      res.write('12345');
      await finish.promise;
      res.end('67890');
    });
    await using kit = await TestServer.start({ routes: [half], settings: { graceMs: LONG_MS } });
    await using client = await kit.connect();
    client.write(request('GET /half'));
    await client.seen('12345');
    const closing = kit.server.close();
    finish.open();
    expect((await client.response()).body).toBe('1234567890');
    await closing;
  });

  test('another request on the same connection is turned away', async () => {
    const finish = gate();
    const slow = route('/slow', async (ctx) => {
      await finish.promise;
      sendText(ctx, 200, 'done');
    });
    await using kit = await TestServer.start({ routes: [slow, ok], settings: { graceMs: LONG_MS } });
    await using client = await kit.connect();
    client.write(request('GET /slow'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    const closing = kit.server.close();
    client.write(request('GET /ok'));
    await until(() => kit.server.inFlight === 2, 'the second request to arrive');
    finish.open();
    expect((await client.response()).body).toBe('done');
    await closing;
    await client.closed();
    expect(client.received).not.toContain('200 OK');
  });

  test('a stream without an end is told, and ends properly', async () => {
    const streams = route('/events', async (ctx) => {
      const stream = openEventStream(ctx, { until: ctx.draining });
      await stream.send({ event: 'ready', data: '{}' });
      await once(stream.signal, 'abort');
    });
    await using kit = await TestServer.start({ routes: [streams], settings: { graceMs: LONG_MS } });
    const clients = await Promise.all(Array.from({ length: 30 }, () => kit.connect()));
    for (const client of clients) client.write(request('GET /events'));
    for (const client of clients) await client.seen('event: ready');
    await kit.server.close();
    for (const client of clients) {
      await client.closed();
      expect(client.received.endsWith('0\r\n\r\n')).toBe(true);
      await client[Symbol.asyncDispose]();
    }
    expect(kit.problems()).toEqual([]);
  });
});

describe('after the grace', () => {
  test('what still runs is cut off and its signal aborts', async () => {
    const aborted = gate();
    const stuck = route('/stuck', async ({ signal }) => {
      await once(signal, 'abort');
      aborted.open();
    });
    await using kit = await TestServer.start({ routes: [stuck], settings: { graceMs: 30 } });
    await using client = await kit.connect();
    client.write(request('GET /stuck'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    await kit.server.close();
    await aborted.promise;
    await client.closed();
    expect([client.received, kit.server.inFlight, kit.server.connections]).toEqual(['', 0, 0]);
  });

  test('a client that does not read its answer is cut off as well', async () => {
    const big = route('/big', (ctx) => sendText(ctx, 200, 'x'.repeat(32 * 2 ** 20)));
    await using kit = await TestServer.start({ routes: [big], settings: { graceMs: 30 } });
    await using client = await kit.connect();
    client.socket.pause();
    client.write(request('GET /big'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    await kit.server.close();
    expect(kit.server.connections).toBe(0);
  });
});
