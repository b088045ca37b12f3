// Event streams: exact bytes, the client's pace, and every way they end.

import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { decodeEvents } from '../../../../src/wire/sse/decode.js';
import type { SseEvent } from '../../../../src/wire/sse/encode.js';
import {
  type EventStream,
  type EventStreamOptions,
  openEventStream,
  SSE_KEEP_ALIVE_MS,
  StreamFullError,
} from '../../../../src/wire/http/event-stream.js';
import type { HttpSettings } from '../../../../src/wire/http/settings.js';
import { until } from '../../../helpers/wait.js';
import { gate, type RawClient, request, route, TestServer } from './kit.js';

const BLOCK = 'x'.repeat(64 * 1024);

describe('what is sent', () => {
  test('three events have exactly these headers and bytes', async () => {
    const exec = route(
      '/exec',
      async (ctx) => {
        const stream = openEventStream(ctx);
        await stream.send({ event: 'head', data: '{"ok":true}' });
        await stream.send({ event: 'content', data: JSON.stringify('re: /x\nbody') });
        await stream.send({ event: 'done', data: '{}' });
        await stream.close();
      },
      'POST',
    );
    await using kit = await TestServer.start({ routes: [exec] });
    await using client = await kit.connect();
    client.write(request('POST /exec', {}, '{}'));
    await client.seen('0\r\n\r\n');
    const { head } = await client.response();
    expect(head.replace(/Date: .*/, 'Date: …').split('\r\n')).toEqual([
      'HTTP/1.1 200 OK',
      'Content-Type: text/event-stream',
      'Cache-Control: no-cache',
      'X-Accel-Buffering: no',
      'Date: …',
      'Connection: keep-alive',
      'Keep-Alive: timeout=30',
      'Transfer-Encoding: chunked',
    ]);
    expect(dechunk(client.received)).toBe(
      'event: head\ndata: {"ok":true}\n\nevent: content\ndata: "re: /x\\nbody"\n\nevent: done\ndata: {}\n\n',
    );
    client.received = '';
    client.write(request('GET /none'));
    expect((await client.response()).status).toBe(404); // the connection can be used again
  });

  test('the head goes out before the first event, with the status and headers asked for', async () => {
    await using open = await openOne({ status: 201, headers: { 'X-A': 'b', 'Cache-Control': 'no-store' } });
    await open.client.seen('\r\n\r\n');
    expect(open.client.received).toMatch(/^HTTP\/1.1 201 [^]*Cache-Control: no-store\r\n[^]*X-A: b\r\n/);
  });

  test('an HTTP/1.0 client gets plain bytes and a closed connection', async () => {
    await using open = await openOne({}, {}, 'GET /events HTTP/1.0\r\n\r\n');
    await open.stream.send({ data: 'x' });
    await open.stream.close();
    await open.client.closed();
    expect(open.client.received.endsWith('\r\n\r\ndata: x\n\n')).toBe(true);
  });

  test('HEAD gets the head and a stream that is over', async () => {
    await using open = await openOne({}, {}, request('HEAD /events'));
    expect((await open.client.response({ head: true })).headers['Content-Type']).toBe('text/event-stream');
    await expect(open.stream.send({ data: 'x' })).rejects.toMatchObject({ code: 'closed' });
  });

  test('a comment is sent after each silence, not between events', async () => {
    await using open = await openOne({ keepAliveMs: 40 });
    for (let i = 0; i < 10; i++) {
      await open.stream.send({ data: String(i) });
      await open.client.seen(`data: ${i}\n`);
    }
    await until(() => open.client.received.split(': keep-alive\n\n').length > 3, 'three comments');
    await open.stream.comment('own');
    expect(await open.client.seen(': own\n\n')).toBe(true);
    expect(SSE_KEEP_ALIVE_MS).toBeLessThan(30_000); // what the least patient proxies allow
  });

  test('an event that cannot be written is refused and the stream goes on', async () => {
    await using open = await openOne();
    await expect(open.stream.send({ event: 'a\nb', data: '' })).rejects.toMatchObject({
      code: 'sse_unencodable',
    });
    await open.stream.send({ data: 'fine' });
    await open.client.seen('data: fine');
    expect(open.stream.closing).toBe(false);
  });

  test('a real reader gets every event in order through any back-pressure', async () => {
    const events: SseEvent[] = Array.from({ length: 300 }, (_, i) => ({
      id: String(i),
      data: `${i}\n${BLOCK.slice(i)}`,
    }));
    const source = route('/events', async (ctx) => {
      const stream = openEventStream(ctx);
      for (const event of events) await stream.send(event);
      await stream.close();
    });
    await using kit = await TestServer.start({ routes: [source] });
    const res = await get(`${kit.url}/events`);
    const seen: SseEvent[] = [];
    for await (const event of decodeEvents(res)) seen.push(event);
    expect(seen).toEqual(events);
  });
});

