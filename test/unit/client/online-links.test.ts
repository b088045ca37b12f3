// Links to a daemon against a stand-in that does what no daemon of ours would: what they cap, and what they say.

import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { MAX_POSTS, openHttpLink, POLL_MS, RETRY_MS } from '../../../src/client/rex/http-link.js';
import { HttpPoster, MAX_HTTP_ANSWER_BYTES, MAX_SOCKETS } from '../../../src/client/rex/http-poster.js';
import { addressOf, credentialsOf, MAX_TOKEN_FILE_BYTES } from '../../../src/client/rex/online.js';
import {
  HANDSHAKE_MS,
  MAX_ANSWER_FRAME_BYTES,
  openWebSocketLink,
} from '../../../src/client/rex/websocket-link.js';
import { MAX_REQUESTS_IN_FLIGHT } from '../../../src/rexd/daemon/daemon.js';
import { MAX_WEBSOCKETS, WebSockets } from '../../../src/rexd/daemon/web-sockets.js';
import type { UpgradeRequest } from '../../../src/wire/http/server.js';
import { answerMessage, MAX_CALLS_OF_A_BATCH } from '../../../src/wire/jsonrpc/answer-message.js';
import {
  MAX_FRAME_BYTES,
  PING_MS,
  SILENCE_MS,
  STALL_MS,
  webSocketLink,
} from '../../../src/wire/transport/websocket.js';
import { until } from '../../helpers/wait.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const ends: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('not more than so many posts are under way, over not more connections than that', async () => {
  let most = 0;
  const waiting: (() => void)[] = [];
  const url = await serve((req, res) => {
    req.resume();
    most = Math.max(
      most,
      waiting.push(() => res.writeHead(204).end()),
    );
  });
  const link = openHttpLink({ url });
  ends.push(() => link.close());
  let taken = 0;
  for (let i = 0; i < 2 * MAX_POSTS; i++)
    link.output.write(`{"jsonrpc":"2.0","id":${i},"method":"fs.stat","params":{}}\n`, () => (taken += 1));
  await until(() => waiting.length === MAX_POSTS, 'as many as may be');
  expect([taken, most]).toEqual([MAX_POSTS - 1, MAX_POSTS]);
  expect(MAX_POSTS).toBeLessThan(MAX_SOCKETS);
  expect(MAX_SOCKETS).toBeLessThan(MAX_REQUESTS_IN_FLIGHT);
  const flow = setInterval(() => waiting.splice(0).forEach((answer) => answer()), 1);
  await until(() => taken === 2 * MAX_POSTS, 'all to be taken');
  clearInterval(flow);
});

test('an answer without end is cut off, and one of another kind says who answered', async () => {
  const url = await serve((req, res) => {
    req.resume();
    res.writeHead(200, { 'Content-Type': 'application/json' });
    const more = (): void => {
      while (res.write(Buffer.alloc(1024 * 1024, 0x20)));
      res.once('drain', more);
    };
    more();
  });
  const poster = new HttpPoster({ url });
  ends.push(() => poster.close());
  const posted = poster.post(Buffer.from('{}'), new AbortController().signal);
  await expect(posted).rejects.toThrow(String(MAX_HTTP_ANSWER_BYTES));
});

test('polls are shorter than proxies wait, and retries end before people give up', () => {
  expect(POLL_MS).toBeLessThan(30_000);
  expect(RETRY_MS).toBeLessThan(POLL_MS);
  expect(HANDSHAKE_MS).toBeLessThan(20_000);
});

test('addresses and tokens that cannot be used are refused in plain words', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-online-'));
  ends.push(() => removeFolder(folder));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'x'.repeat(MAX_TOKEN_FILE_BYTES + 1), { mode: 0o600 });
  const target = { transport: 'http' as const, url: 'http://localhost:1', workspaceRoots: [] };
  expect(() => credentialsOf({ ...target, tokenFile }, {})).toThrow('too long');
  writeFileSync(tokenFile, ' \n');
  expect(() => credentialsOf({ ...target, tokenFile }, {})).toThrow('no token');
  expect(credentialsOf({ ...target, tokenEnv: 'A' }, { A: 't' }).token).toBe('t');
  expect(addressOf({ url: 'http://localhost:1' }, 'ws').href).toBe('ws://localhost:1/ws');
  expect(addressOf({ url: 'wss://h/x' }, 'http').href).toBe('https://h/x');
  for (const url of ['nowhere', 'ftp://x', 'http://user:secret@localhost'])
    expect(() => addressOf({ url }, 'http')).toThrow(/address|spoken/);
});

test('a WebSocket that does not answer is given up, and a frame that is too long ends it', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
  await once(server, 'listening');
  ends.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accepted = once(server, 'connection') as Promise<[WebSocket]>;
  const socket = new WebSocket(`${url}/ws`);
  await once(socket, 'open');
  const link = webSocketLink(socket, { name: 'ws', pingMs: 20, silenceMs: 100, stallMs: 200 });
  const [failed] = (await once(link.input, 'error')) as [Error];
  expect(failed.message).toContain('no sign of life for 100 ms');
  (await accepted)[0].terminate();
  expect(PING_MS).toBeLessThan(SILENCE_MS);
  expect(SILENCE_MS).toBeLessThan(STALL_MS);
  expect(MAX_FRAME_BYTES).toBeLessThan(MAX_ANSWER_FRAME_BYTES);
  const next = once(server, 'connection') as Promise<[WebSocket]>;
  const long = await openWebSocketLink({ url });
  ends.push(() => long.close());
  const [peer] = await next;
  peer.send(Buffer.alloc(MAX_ANSWER_FRAME_BYTES + 1, 0x20), { binary: false });
  const [ended] = (await once(long.input, 'error')) as [Error];
  expect(ended.message).toMatch(/code 10(?:06|09)/);
});

test('one WebSocket more than there may be is refused', async () => {
  const sockets = new WebSockets({
    path: '/ws',
    access: { authorise: () => 'x' },
    onLink: () => {},
    maxOpen: 0,
  });
  expect(MAX_WEBSOCKETS).toBeGreaterThan(100);
  await expect(
    sockets.accept({ target: { path: '/ws', query: '' } } as UpgradeRequest),
  ).rejects.toMatchObject({
    status: 503,
  });
});

test('a batch runs only so many of its calls at once', async () => {
  let running = 0;
  let most = 0;
  const batch = Array.from({ length: 3 * MAX_CALLS_OF_A_BATCH }, (_, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'x',
  }));
  const answer = await answerMessage(Buffer.from(JSON.stringify(batch)), {
    onCall: async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return running;
    },
  });
  expect(most).toBe(MAX_CALLS_OF_A_BATCH);
  expect((JSON.parse(String(answer)) as unknown[]).length).toBe(batch.length);
});
