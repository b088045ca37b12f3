import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RpcPeer } from '../../../../src/wire/jsonrpc/peer.js';
import type { Link } from '../../../../src/wire/transport/link.js';
import {
  CONNECT_MS,
  connectSocket,
  listenSocket,
  MAX_CONNECTIONS,
  type SocketAddress,
  type SocketListener,
} from '../../../../src/wire/transport/socket.js';
import {
  claimSocketPath,
  MAX_SOCKET_PATH_BYTES,
  TAKEOVER_MS,
} from '../../../../src/wire/transport/socket-path.js';
import { stopTimers } from '../../../helpers/stop-timers.js';
import { until } from '../../../helpers/wait.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'socket-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const anyPort = { host: '127.0.0.1', port: 0 };
const path = (): string => join(dir, 'a.sock');

/** Echoes every request; the listener closes its links. */
function serveEcho(address: SocketAddress, maxConnections?: number): Promise<SocketListener> {
  return listenSocket(address, {
    onLink: (link) => void new RpcPeer(link, { onRequest: (call) => Promise.resolve(call.params) }),
    ...(maxConnections !== undefined && { maxConnections }),
  });
}

describe.each([
  ['unix socket', (): SocketAddress => ({ path: path() })],
  ['TCP', (): SocketAddress => anyPort],
])('%s', (_kind, address) => {
  test('carries requests both ways and closes gracefully from either side', async () => {
    await using listener = await serveEcho(address());
    const peer = new RpcPeer(await connectSocket(listener.address));
    const big = { text: 'x'.repeat(2_000_000) };
    await expect(peer.request('m', big)).resolves.toEqual(big);
    await until(() => listener.connections === 1, 'the connection to be counted');
    await peer.close();
    await until(() => listener.connections === 0, 'the connection to be gone');
    const other = new RpcPeer(await connectSocket(listener.address));
    await expect(other.request('m', [1])).resolves.toEqual([1]);
    await listener.close();
    await expect(other.closed).resolves.toBeUndefined();
  });

  test('a side that has said all still gets its answers', async () => {
    await using listener = await serveEcho(address());
    const link = await connectSocket(listener.address);
    link.output.end(
      '{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}\n{"jsonrpc":"2.0","id":2,"method":"m"}',
    );
    expect(await text(link.input)).toBe(
      '{"jsonrpc":"2.0","id":1,"result":[1]}\n{"jsonrpc":"2.0","id":2,"result":null}\n',
    );
    await link.close();
  });

  test('bytes written just before the close arrive, also over bytes that nobody read', async () => {
    const links: Link[] = [];
    await using listener = await listenSocket(address(), { onLink: (link) => links.push(link) });
    const client = await connectSocket(listener.address);
    client.output.write(Buffer.alloc(100_000));
    await until(() => links.length === 1, 'the connection');
    const reply = Buffer.alloc(500_000, 'r');
    links[0]?.output.write(reply);
    using still = stopTimers(); // the client takes what it is given: its time does not run out
    void still;
    const closing = links[0]?.close();
    const got = await text(client.input);
    expect(got.length).toBe(reply.length);
    await client.close();
    await closing;
  });

  test('a connection too many is closed, and its place can be taken again', async () => {
    await using listener = await serveEcho(address(), 1);
    const first = new RpcPeer(await connectSocket(listener.address));
    await expect(first.request('m', [1])).resolves.toEqual([1]);
    const second = new RpcPeer(await connectSocket(listener.address));
    await expect(second.request('m')).rejects.toThrow(/closed|broke/);
    await second.close();
    await first.close();
    await until(() => listener.connections === 0, 'the first to be gone');
    const third = new RpcPeer(await connectSocket(listener.address));
    await expect(third.request('m', [3])).resolves.toEqual([3]);
    await third.close();
  });

  test('a handler of connections that throws loses that connection only', async () => {
    let count = 0;
    await using listener = await listenSocket(address(), {
      onLink: (link) => {
        count += 1;
        if (count === 1) throw new Error('no');
        void new RpcPeer(link, { onRequest: () => 'served' });
      },
    });
    const refused = await connectSocket(listener.address);
    expect(await text(refused.input)).toBe('');
    await refused.close();
    const peer = new RpcPeer(await connectSocket(listener.address));
    await expect(peer.request('m')).resolves.toBe('served');
    await peer.close();
  });
});

