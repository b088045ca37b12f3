// The doors of a whole bus: how many may come in through all of them, and certificates that are renewed.

import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { type Certificates, makeCertificates } from '../../helpers/certificates.js';
import { removeFolder } from '../../helpers/remove-folder.js';
import { until } from '../../helpers/wait.js';
import { open, pool } from './embedded.js';

test('a client too many is told so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-bus-embedding-'));
  const path = join(folder, 'bus.sock');
  await using bus = await open({ limits: { max_clients: 1 } });
  await bus.listen({ path });
  const first = connect(path);
  await once(first, 'connect');
  await until(() => bus.report().stats.clients === 1, 'the first');
  const second = connect(path);
  const [line] = (await once(createInterface({ input: second }), 'line')) as [string];
  expect(JSON.parse(line)).toMatchObject({
    id: null,
    error: { code: -32003, data: { reason: 'too_many_clients', maxClients: 1 } },
  });
  const other = await bus.listen({ host: '127.0.0.1', port: 0 });
  const third = connect((other.place as { port: number }).port, '127.0.0.1');
  const [refused] = (await once(createInterface({ input: third }), 'line')) as [string];
  expect(JSON.parse(refused)).toMatchObject({ error: { data: { reason: 'too_many_clients' } } });
  for (const socket of [first, second, third]) socket.destroy();
  removeFolder(folder);
});

test('new certificates are taken on by every door, also that of the metrics', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-bus-renewed-'));
  const [cert, key] = [join(folder, 'crt'), join(folder, 'key')];
  const [old, renewed] = [makeCertificates(), makeCertificates()];
  const put = (certificates: Certificates): void => {
    writeFileSync(cert, certificates['server.crt']);
    writeFileSync(key, certificates['server.key'], { mode: 0o600 });
  };
  put(old);
  const security = { tls: { cert, key } };
  await using bus = await open({ security }, { env: { ...process.env, STDIO_BUS_TOKEN: 'x'.repeat(40) } });
  const door = await bus.listen({ host: '127.0.0.1', port: 0 });
  // Loopback in a spelling that is not known as such: elsewhere metrics have TLS.
  const metrics = await bus.listenMetrics('127.1:0', { allowRemote: true });
  const ports = [(door.place as { port: number }).port, Number(new URL(metrics).port)];
  const shake = async (port: number, { 'ca.crt': ca }: Certificates): Promise<void> => {
    const socket = connectTls({ port, host: '127.0.0.1', ca });
    await once(socket, 'secureConnect');
    socket.destroy();
  };
  for (const port of ports) await shake(port, old);
  put(renewed);
  await bus.reload({ pools: [pool()], security });
  for (const port of ports) {
    await shake(port, renewed);
    await expect(shake(port, old)).rejects.toThrow(/certificate/);
  }
  removeFolder(folder);
});
