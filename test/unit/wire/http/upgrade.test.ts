// The door for other protocols on the same port: guarded, and closed with the server.

import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { HttpError } from '../../../../src/wire/http/errors.js';
import { sendText } from '../../../../src/wire/http/reply.js';
import type { HttpServerOptions, UpgradeRequest } from '../../../../src/wire/http/server.js';
import { until } from '../../../helpers/wait.js';
import { gate, request, route, TestServer } from './kit.js';

const UPGRADE = { Connection: 'Upgrade', Upgrade: 'shout' };
const ok = route('/ok', (ctx) => sendText(ctx, 200, 'ok'));
const CORS = { 'Access-Control-Allow-Origin': '*' };

const start = (
  onUpgrade: HttpServerOptions['onUpgrade'],
  more: Partial<HttpServerOptions> = {},
): Promise<TestServer> =>
  TestServer.start({
    routes: [ok],
    settings: { graceMs: 30 },
    ...(onUpgrade !== undefined && { onUpgrade }),
    ...more,
  });

function shout({ socket, head }: UpgradeRequest): void {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n');
  const say = (bytes: Buffer): void => void socket.write(bytes.toString().toUpperCase());
  if (head.length > 0) say(head);
  socket.on('data', say);
}

test('a handler takes the connection over, early bytes included', async () => {
  const asked = gate<UpgradeRequest>();
  await using kit = await start((upgrade) => {
    asked.open(upgrade);
    shout(upgrade);
  });
  await using client = await kit.connect();
  client.write(`${request('GET /ws?x=1', UPGRADE)}early `);
  await client.seen('EARLY');
  client.write('late');
  await client.seen('EARLY LATE');
  expect((await asked.promise).target).toEqual({ path: '/ws', query: 'x=1' });
});

test('without a handler it is an ordinary request', async () => {
  await using kit = await start(undefined);
  expect(await kit.exchange(request('GET /ok', UPGRADE))).toMatchObject({ status: 200, body: 'ok' });
});

describe('refusals', () => {
  test('the guard stands before it', async () => {
    let reached = false;
    const guard = () => ({ status: 403, code: 'forbidden', message: 'no' });
    await using kit = await start(() => void (reached = true), { guard, headers: CORS });
    const { status, headers, body } = await kit.exchange(request('GET /ws', UPGRADE));
    expect([status, JSON.parse(body).error.code, reached]).toEqual([403, 'forbidden', false]);
    expect(headers).toMatchObject({ ...CORS, Connection: 'close' });
  });

  test('a handler refuses by throwing, in the usual shape', async () => {
    await using kit = await start(
      async () => {
        throw new HttpError(404, 'not_found', 'no such socket');
      },
      { errors: { body: (error, { path }) => ({ error: `${error.message}: ${path}` }) } },
    );
    const { status, body } = await kit.exchange(request('GET /ws', UPGRADE));
    expect([status, JSON.parse(body)]).toEqual([404, { error: 'no such socket: /ws' }]);
    expect(kit.problems()).toEqual([]);
  });

  test('a handler that breaks is a 500 and a line in the log', async () => {
    await using kit = await start(() => {
      throw new Error('bug');
    });
    expect((await kit.exchange(request('GET /ws', UPGRADE))).status).toBe(500);
    expect(kit.problems()).toHaveLength(1);
  });

  test('a refused connection is gone as soon as the client is', async () => {
    const guard = () => ({ status: 403, code: 'forbidden', message: 'no' });
    await using kit = await start(shout, { guard, settings: { drainMs: 60_000, graceMs: 30 } });
    await using client = await kit.connect();
    client.write(`${request('GET /ws', UPGRADE)}early`);
    expect((await client.response()).status).toBe(403);
    client.write('and more');
    client.socket.end();
    await until(() => kit.server.connections === 0, 'the server to let go');
  });

  test('two Hosts or an endless URL are refused as for any request', async () => {
    await using kit = await start(shout);
    expect((await kit.exchange(request('GET /ws', { ...UPGRADE, host: 'b' }))).status).toBe(400);
    expect((await kit.exchange(request(`GET /${'x'.repeat(9000)}`, UPGRADE))).status).toBe(414);
  });
});

describe('closing', () => {
  test('the protocol is told and may say goodbye', async () => {
    await using kit = await start(
      (upgrade) => {
        shout(upgrade);
        upgrade.draining.addEventListener('abort', () => upgrade.socket.end('bye'));
      },
      { settings: { graceMs: 60_000 } },
    );
    await using client = await kit.connect();
    client.write(`${request('GET /ws', UPGRADE)}x`);
    await client.seen('X');
    const closing = kit.server.close();
    await client.seen('bye');
    client.socket.end();
    await closing;
    expect(kit.server.connections).toBe(0);
  });

  test('a protocol that does not listen is cut off after the grace', async () => {
    await using kit = await start(shout, { settings: { graceMs: 30 } });
    await using client = await kit.connect();
    client.write(`${request('GET /ws', UPGRADE)}x`);
    await client.seen('X');
    await kit.server.close();
    await client.closed();
    expect(kit.server.connections).toBe(0);
  });

  test('a reset of the connection is nobody’s unhandled error', async () => {
    const taken = gate<Socket>();
    await using kit = await start((upgrade) => {
      shout(upgrade);
      taken.open(upgrade.socket);
    });
    await using client = await kit.connect();
    client.write(`${request('GET /ws', UPGRADE)}x`);
    const socket = await taken.promise;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    client.socket.resetAndDestroy();
    await closed;
    await until(() => kit.server.connections === 0, 'the connection to be forgotten');
    expect(kit.problems()).toEqual([]);
  });
});
