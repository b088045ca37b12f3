// Where a server listens, and how it says so.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
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

  test('a taken port is a typed refusal', async () => {
    await using kit = await TestServer.start({ routes: [ok] });
    await using other = new HttpServer({ routes: [ok], log: recordLog().log });
    await expect(other.listen({ port: kit.port })).rejects.toMatchObject({
      name: 'ListenError',
      code: 'cannot_listen',
      message: expect.stringContaining('somebody else is listening there already (EADDRINUSE)'),
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

describe('listening on a Unix socket', () => {
  test('answers there, to this user only, and leaves no file behind', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 's');
    const server = newServer();
    expect(await server.listen({ path })).toEqual({ kind: 'unix', path });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await statusOf(path)).toBe(200);
    await server.close();
    expect(await readdir(dir.path)).toEqual([]);
  });

  test('takes the place of one that died without removing its file', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 's');
    await leaveSocketBehind(path);
    await using server = newServer();
    await server.listen({ path });
    expect(await statusOf(path)).toBe(200);
  });

  test('is refused where somebody listens, and where there is a file of another kind', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 's');
    await using first = newServer();
    await first.listen({ path });
    await using second = newServer();
    await expect(second.listen({ path })).rejects.toMatchObject({
      name: 'ListenError',
      code: 'cannot_listen',
      message: expect.stringContaining('already') as string,
      cause: { code: 'address_in_use' },
    });
    expect(await statusOf(path)).toBe(200);
    const file = join(dir.path, 'file');
    await writeFile(file, 'precious');
    await expect(second.listen({ path: file })).rejects.toMatchObject({ cause: { code: 'not_a_socket' } });
    expect(await readFile(file, 'utf8')).toBe('precious');
    await second.listen({ path: join(dir.path, 'other') }); // and it may try elsewhere
    expect(await statusOf(join(dir.path, 'other'))).toBe(200);
  });

  test('a second time is refused, and the first goes on', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 's');
    await using server = newServer();
    const first = server.listen({ path });
    await expect(server.listen({ path: join(dir.path, 'other') })).rejects.toThrow(ListenError);
    await first;
    await expect(server.listen({ path: join(dir.path, 'other') })).rejects.toThrow(ListenError);
    expect(await statusOf(path)).toBe(200);
    expect(await readdir(dir.path)).toEqual(['s']);
  });

  test.each(['a path', 'a port'])(
    'closed while it begins to listen on %s it does not listen',
    async (what) => {
      await using dir = await tempDir();
      const server = newServer();
      const listening = server.listen(what === 'a port' ? {} : { path: join(dir.path, 's') });
      const [outcome] = await Promise.allSettled([listening, server.close()]);
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ClosedError) as ClosedError });
      expect(await readdir(dir.path)).toEqual([]);
    },
  );

  test('removes only its own file when it closes', async () => {
    await using dir = await tempDir();
    const path = join(dir.path, 's');
    const server = newServer();
    await server.listen({ path });
    await rm(path);
    await writeFile(path, 'of somebody else');
    await server.close();
    expect(await readFile(path, 'utf8')).toBe('of somebody else');
  });
});

function newServer(): HttpServer {
  return new HttpServer({ routes: [ok], log: recordLog().log });
}

async function tempDir(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'hawser-http-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

function statusOf(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ socketPath, path: '/ok', agent: false }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode));
    });
    req.on('error', reject).end();
  });
}

/** As a process does that is killed while it listens. */
async function leaveSocketBehind(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script], { stdio: 'ignore' }), 'exit');
}
