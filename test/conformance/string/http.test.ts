// The ground of the protocol: where it listens, what every answer has, who is let in.

import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'vitest';
import { CORS_HEADERS, ROUTES } from '../../../src/string/protocol.js';
import { ME, shareStringd, StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();

verifies('string/http/loopback', async (_, skip) => {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const other = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  if (other === undefined) return skip('this machine has no address but loopback');
  const stringd = shared();
  const outcome = await new Promise((resolve) => {
    const socket = connect(stringd.port, other);
    socket.once('connect', () => resolve('connected')).once('error', () => resolve('refused'));
    socket.once('connect', () => socket.destroy());
  });
  expect(outcome).toBe('refused');
});

verifies('string/http/body-cap', async () => {
  const stringd = shared();
  const body = Buffer.alloc(10 * 1024 * 1024 + 1, 0x20);
  const headers = { ...ME, 'Content-Type': 'application/json' };
  for (const path of ['/exec', '/agents', '/sessions', '/mcp'])
    expect((await stringd.ask(path, { body, headers })).status).toBe(413);
  expect((await stringd.ask('/exec', { body: body.subarray(2), headers })).status).toBe(400);
});

verifies('string/http/no-auth', async () => {
  await using stringd = await StringdUnderTest.start();
  const headers = { 'X-Agent-Id': 'nobody' };
  expect((await stringd.ask('/health', { headers })).status).toBe(200);
  expect((await stringd.ask('/agents', { headers })).status).toBe(200);
  expect((await stringd.ask('/agents', { headers, json: { agent_id: 'x' } })).status).toBe(200);
  expect((await stringd.ask('/shutdown', { headers, method: 'POST' })).status).toBe(200);
});

verifies('string/http/cors', async () => {
  const stringd = shared();
  const replies = await Promise.all([
    stringd.ask('/health'),
    stringd.ask('/nowhere'),
    stringd.exec('main', '/info'),
    stringd.ask('/exec', { json: {} }),
    stringd.ask('/webhook/x', { body: 'x' }),
    stringd.ask('/mcp', { json: { jsonrpc: '2.0', id: 1, method: 'ping' } }),
    stringd.ask('/health', { method: 'OPTIONS' }),
  ]);
  for (const { headers } of replies) {
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-headers']).toBe(CORS_HEADERS['Access-Control-Allow-Headers']);
  }
});

verifies('string/http/options', async () => {
  const stringd = shared();
  for (const { path } of Object.values(ROUTES)) {
    const reply = await stringd.ask(path.replaceAll(/:\w+/g, 'x'), { method: 'OPTIONS' });
    expect([reply.status, reply.text, path]).toEqual([204, '', path]);
  }
});

verifies('string/http/errors', async () => {
  const stringd = shared();
  for (const reply of [
    await stringd.ask('/nowhere'),
    await stringd.ask('/exec', { json: { cmd: '/info' } }),
    await stringd.ask('/webhook/x', { body: 'x' }),
    await stringd.ask('/agents', { json: {} }),
  ]) {
    expect(reply.headers['content-type']).toMatch(/^application\/json/);
    expect(typeof reply.json['error']).toBe('string');
    expect(reply.status).toBeGreaterThanOrEqual(400);
  }
});

verifies('string/http/unknown-route', async () => {
  const stringd = shared();
  const reply = await stringd.ask('/nowhere/at/all');
  expect([reply.status, reply.json]).toEqual([404, { error: 'Not found: GET /nowhere/at/all' }]);
});

verifies('string/http/web-pages', async () => {
  const stringd = shared();
  for (const { method, path } of Object.values(ROUTES))
    for (const forged of [
      { Host: 'evil.example' },
      { Origin: 'https://evil.example' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ] as Record<string, string>[]) {
      const reply = await stringd.ask(path.replaceAll(/:\w+/g, 'x'), {
        method,
        headers: { ...ME, ...forged },
      });
      expect([reply.status, method, path]).toEqual([403, method, path]);
      expect(reply.headers['access-control-allow-origin']).toBe('*');
    }
  expect((await stringd.ask('/health', { headers: { Origin: 'http://localhost:5173' } })).status).toBe(200);
});
