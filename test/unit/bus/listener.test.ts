// The doors of the bus: who is let in, who is told why not.

import { chmodSync, existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { Access } from '../../../src/bus/listen/access.js';
import {
  HANDSHAKE_MS,
  Listener,
  type ListenerOptions,
  MAX_TURNED_AWAY,
  sayPlace,
} from '../../../src/bus/listen/listener.js';
import { silentLog } from '../../../src/bus/silent-log.js';
import { makeCertificates } from '../../helpers/certificates.js';
import { until } from '../../helpers/wait.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'hawser-bus-doors-'));
afterAll(() => removeFolder(folder));

const FAREWELL = 'no room\n';

function options(more: Partial<ListenerOptions> = {}): ListenerOptions & { readonly sockets: Socket[] } {
  const sockets: Socket[] = [];
  return {
    onSocket: (socket) => void sockets.push(socket),
    farewell: () => Buffer.from(FAREWELL),
    maxClients: () => 100,
    log: silentLog,
    sockets,
    ...more,
  };
}

function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

describe('a unix socket', () => {
  test('is its owner’s alone, is not taken from a living bus, and goes with it', async () => {
    const path = join(folder, 'bus.sock');
    const opened = options();
    const listener = await Listener.open({ path }, opened);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(Listener.open({ path }, options())).rejects.toThrow(
      `cannot listen on unix:${path}: someone is listening on ${path} already`,
    );
    for (const probe of opened.sockets) probe.destroy();
    await listener.close();
    expect(existsSync(path)).toBe(false);
  });

  test('in a folder that is not there is told as such', async () => {
    await expect(Listener.open({ path: join(folder, 'none/bus.sock') }, options())).rejects.toThrow(
      'there is no such folder',
    );
  });
});

describe('TCP', () => {
  test('port 0 is a free one, and a taken one is told', async () => {
    await using listener = await Listener.open({ host: '127.0.0.1', port: 0 }, options());
    expect(listener.name).toMatch(/^tcp:127\.0\.0\.1:[1-9]\d+$/);
    await expect(Listener.open(listener.place, options())).rejects.toThrow(
      'somebody else is listening there',
    );
    expect(sayPlace({ host: '::1', port: 7 })).toBe('tcp:[::1]:7');
  });

  test('a client too many is told so, and past MAX_TURNED_AWAY more is closed unheard', async () => {
    const opened = options({ maxClients: () => 1 });
    await using listener = await Listener.open({ host: '127.0.0.1', port: 0 }, opened);
    const { port } = listener.place as { port: number };
    const first = connect(port, '127.0.0.1');
    await until(() => opened.sockets.length === 1, 'the first client');
    expect(await readAll(connect(port, '127.0.0.1'))).toBe(FAREWELL);
    const many = Array.from({ length: MAX_TURNED_AWAY + 10 }, () =>
      connect({ port, host: '127.0.0.1', allowHalfOpen: true }),
    );
    const heard = await Promise.all(
      many.map(async (socket) => {
        const text = readAll(socket);
        socket.once('end', () => socket.end());
        return await text;
      }),
    );
    expect(heard.every((text) => text === '' || text === FAREWELL)).toBe(true);
    expect(heard.filter((text) => text === FAREWELL).length).toBeGreaterThan(0);
    first.destroy();
    opened.sockets[0]?.destroy();
  });

  test('with client certificates strangers do not get through the handshake, nor does who says nothing', async () => {
    const certificates = makeCertificates();
    const files = Object.fromEntries(
      (['server.crt', 'server.key', 'ca.crt'] as const).map((name) => {
        writeFileSync(join(folder, name), certificates[name], { mode: 0o600 });
        return [name, join(folder, name)];
      }),
    );
    const access = new Access(
      { tls: { cert: files['server.crt'] ?? '', key: files['server.key'] ?? '', ca: files['ca.crt'] ?? '' } },
      {},
    );
    expect(HANDSHAKE_MS).toBeGreaterThan(1000);
    const opened = options({ tls: access.tls ?? {} });
    await using listener = await Listener.open({ host: '127.0.0.1', port: 0 }, opened);
    const hasty = options({ tls: access.tls ?? {}, handshakeMs: 200 });
    await using impatient = await Listener.open({ host: '127.0.0.1', port: 0 }, hasty);
    const { port } = listener.place as { port: number };
    const ca = certificates['ca.crt'];
    const stranger = connectTls({
      port,
      host: '127.0.0.1',
      ca,
      cert: certificates['stranger.crt'],
      key: certificates['stranger.key'],
    });
    const silent = connect((impatient.place as { port: number }).port, '127.0.0.1');
    await Promise.all([readAll(stranger), readAll(silent)]);
    expect([opened.sockets, hasty.sockets]).toEqual([[], []]);
    const friend = connectTls({
      port,
      host: '127.0.0.1',
      ca,
      cert: certificates['client.crt'],
      key: certificates['client.key'],
    });
    await until(() => opened.sockets.length === 1, 'the friend');
    friend.destroy();
    opened.sockets[0]?.destroy();
  });
});

describe('access', () => {
  test('off loopback takes consent, and a token or client certificates', () => {
    const open = new Access({}, {});
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) open.assertMayListen(host, false);
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org']) {
      expect(() => open.assertMayListen(host, false)).toThrow('--allow-remote');
      expect(() => open.assertMayListen(host, true)).toThrow('STDIO_BUS_TOKEN');
    }
    const env: NodeJS.ProcessEnv = { STDIO_BUS_TOKEN: 'a-token-of-some-length' };
    const guarded = new Access({}, env);
    guarded.assertMayListen('0.0.0.0', true);
    expect(env).toEqual({});
    expect(guarded.checkToken?.('a-token-of-some-length')).toBe(true);
    expect(guarded.checkToken?.('a-token-of-some-lengtH')).toBe(false);
  });

  test('a token file is read again, unless everybody can read it', () => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'first\n', { mode: 0o600 });
    const access = new Access({ tokenFile }, {});
    expect(access.checkToken?.('first')).toBe(true);
    writeFileSync(tokenFile, 'second\n');
    access.reload({ tokenFile });
    expect(access.checkToken?.('second')).toBe(true);
    chmodSync(tokenFile, 0o644);
    expect(() => access.reload({ tokenFile })).toThrow('can be read by everybody');
    expect(access.checkToken?.('second')).toBe(true);
    expect(() => new Access({}, { STDIO_BUS_TOKEN: 'two words' })).toThrow('one word');
  });
});