describe('connecting', () => {
  test('where nobody listens fails with the reason of the system', async () => {
    await expect(connectSocket({ path: path() })).rejects.toMatchObject({ code: 'ENOENT' });
    const listener = await serveEcho(anyPort);
    const { address } = listener;
    await listener.close();
    await expect(connectSocket(address)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('can be called off, before and during', async () => {
    const reason = new Error('enough');
    await expect(connectSocket(anyPort, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const attempt = connectSocket({ path: path() }, { signal: controller.signal });
    controller.abort(reason);
    await expect(attempt).rejects.toBe(reason);
  });

  test('has a time limit', async () => {
    await using listener = await serveEcho(anyPort);
    const attempt = connectSocket(listener.address, { timeoutMs: 1 });
    const end = performance.now() + 10;
    while (performance.now() < end); // the time is up before the connection can be seen
    await expect(attempt).rejects.toMatchObject({
      code: 'connect_timeout',
    });
  });
});

describe('unless told otherwise', () => {
  afterEach(() => void vi.useRealTimers());

  test('a connection may take 10 s to be made', async () => {
    await using listener = await serveEcho(anyPort);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const attempt = connectSocket(listener.address).catch((error: unknown) => error);
    // All in one turn: the time is up before the connection can be seen.
    vi.advanceTimersByTime(CONNECT_MS - 1);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    expect(await attempt).toMatchObject({
      code: 'connect_timeout',
      message: expect.stringContaining(`${CONNECT_MS} ms`) as string,
    });
  });

  test('a listener has 256 connections, and the next is closed', async () => {
    await using listener = await serveEcho({ path: path() });
    const { address } = listener;
    const links = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, () => connectSocket(address)));
    await until(() => listener.connections === MAX_CONNECTIONS, 'all of them');
    const extra = await connectSocket(address);
    expect(await text(extra.input)).toBe('');
    expect(listener.connections).toBe(MAX_CONNECTIONS);
    await Promise.all([extra, ...links].map((link) => link.close()));
  });
});

describe('listening on TCP', () => {
  test('a port in use is refused', async () => {
    await using listener = await serveEcho(anyPort);
    await expect(serveEcho(listener.address)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('the file of a unix socket', () => {
  test('is for its owner alone, and goes when the listener does', async () => {
    const before = process.umask(0);
    try {
      const listener = await serveEcho({ path: path() });
      expect((await lstat(path())).mode & 0o777).toBe(0o600);
      expect(await readdir(dir)).toEqual(['a.sock']);
      await listener.close();
      expect(await readdir(dir)).toEqual([]);
    } finally {
      process.umask(before);
    }
  });

  test('is not taken from a living listener', async () => {
    await using listener = await serveEcho({ path: path() });
    await expect(serveEcho({ path: path() })).rejects.toMatchObject({ code: 'address_in_use' });
    const peer = new RpcPeer(await connectSocket(listener.address));
    await expect(peer.request('m', [1])).resolves.toEqual([1]);
    await peer.close();
    expect(await readdir(dir)).toEqual(['a.sock']);
  });

  test('is taken over from a dead one', async () => {
    await leaveStaleSocket();
    await using listener = await serveEcho({ path: path() });
    const peer = new RpcPeer(await connectSocket(listener.address));
    await expect(peer.request('m', [1])).resolves.toEqual([1]);
    await peer.close();
    expect(await readdir(dir)).toEqual(['a.sock']);
  });

  test('of many who want a stale one, exactly one gets it', async () => {
    await leaveStaleSocket();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => serveEcho({ path: path() })));
    const listeners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect.soft(listeners).toHaveLength(1);
    const peer = new RpcPeer(await connectSocket({ path: path() }));
    await expect(peer.request('m', [1])).resolves.toEqual([1]);
    await peer.close();
    expect(await readdir(dir)).toEqual(['a.sock']);
    for (const listener of listeners) await listener.close();
  });

  test('is not fought over for ever', async () => {
    await leaveStaleSocket();
    const name = createHash('sha256').update(path()).digest('hex');
    const holder = createServer().listen(`\0hawser-takeover-${name}`);
    await once(holder, 'listening');
    const began = performance.now();
    await expect(serveEcho({ path: path() })).rejects.toMatchObject({ code: 'address_in_use' });
    expect(performance.now() - began).toBeGreaterThanOrEqual(TAKEOVER_MS);
    holder.close();
    await (await serveEcho({ path: path() })).close();
  });

  test('is not for a server that listens elsewhere, which goes on', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    await expect(claimSocketPath(path(), server)).rejects.toMatchObject({
      code: 'ERR_SERVER_ALREADY_LISTEN',
    });
    expect(server.listening).toBe(true);
    expect(await readdir(dir)).toEqual([]);
    server.close();
  });

  test('is left alone when it is no socket', async () => {
    await writeFile(path(), 'precious');
    await expect(serveEcho({ path: path() })).rejects.toMatchObject({ code: 'not_a_socket' });
    expect(await readFile(path(), 'utf8')).toBe('precious');
    await symlink(path(), join(dir, 'link'));
    await expect(serveEcho({ path: join(dir, 'link') })).rejects.toMatchObject({ code: 'not_a_socket' });
    expect((await readdir(dir)).sort()).toEqual(['a.sock', 'link']);
  });

  test('is not removed at the end if it is someone else’s by then', async () => {
    const first = await serveEcho({ path: path() });
    await rename(path(), join(dir, 'moved'));
    const second = await serveEcho({ path: path() });
    await first.close();
    expect((await lstat(path())).isSocket()).toBe(true);
    await second.close();
  });

  test('a directory that cannot be written to leaves nothing open', async () => {
    await expect(serveEcho({ path: join(dir, 'missing', 'a.sock') })).rejects.toMatchObject({
      code: 'no_socket',
      cause: { code: 'ENOENT' },
    });
  });

  test('a path too long for the system is refused, not cut short', async () => {
    const long = join(dir, 'x'.repeat(MAX_SOCKET_PATH_BYTES));
    await expect(serveEcho({ path: long })).rejects.toMatchObject({ code: 'path_too_long' });
    await expect(connectSocket({ path: long })).rejects.toMatchObject({ code: 'path_too_long' });
    const deep = join(dir, 'd'.repeat(MAX_SOCKET_PATH_BYTES - dir.length - 3));
    await mkdir(deep);
    await expect(serveEcho({ path: join(deep, 'a') })).rejects.toMatchObject({ code: 'path_too_long' });
    expect(await readdir(deep)).toEqual([]);
  });
});

/** A socket file whose listener died without removing it. */
async function leaveStaleSocket(): Promise<void> {
  const server = createServer();
  server.listen(path());
  await once(server, 'listening');
  await rename(path(), join(dir, 'kept')); // so that closing does not find the file
  server.close();
  await once(server, 'close');
  await rename(join(dir, 'kept'), path());
  await chmod(path(), 0o600);
  const probe: Socket = connect(path());
  const [error] = (await once(probe, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
}
