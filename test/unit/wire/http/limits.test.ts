// Every cap and wait of the server, reached.

import { describe, expect, test } from 'vitest';
import { readBody } from '../../../../src/wire/http/body.js';
import { sendEmpty, sendText, WATCHED_BODY_BYTES } from '../../../../src/wire/http/reply.js';
import type { HttpSettings } from '../../../../src/wire/http/settings.js';
import { until } from '../../../helpers/wait.js';
import { gate, RawClient, request, route, TestServer } from './kit.js';

const ok = route('/ok', (ctx) => sendText(ctx, 200, 'ok'));
const body = route('/body', async (ctx) => sendEmpty(ctx, 200 + (await readBody(ctx)).length), 'POST');
const start = (settings: Partial<HttpSettings>): Promise<TestServer> =>
  TestServer.start({ routes: [ok, body], settings: { drainMs: 50, ...settings } });

describe('slow clients', () => {
  const fast = { headersMs: 60, requestMs: 120, checkMs: 10 };

  test.each([
    ['says nothing', ''],
    ['sends its headers a little at a time', 'GET /ok HTTP/1.1\r\nX: '],
    ['stops before the end of its headers', 'GET /ok HTTP/1.1\r\nHost: localhost\r\n'],
    ['stops before the end of its body', request('POST /body', { 'Content-Length': '10' })],
    ['never ends its chunks', `${request('POST /body', { 'Transfer-Encoding': 'chunked' })}5\r\n`],
  ])('one that %s is answered 408 and closed', async (_, text) => {
    await using kit = await start(fast);
    await using client = await kit.connect();
    client.write(text);
    const drip = setInterval(() => client.write(text === '' ? '' : '1'), 40);
    try {
      expect((await client.response()).status).toBe(408);
      await client.closed();
    } finally {
      clearInterval(drip);
    }
    await until(() => kit.server.inFlight === 0, 'the request to be over');
    expect(kit.problems()).toEqual([]);
  });

  test('one that is done is not hurried: an answer may take longer than a request', async () => {
    const deadlineMs = 5000; // enough for the request to arrive, also when this process has to wait
    const slow = route('/slow', async (ctx) => {
      const end = performance.now() + deadlineMs + 100;
      await until(() => performance.now() > end, 'both deadlines to pass');
      sendText(ctx, 200, 'late');
    });
    await using kit = await TestServer.start({
      routes: [slow],
      settings: { headersMs: deadlineMs, requestMs: deadlineMs, checkMs: 10 },
    });
    expect((await kit.exchange(request('GET /slow'))).body).toBe('late');
  });

  test('an idle connection is closed after its keep-alive time', async () => {
    await using kit = await start({ keepAliveMs: 30 });
    await using client = await kit.connect();
    client.write(request('GET /ok'));
    expect((await client.response()).status).toBe(200);
    await client.closed();
  });

  test('a client that takes nothing of a large answer is cut off', async () => {
    const arrived = gate();
    const big = route('/big', (ctx) => {
      sendText(ctx, 200, 'x'.repeat(32 * 2 ** 20));
      arrived.open();
    });
    await using kit = await TestServer.start({ routes: [big], settings: { stallMs: 50 } });
    await using client = await kit.connect();
    client.socket.pause();
    client.write(request('GET /big'));
    await arrived.promise;
    await until(() => kit.server.connections === 0, 'the server to lose patience');
    expect(kit.server.inFlight).toBe(0);
  });

  test.each([
    [WATCHED_BODY_BYTES, 77_777],
    [WATCHED_BODY_BYTES - 1, undefined],
  ])('an answer of %d bytes is given this long to be taken: %s ms', async (bytes, timeoutMs) => {
    const watched: (number | undefined)[] = [];
    const big = route('/big', (ctx) => {
      sendText(ctx, 200, 'x'.repeat(bytes));
      watched.push(ctx.res.socket?.timeout);
    });
    await using kit = await TestServer.start({ routes: [big], settings: { stallMs: 77_777 } });
    expect((await kit.exchange(request('GET /big'))).body).toHaveLength(bytes);
    expect(watched).toEqual([timeoutMs]);
  });
});

describe('sizes', () => {
  test('a URL at its cap passes, one byte more is a 414', async () => {
    await using kit = await start({ maxUrlBytes: 20 });
    expect((await kit.exchange(request(`GET /ok?${'q'.repeat(16)}`))).status).toBe(200);
    expect((await kit.exchange(request(`GET /ok?${'q'.repeat(17)}`))).status).toBe(414);
  });

  test('headers past their cap are a 431, even when there is more to come', async () => {
    await using kit = await start({ maxHeaderBytes: 1000, drainMs: 60_000 });
    expect((await kit.exchange(request('GET /ok', { X: 'x'.repeat(800) }))).status).toBe(200);
    await using client = await kit.connect();
    client.write(`GET /ok HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(2_000_000)}`);
    expect((await client.response()).status).toBe(431);
    await client.closed();
    expect(client.error).toBeUndefined();
  });

  test('chunk extensions cannot smuggle in what bodies may not', async () => {
    await using kit = await start({});
    const text = `${request('POST /body', { 'Transfer-Encoding': 'chunked' })}1;${'x'.repeat(20_000)}\r\n1\r\n0\r\n\r\n`;
    expect((await kit.exchange(text)).status).toBe(413);
  });

  test('garbage without end is read only so far', async () => {
    await using kit = await start({ maxDrainBytes: 100_000, drainMs: 60_000 });
    await using client = await kit.connect();
    client.write('garbage\r\n\r\n');
    expect((await client.response()).status).toBe(400);
    client.write(Buffer.alloc(1_000_000));
    await until(() => kit.server.connections === 0, 'the server to give up');
  });
});

