// stdio Bus: TCP for this machine by default, for others only when asked for and with a secret.

import { join } from 'node:path';
import { expect } from 'vitest';
import { busCommand, BusUnderTest, skipForeign, writeConfig } from '../../helpers/bus.js';
import { BusPeer } from '../../helpers/bus-client.js';
import { Program, run } from '../../helpers/program.js';
import { makeScratch } from '../../helpers/scratch.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const TOKEN = 'a-token-for-tests-0123456789abcdef';

verifies('bus/ours/tcp-guard', async (_, skip) => {
  skipForeign(skip);
  const base = makeScratch();
  writeConfig(base, {});
  const config = ['--config', join(base, 'bus.json')];
  for (const args of [
    ['--tcp', '0.0.0.0:0'],
    ['--tcp', '[::]:0'],
    ['--tcp', '192.0.2.1:7000'],
    ['--tcp', '0.0.0.0:0', '--allow-remote'],
  ]) {
    const { code, stderr } = await run([...busCommand(), ...config, ...args], {
      env: { STDIO_BUS_TOKEN: undefined },
    });
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/--allow-remote|token/i);
  }
});

verifies('bus/16/hosts', async (_, skip) => {
  skipForeign(skip);
  const base = makeScratch();
  writeConfig(base, {});
  for (const where of ['localhost:0', '[::1]:0', ':0']) {
    await using bus = new Program([...busCommand(), '--config', join(base, 'bus.json'), '--tcp', where]);
    const found = await until(
      () => /listening on tcp:(?:\/\/)?(\S+):(\d+)/.exec(bus.stderr) ?? undefined,
      `${where}: ${bus.stderr}`,
    );
    const host = String(found[1]).replaceAll(/[[\]]/g, '');
    expect(['127.0.0.1', '::1', 'localhost']).toContain(host); // an empty host is this machine, not every network
    await using client = await BusPeer.connect({ host, port: Number(found[2]) });
    expect((await client.call('pid')).result).toBeDefined();
    bus.child.kill('SIGTERM');
    expect(await bus.ended).toEqual({ code: 0, signal: null });
  }
});

verifies('bus/ours/tcp-token', async (mode, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ mode, env: { STDIO_BUS_TOKEN: TOKEN } });
  for (const first of [
    { jsonrpc: '2.0', id: 1, method: 'pid' },
    { jsonrpc: '2.0', id: 1, method: 'bus/auth', params: { token: `${TOKEN}x` } },
    { jsonrpc: '2.0', id: 1, method: 'bus/auth', params: {} },
    { jsonrpc: '2.0', id: 1, method: 'bus/auth' },
  ]) {
    await using client = await bus.connect();
    // Both at once: to write where nobody reads any more would cost us the answer to the first.
    await client.write(`${JSON.stringify(first)}\n{"jsonrpc":"2.0","id":2,"method":"pid"}\n`);
    const rest = (await client.rest()).map((bytes) => JSON.parse(bytes.toString()) as object);
    expect(rest, JSON.stringify(first)).toMatchObject([{ id: 1, error: { code: -32006 } }]);
  }
  expect(bus.notes().filter(({ line }) => line !== undefined)).toEqual([]);
  await using client = await bus.connect();
  client.send({ jsonrpc: '2.0', id: 1, method: 'bus/auth', params: { token: TOKEN } });
  expect(await client.message()).toMatchObject({ id: 1, result: {} });
  expect((await client.call('pid')).result).toBeDefined();
  expect(bus.stderr).not.toContain(TOKEN);
});
