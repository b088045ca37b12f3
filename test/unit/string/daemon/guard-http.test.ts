import { expect, test } from 'vitest';
import { MAX_REQUESTS_IN_FLIGHT } from '../../../../src/string/daemon/daemon.js';
import { CORS_HEADERS, ROUTES } from '../../../../src/string/protocol.js';
import { openDaemon } from './daemon-place.js';

const FORGED: readonly Record<string, string>[] = [
  { Host: 'evil.example' },
  { Host: '127.0.0.1.evil.example:3923' },
  { Host: 'localhost.evil.example' },
  { Host: '10.0.0.1' },
  { Origin: 'https://evil.example' },
  { Origin: 'null' },
  { Origin: 'http://127.0.0.1.evil.example' },
  { Origin: 'file://' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://127.0.0.1:8000' },
];

const cors = Object.fromEntries(
  Object.entries(CORS_HEADERS).map(([name, value]) => [name.toLowerCase(), value]),
);

test('no web page gets anything, by whatever route and method; the headers of the protocol are there all the same', async () => {
  await using place = await openDaemon();
  for (const { method, path } of Object.values(ROUTES))
    for (const headers of FORGED)
      for (const each of [method, 'OPTIONS']) {
        const reply = await place.ask(path.replace('/shutdown', '/shutdown?x').replaceAll(/:\w+/g, 'x'), {
          method: each,
          headers: { ...headers, 'X-Agent-Id': 'me' },
        });
        expect([reply.status, each, path, headers]).toEqual([403, each, path, headers]);
        expect(reply.json).toEqual({ error: expect.any(String) });
        expect(reply.headers).toMatchObject(cors);
      }
  expect(place.stops).toEqual([]);
});

test('OPTIONS is answered by 204 on every route, with the headers and no body', async () => {
  await using place = await openDaemon();
  for (const { path } of Object.values(ROUTES)) {
    const reply = await place.ask(path.replaceAll(/:\w+/g, 'x'), {
      method: 'OPTIONS',
      headers: { Origin: 'http://localhost:5173', 'Access-Control-Request-Method': 'POST' },
    });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(reply.headers).toMatchObject(cors);
  }
});

test('permissive lets everything in', async () => {
  await using place = await openDaemon({ cors: 'permissive' });
  for (const headers of FORGED) expect((await place.ask('/health', { headers })).status).toBe(200);
});

test('every answer has the headers, whatever it is', async () => {
  await using place = await openDaemon();
  for (const [path, method] of [
    ['/health', 'GET'],
    ['/nowhere', 'GET'],
    ['/exec', 'POST'],
    ['/webhook/x', 'POST'],
    ['/mcp', 'GET'],
    ['/metrics', 'GET'],
    ['/openapi.json', 'GET'],
    ['/%zz', 'GET'],
  ] as const)
    expect((await place.ask(path, { method })).headers).toMatchObject(cors);
  expect(MAX_REQUESTS_IN_FLIGHT).toBe(2048);
});