describe('numbers', () => {
  test('one connection too many is closed, said once in the log, and leaves the others alone', async () => {
    await using kit = await start({ maxConnections: 2 });
    await using first = await kit.connect();
    await using second = await kit.connect();
    await until(() => kit.server.connections === 2, 'two connections');
    for (let i = 0; i < 3; i++) {
      await using extra = await kit.connect();
      await extra.closed();
      expect(extra.received).toBe('');
    }
    for (const client of [first, second]) {
      client.write(request('GET /ok'));
      expect((await client.response()).status).toBe(200);
    }
    expect(kit.problems()).toMatchObject([{ level: 'warn', message: expect.stringContaining('too many') }]);
  });

  test('one request too many is a 503, and room made is room used', async () => {
    const finish = gate();
    const slow = route('/slow', async (ctx) => {
      await finish.promise;
      sendText(ctx, 200, 'done');
    });
    await using kit = await TestServer.start({ routes: [slow, ok], settings: { maxInFlight: 2 } });
    await using client = await kit.connect();
    client.write(request('GET /slow') + request('GET /slow'));
    await until(() => kit.server.inFlight === 2, 'two requests');
    expect((await kit.exchange(request('GET /ok'))).status).toBe(503);
    finish.open();
    expect([(await client.response()).body, (await client.response()).body]).toEqual(['done', 'done']);
    await until(() => kit.server.inFlight === 0, 'both to be over');
    expect((await kit.exchange(request('GET /ok'))).status).toBe(200);
  });
});

describe('malformed requests', () => {
  test.each([
    ['no HTTP at all', 'hello there\r\n\r\n'],
    ['a TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
    ['another protocol version', 'GET /ok HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['a header without a colon', 'GET /ok HTTP/1.1\r\nHost localhost\r\n\r\n'],
    ['a space before the colon', 'GET /ok HTTP/1.1\r\nHost : localhost\r\n\r\n'],
    ['a folded header', 'GET /ok HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n'],
    ['two lengths', request('POST /body', { 'Content-Length': '1', 'content-length': '2' })],
    ['a length and chunks', request('POST /body', { 'Content-Length': '1', 'Transfer-Encoding': 'chunked' })],
    ['a length that is no number', request('POST /body', { 'Content-Length': '-1' })],
    ['a chunk size that is no number', `${request('POST /body', { 'Transfer-Encoding': 'chunked' })}zz\r\n`],
    ['NUL in a header', request('GET /ok', { X: 'a\u0000b' })],
    ['no Host', 'GET /ok HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /ok HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ])('%s is a 400 and ends the connection or leaves it usable', async (_, text) => {
    await using kit = await start({});
    await using client = await kit.connect();
    client.write(Buffer.from(text, 'latin1'));
    expect((await client.response()).status).toBe(400);
    expect(kit.problems()).toEqual([]);
    expect((await kit.exchange(request('GET /ok'))).status).toBe(200);
  });

  test('HTTP/1.0 may do without a Host', async () => {
    await using kit = await start({});
    expect((await kit.exchange('GET /ok HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  test('garbage after half an answer is not answered into the middle of it', async () => {
    const started = gate();
    const half = route('/half', async ({ res }) => {
      res.writeHead(200, { 'Content-Length': 10 });
      res.write('12345');
      started.open();
    });
    await using kit = await TestServer.start({ routes: [half] });
    await using client = await kit.connect();
    client.write(request('GET /half'));
    await started.promise;
    await client.seen('12345');
    client.write('garbage\r\n\r\n');
    await client.closed();
    expect(client.received.endsWith('12345')).toBe(true);
  });

  test('connections that come and go in any state leave nothing behind', async () => {
    await using kit = await TestServer.start({
      routes: [ok, body],
      settings: { drainMs: 50 },
      onUpgrade: ({ socket }) => void socket.resume().end('bye'),
    });
    const states = [
      '',
      'GET',
      'GET /ok HTTP/1.1\r\n',
      request('GET /ok'),
      request('POST /body', { 'Content-Length': '9' }),
      'x\r\n\r\n',
      request('GET /ok', { Connection: 'Upgrade', Upgrade: 'x' }),
      request('CONNECT a:1'),
    ];
    for (let round = 0; round < 10; round++) {
      const clients = await Promise.all(states.map(() => RawClient.connect(kit.port)));
      clients.forEach((client, i) => client.write(states[i] ?? ''));
      clients.forEach((client, i) =>
        i % 2 === 0 ? client.socket.resetAndDestroy() : client.socket.destroy(),
      );
      await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
    }
    await until(() => kit.server.connections === 0 && kit.server.inFlight === 0, 'all of them to be gone');
    expect(kit.problems()).toEqual([]);
  });
});