describe('a client that reads slowly', () => {
  test('makes send wait until it reads again, and memory stay flat', async () => {
    await using open = await openOne();
    open.client.socket.pause();
    let sent = 0;
    const sending = (async () => {
      for (; sent < 400; sent++) await open.stream.send({ data: BLOCK });
    })();
    await stalled(open);
    expect(sent).toBeLessThan(400);
    expect(open.queued()).toBeLessThan(2 * BLOCK.length);
    open.client.socket.resume();
    await sending;
    expect(sent).toBe(400);
  });

  test('cannot make a sender that does not wait pile up more than the cap', async () => {
    await using open = await openOne({ maxQueueBytes: 10 * BLOCK.length });
    open.client.socket.pause();
    const results = Array.from({ length: 400 }, () => open.stream.send({ data: BLOCK }));
    const settled = Promise.allSettled(results);
    expect(open.queued()).toBeLessThanOrEqual(10 * BLOCK.length);
    open.client.socket.resume();
    const refused = (await settled).filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(300);
    expect(refused.every(({ reason }) => reason instanceof StreamFullError)).toBe(true);
    await open.stream.send({ data: 'again' });
    await open.client.seen('data: again');
  });

  test('still gets one event larger than the whole queue', async () => {
    await using open = await openOne({ maxQueueBytes: 10 });
    await open.stream.send({ data: BLOCK });
    expect(await open.client.seen(`${BLOCK}\n\n`)).toBe(true);
  });

  test('gets no keep-alive on top of what it has not read', async () => {
    await using open = await openOne({ keepAliveMs: 5 });
    open.client.socket.pause();
    void open.stream.send({ data: 'x'.repeat(16 * 2 ** 20) }).catch(() => {});
    await stalled(open);
    const before = open.queued();
    const end = Date.now() + 60;
    await until(() => Date.now() > end, 'a dozen keep-alive times to pass');
    expect(open.queued()).toBe(before);
  });

  test('is cut off when it takes nothing at all for too long', async () => {
    await using open = await openOne({}, { stallMs: 60 });
    open.client.socket.pause();
    await expect(open.stream.send({ data: 'x'.repeat(16 * 2 ** 20) })).rejects.toMatchObject({
      code: 'client_gone',
    });
    await until(() => open.kit.server.connections === 0, 'the connection to be gone');
  });

  test('is not cut off for a silence in which there was nothing to take', async () => {
    const stallMs = 60_000;
    await using open = await openOne({ keepAliveMs: Infinity }, { stallMs });
    for (let i = 0; i < 3; i++) {
      const sending = open.stream.send({ data: BLOCK }); // fills and drains
      expect(open.patience()).toBe(stallMs);
      await sending;
      expect(open.patience()).toBe(0); // nobody is waited for, and nobody's time runs out
    }
    await open.stream.send({ data: 'still here' });
    expect(await open.client.seen('still here')).toBe(true);
  });
});

