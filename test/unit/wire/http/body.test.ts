// Request bodies: what is read, what is refused, and that a refusal can be read by the client.

import { once } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { readBody, readJson, type ReadJsonOptions } from '../../../../src/wire/http/body.js';
import { sendEmpty, sendJson, sendText } from '../../../../src/wire/http/reply.js';
import type { Route } from '../../../../src/wire/http/router.js';
import type { HttpSettings } from '../../../../src/wire/http/settings.js';
import { until } from '../../../helpers/wait.js';
import { gate, type RawClient, type RawResponse, request, route, TestServer } from './kit.js';

const CAP = 1000;
const LONG_MS = 60_000; // a pause of this process is not a client that takes too long
const echo = route(
  '/echo',
  async (ctx) => sendText(ctx, 200, (await readBody(ctx)).toString('latin1')),
  'POST',
);
const json = (options: ReadJsonOptions = {}): Route =>
  route('/json', async (ctx) => sendJson(ctx, 200, await readJson(ctx, options)), 'POST');

const start = (settings: Partial<HttpSettings> = {}, routes: Route[] = [echo]): Promise<TestServer> =>
  TestServer.start({ routes, settings: { maxBodyBytes: CAP, ...settings } });

describe('reading', () => {
  test.each(['', 'x', 'x'.repeat(CAP)])('a body up to the cap arrives whole (%#)', async (body) => {
    await using kit = await start();
    expect(await kit.exchange(request('POST /echo', {}, body))).toMatchObject({ status: 200, body });
    expect(await kit.exchange(chunked([body]))).toMatchObject({ status: 200, body });
  });

  test('any bytes in any chunking are the same bytes, and past the cap always a 413', async () => {
    await using kit = await start();
    const pieces = fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 300 }), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), async (parts, announced) => {
        const body = parts.join('');
        const { status, body: answer } = await kit.exchange(
          announced ? request('POST /echo', {}, body) : chunked(parts),
        );
        expect(status).toBe(body.length > CAP ? 413 : 200);
        expect(status === 413 || answer === body).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test('a client that leaves in the middle ends the reading, and nobody is alarmed', async () => {
    const failed = gate<unknown>();
    const reader = route(
      '/read',
      async (ctx) => {
        await readBody(ctx).catch((error: unknown) => {
          failed.open(error);
          throw error;
        });
      },
      'POST',
    );
    await using kit = await start({}, [reader]);
    const client = await kit.connect();
    client.write(request('POST /read', { 'Content-Length': '10' }) + 'half');
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    await client[Symbol.asyncDispose]();
    expect(await failed.promise).toMatchObject({ code: 'client_gone' });
    await until(() => kit.server.inFlight === 0, 'the request to be over');
    expect(kit.problems()).toEqual([]);
  });

  test('a body is read once; asking again is a mistake that does not hang', async () => {
    const twice = route(
      '/twice',
      async (ctx) => {
        await readBody(ctx);
        await readBody(ctx);
      },
      'POST',
    );
    await using kit = await start({}, [twice]);
    expect((await kit.exchange(request('POST /twice', {}, 'x'))).status).toBe(500);
    expect(JSON.stringify(kit.problems())).toContain('has been read before');
  });

  test.each(['gzip', 'br', 'gzip, identity'])('a body in %s is refused with 415', async (encoding) => {
    await using kit = await start();
    const { status, headers } = await kit.exchange(
      request('POST /echo', { 'Content-Encoding': encoding }, 'x'),
    );
    expect([status, headers['Accept-Encoding']]).toEqual([415, 'identity']);
  });

  test('a body that says it is not encoded is read', async () => {
    await using kit = await start();
    expect((await kit.exchange(request('POST /echo', { 'Content-Encoding': 'Identity' }, 'x'))).status).toBe(
      200,
    );
  });
});

