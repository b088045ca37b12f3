// Where a server listens, and how it says so.

import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, describe, test } from 'vitest';
import { ClosedError } from '../../../../src/base/resource.js';
import { ListenError } from '../../../../src/wire/http/address.js';
import { sendJson } from '../../../../src/wire/http/reply.js';
import { HttpServer } from '../../../../src/wire/http/server.js';
import { recordLog, route, TestServer } from './kit.js';

const ok = route('/ok', (ctx) => sendJson(ctx, 200, { ok: true }));

describe('listening', () => {
  test('announces the port it was given and says so in the log', async () => {
    await using kit = await TestServer.start({ routes: [ok] });
    const address = { kind: 'tcp', host: '127.0.0.1', port: kit.port, url: `http://127.0.0.1:${kit.port}` };
    expect(kit.server.address).toEqual(address);
    expect(kit.records[0]).toMatchObject({ level: 'info', message: 'listening', facts: address });
  });

  test('an IPv6 address has brackets in its URL', async () => {
    await using server = new HttpServer({ routes: [ok], log: recordLog().log });
    const address = await server.listen({ host: '::1' });
    expect(address).toMatchObject({ kind: 'tcp', url: expect.stringMatching(/^http:\/\/\[::1\]:\d+$/) });
  });

  test('works on a Unix socket and leaves no file behind', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hawser-http-'));
    const path = join(dir, 's');
    const server = new HttpServer({ routes: [ok], log: recordLog().log });
    expect(await server.listen({ path })).toEqual({ kind: 'unix', path });
    const status = await new Promise((resolve, reject) => {
      const req = httpRequest({ socketPath: path, path: '/ok', agent: false }, (res) => {
        res.resume().on('end', () => resolve(res.statusCode));
      });
      req.on('error', reject).end();
    });
    expect(status).toBe(200);
    await server.close();
    await rm(dir, { recursive: true });
  });

  test('a taken port is a typed refusal', async () => {
    await using kit = await TestServer.start({ routes: [ok] });
    await using other = new HttpServer({ routes: [ok], log: recordLog().log });
    await expect(other.listen({ port: kit.port })).rejects.toMatchObject({
      name: 'ListenError',
      code: 'cannot_listen',
      facts: { errno: 'EADDRINUSE' },
    });
  });

  test('a port that cannot be is the same kind of refusal, and so is listening twice', async () => {
    await using server = new HttpServer({ routes: [ok], log: recordLog().log });
    await expect(server.listen({ port: 70_000 })).rejects.toThrow(ListenError);
    await server.listen();
    await expect(server.listen()).rejects.toMatchObject({ code: 'cannot_listen' });
  });

  test('a closed server does not listen again', async () => {
    const server = new HttpServer({ routes: [ok], log: recordLog().log });
    await server.close();
    await expect(server.listen()).rejects.toThrow(ClosedError);
  });
});