describe('the end', () => {
  test('a client that leaves ends the stream: senders are told, the signal aborts', async () => {
    await using open = await openOne();
    open.client.socket.pause();
    const waiting = open.stream.send({ data: 'x'.repeat(16 * 2 ** 20) });
    const told = waiting.catch((error: unknown) => error);
    await open.client[Symbol.asyncDispose]();
    expect(await told).toMatchObject({ code: 'client_gone' });
    await until(() => open.stream.signal.aborted, 'the signal');
    expect(open.stream.signal.reason).toMatchObject({ code: 'client_gone' });
    await expect(open.stream.send({ data: 'x' })).rejects.toMatchObject({ code: 'client_gone' });
  });

  test('closing delivers what was sent before, to senders who did not wait as well', async () => {
    await using open = await openOne({ maxQueueBytes: Infinity });
    const sends = Array.from({ length: 50 }, () => open.stream.send({ data: BLOCK }));
    const closed = open.stream.close();
    await expect(open.stream.send({ data: 'late' })).rejects.toMatchObject({ code: 'closed' });
    await Promise.all([...sends, closed]);
    await open.client.seen('0\r\n\r\n');
    expect(open.client.received.split('data: ')).toHaveLength(51);
  });

  test('a signal ends it, also one that has aborted before', async () => {
    const stop = new AbortController();
    await using open = await openOne({ until: stop.signal });
    stop.abort();
    await open.client.seen('0\r\n\r\n');
    await using over = await openOne({ until: stop.signal });
    await over.client.seen('0\r\n\r\n');
    expect([open.stream.closing, over.stream.closing]).toEqual([true, true]);
  });

  test('opened for a client that has already left, it is over from the start', async () => {
    const left = gate();
    const opened = gate<EventStream>();
    const late = route('/events', async (ctx) => {
      await left.promise;
      opened.open(openEventStream(ctx));
    });
    await using kit = await TestServer.start({ routes: [late] });
    const client = await kit.connect();
    client.write(request('GET /events'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    await client[Symbol.asyncDispose]();
    await until(() => kit.server.inFlight === 0, 'the server to notice');
    left.open();
    const stream = await opened.promise;
    await expect(stream.send({ data: 'x' })).rejects.toMatchObject({ code: 'client_gone' });
    await stream.close();
    expect(kit.problems()).toEqual([]);
  });

  test('a handler that fails in the middle cuts the stream off without its end', async () => {
    const broken = route('/events', async (ctx) => {
      await openEventStream(ctx).send({ data: 'x' });
      await until(() => ctx.res.writableLength === 0, 'the event to go out');
      throw new Error('broken');
    });
    await using kit = await TestServer.start({ routes: [broken] });
    await using client = await kit.connect();
    client.write(request('GET /events'));
    await client.closed();
    expect(client.received).toContain('data: x');
    expect(client.received).not.toContain('0\r\n\r\n');
    expect(kit.problems()).toHaveLength(1);
  });
});

interface Open extends AsyncDisposable {
  readonly kit: TestServer;
  readonly client: RawClient;
  readonly stream: EventStream;
  /** Bytes the server holds for the client. */
  readonly queued: () => number;
  /** For how long the client may take nothing; 0 is for ever. */
  readonly patience: () => number | undefined;
}

/** A server with one stream, open on both sides. */
async function openOne(
  options: EventStreamOptions = {},
  settings: Partial<HttpSettings> = {},
  text = request('GET /events'),
): Promise<Open> {
  const opened = gate<Pick<Open, 'stream' | 'queued' | 'patience'>>();
  const events = route('/events', async (ctx) => {
    const stream = openEventStream(ctx, options);
    opened.open({
      stream,
      queued: () => ctx.res.writableLength,
      patience: () => ctx.res.socket?.timeout,
    });
    if (!stream.signal.aborted) await once(stream.signal, 'abort');
  });
  const kit = await TestServer.start({ routes: [events], settings: { graceMs: 50, ...settings } });
  const client = await kit.connect();
  client.write(text);
  const { stream, queued, patience } = await opened.promise;
  return {
    kit,
    client,
    stream,
    queued,
    patience,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await kit.server.close();
    },
  };
}

/** Until the client's and the kernel's buffers are full and the server's own queue stands still. */
async function stalled({ queued }: Open): Promise<void> {
  let last = -1;
  let looks = 0; // not a time: one in which this process did nothing says nothing
  await until(() => {
    if (queued() !== last || last === 0) looks = 0;
    last = queued();
    looks += 1;
    return looks > 10;
  }, 'the stream to stall');
}

function dechunk(text: string): string {
  let out = '';
  let at = 0;
  for (;;) {
    const end = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, end), 16);
    if (size === 0) return out;
    out += text.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}

function get(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet(url, { agent: false }, resolve).on('error', reject);
  });
}