describe('a body that is too large', () => {
  const facts = ({ status, headers, body }: RawResponse): unknown => [
    status,
    headers['Connection'],
    JSON.parse(body),
  ];
  const REFUSED = [
    413,
    'close',
    { error: { code: 'body_too_large', message: `the request body exceeds ${CAP} bytes` } },
  ];

  test('is refused by its announced length before a byte of it has come', async () => {
    await using kit = await start({ drainMs: 20 });
    await using client = await kit.connect();
    client.write(request('POST /echo', { 'Content-Length': String(CAP + 1) }));
    expect(facts(await client.response())).toEqual(REFUSED);
    await client.closed(); // nothing comes, and the wait for it is short
  });

  test('is refused when it passes the cap unannounced', async () => {
    await using kit = await start();
    expect(facts(await kit.exchange(chunked(['x'.repeat(CAP), 'x'])))).toEqual(REFUSED);
  });

  test.each([
    ['announced', request('POST /echo', { 'Content-Length': String(20 * 2 ** 20) })],
    [
      'chunked',
      `${request('POST /echo', { 'Transfer-Encoding': 'chunked' })}${(20 * 2 ** 20).toString(16)}\r\n`,
    ],
  ])(
    'is refused so that a client which sends all of it before it reads gets the answer (%s)',
    async (_, head) => {
      await using kit = await start({ drainMs: LONG_MS });
      await using client = await kit.connect();
      client.socket.pause();
      client.write(head);
      await send(client, Buffer.alloc(20 * 2 ** 20));
      if (head.includes('chunked')) await send(client, Buffer.from('\r\n0\r\n\r\n'));
      client.socket.resume();
      expect(facts(await client.response())).toEqual(REFUSED);
      await client.closed();
      expect(client.error).toBeUndefined();
    },
  );

  test('that never ends is read only so far', async () => {
    const maxDrainBytes = 1024 * 1024;
    await using kit = await start({ maxDrainBytes, drainMs: LONG_MS });
    await using client = await kit.connect();
    client.write(`${request('POST /echo', { 'Transfer-Encoding': 'chunked' })}ffffffff\r\n`);
    let sent = 0;
    const block = Buffer.alloc(64 * 1024);
    while (!client.ended && !client.socket.destroyed) {
      await Promise.race([send(client, block).catch(() => {}), client.closed()]);
      sent += block.length;
    }
    expect(facts(await client.response())).toEqual(REFUSED);
    expect(sent).toBeGreaterThan(maxDrainBytes);
    expect(sent).toBeLessThan(maxDrainBytes + 16 * 1024 * 1024); // the kernel's buffers may hold some of it
  });

  test('that trickles is read only so long', async () => {
    await using kit = await start({ drainMs: 100 });
    await using client = await kit.connect();
    client.write(
      `${request('POST /echo', { 'Transfer-Encoding': 'chunked' })}ffffff\r\n${'x'.repeat(CAP + 1)}`,
    );
    const drip = setInterval(() => client.write('x'), 10);
    expect(facts(await client.response())).toEqual(REFUSED);
    await client.closed();
    clearInterval(drip);
  });

  test('is not read at all while the handler makes up its mind', async () => {
    const seen = gate<boolean>();
    const slow = route(
      '/slow',
      async (ctx) => {
        await readBody(ctx).catch((error: unknown) => {
          seen.open(ctx.req.isPaused());
          throw error;
        });
      },
      'POST',
    );
    await using kit = await start({}, [slow]);
    const text = chunked(['x'.repeat(CAP + 1)]).replace('/echo', '/slow');
    expect((await kit.exchange(text)).status).toBe(413);
    expect(await seen.promise).toBe(true);
  });

  test('does not keep the server from closing', async () => {
    await using kit = await start({ drainMs: LONG_MS, graceMs: 20 });
    await using client = await kit.connect();
    client.write(request('POST /echo', { 'Content-Length': '5000' }));
    expect(facts(await client.response())).toEqual(REFUSED);
    await kit.server.close();
    await client.closed();
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (line: string, length: number): string =>
    request(line, { Expect: '100-continue', 'Content-Length': String(length) });

  test('is answered when the body is wanted', async () => {
    await using kit = await start();
    await using client = await kit.connect();
    client.write(expecting('POST /echo', 5));
    expect((await client.response()).head).toBe('HTTP/1.1 100 Continue');
    client.write('hello');
    expect(await client.response()).toMatchObject({ status: 200, body: 'hello' });
  });

  test('is not answered to HTTP/1.0, which does not know it', async () => {
    await using kit = await start();
    const text = 'POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n';
    await using client = await kit.connect();
    client.write(text);
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    client.write('hello');
    expect(await client.response()).toMatchObject({ status: 200, body: 'hello' });
  });

  test.each([
    [413, 'POST /echo', CAP + 1],
    [404, 'POST /none', 5],
    [405, 'PUT /echo', 5],
  ])('is %d at once for %s when it is not', async (status, line, length) => {
    await using kit = await start({ drainMs: 20 });
    await using client = await kit.connect();
    client.write(expecting(line, length));
    const response = await client.response();
    expect([response.status, response.headers['Connection']]).toEqual([status, 'close']);
    await client.closed();
  });
});

describe('a body nobody wants', () => {
  test('may be sent without waiting for 100 Continue, and the answer can still be read', async () => {
    await using kit = await start({ drainMs: LONG_MS });
    await using client = await kit.connect();
    client.socket.pause();
    const length = 20 * 2 ** 20;
    client.write(request('POST /none', { Expect: '100-continue', 'Content-Length': String(length) }));
    await send(client, Buffer.alloc(length));
    client.socket.resume();
    expect((await client.response()).status).toBe(404);
    await client.closed();
    expect(client.error).toBeUndefined();
  });

  test('that is short and announced is skipped, and the connection goes on', async () => {
    await using kit = await start();
    await using client = await kit.connect();
    client.write(request('POST /none', {}, 'x'.repeat(100)) + request('POST /echo', {}, 'next'));
    expect((await client.response()).status).toBe(404);
    expect(await client.response()).toMatchObject({ status: 200, body: 'next' });
  });

  test('does not hold up the head of an answer that has no body', async () => {
    await using kit = await start({ drainMs: LONG_MS, graceMs: 20 });
    await using client = await kit.connect();
    client.write(request('HEAD /none', { 'Transfer-Encoding': 'chunked' }));
    expect((await client.response({ head: true })).status).toBe(404);
  });

  test.each([
    ['of unknown length', chunked(['x'])],
    ['longer than what is drained', request('POST /ignore', { 'Content-Length': '99999' })],
  ])('that is %s ends the connection after the answer', async (_, text) => {
    const ignore = route('/ignore', (ctx) => sendEmpty(ctx, 202), 'POST');
    await using kit = await start({ drainMs: 20, maxDrainBytes: 5000 }, [ignore]);
    await using client = await kit.connect();
    client.write(text.replace('/echo', '/ignore'));
    expect((await client.response()).headers).toMatchObject({ Connection: 'close' });
    await client.closed();
  });
});

describe('JSON', () => {
  const post = (kit: TestServer, body: string | Buffer, type: string | undefined = 'application/json') =>
    kit.exchange(
      request(
        'POST /json',
        type === 'none' ? {} : { 'Content-Type': type },
        Buffer.from(body).toString('latin1'),
      ),
    );

  test.each(['{}', '[1,"é😀"]', 'null', '0', ' "x" '])('%s is read', async (body) => {
    await using kit = await start({}, [json()]);
    await using client = await kit.connect();
    const bytes = Buffer.from(body, 'utf8');
    client.write(
      request('POST /json', { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) }),
    );
    client.write(bytes);
    expect(JSON.parse((await client.response()).body)).toEqual(JSON.parse(body));
  });

  test.each(['', '{', '{"a":}', 'undefined', "{'a':1}", '\ufeff{}', '{}{}'])('%j is a 400', async (body) => {
    await using kit = await start({}, [json()]);
    const response = await post(kit, body);
    expect([response.status, JSON.parse(response.body).error.code]).toEqual([400, 'invalid_json']);
  });

  test('bytes that are not UTF-8 are a 400, not replacement characters', async () => {
    await using kit = await start({}, [json()]);
    await using client = await kit.connect();
    client.write(request('POST /json', { 'Content-Type': 'application/json', 'Content-Length': '3' }));
    client.write(Buffer.from([0x22, 0xff, 0x22]));
    expect(JSON.parse((await client.response()).body)).toMatchObject({
      error: { message: expect.stringContaining('UTF-8') },
    });
  });

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; x=y; charset=utf8',
    'application/problem+json',
    'application/vnd.api+json',
  ])('Content-Type %s is JSON', async (type) => {
    await using kit = await start({}, [json()]);
    expect((await post(kit, '1', type)).status).toBe(200);
  });

  test.each([
    'none',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'text/plain; x=application/json',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/json, text/plain',
  ])('Content-Type %s is a 415, unless any will do', async (type) => {
    await using kit = await start({}, [json()]);
    await using lax = await start({}, [json({ anyContentType: true })]);
    expect((await post(kit, '1', type)).status).toBe(415);
    expect((await post(lax, '1', type)).status).toBe(200);
  });

  test('a schema gives the handler typed values, and the client the reason it was refused', async () => {
    const schema = z.object({ cmd: z.string(), topic: z.optional(z.string()) });
    const typed = route(
      '/json',
      async (ctx) => {
        const { cmd, topic } = await readJson(ctx, { schema });
        sendText(ctx, 200, `${topic ?? 'main'} ${cmd.trim()}`);
      },
      'POST',
    );
    await using kit = await start({}, [typed]);
    expect((await post(kit, '{"cmd":" /open x "}')).body).toBe('main /open x');
    const response = await post(kit, '{"cmd":7}');
    expect([response.status, JSON.parse(response.body)]).toEqual([
      400,
      { error: { code: 'invalid_body', message: 'cmd: expected string, got number' } },
    ]);
  });

  test('a handler may ask for a smaller cap', async () => {
    const hook = route(
      '/hook',
      async (ctx) => sendEmpty(ctx, (await readBody(ctx, { maxBytes: 3 })).length),
      'POST',
    );
    await using kit = await start({}, [hook]);
    expect((await kit.exchange(request('POST /hook', {}, 'four'))).status).toBe(413);
  });
});

function chunked(parts: readonly string[]): string {
  const chunks = parts
    .filter((part) => part !== '')
    .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  return `${request('POST /echo', { 'Transfer-Encoding': 'chunked' })}${chunks.join('')}0\r\n\r\n`;
}

/** Resolves when the bytes have left this process. */
async function send(client: RawClient, bytes: Buffer): Promise<void> {
  if (!client.socket.write(bytes))
    await Promise.race([once(client.socket, 'drain'), once(client.socket, 'close')]);
}
