// stdio Bus: it ends when it is told to, with what is in flight answered and nothing left behind.

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { busCommand, BusUnderTest, skipForeign, writeConfig } from '../../helpers/bus.js';
import { descendants, isAlive } from '../../helpers/proc.js';
import { run } from '../../helpers/program.js';
import { makeScratch } from '../../helpers/scratch.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const arrived = async (bus: BusUnderTest, lines: number): Promise<void> => {
  await until(
    () => bus.notes().filter(({ line }) => line !== undefined).length >= lines,
    'it to be at the worker',
  );
};

verifies(
  ['bus/3.1/shutdown', 'bus/row/35', 'bus/14.7/drain', 'bus/14.8/removed', 'bus/3.3/sigterm'],
  async (mode) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      await using bus = await BusUnderTest.start({ mode, instances: 2 });
      await using client = await bus.connect();
      const gate = bus.gate('end');
      const open = [1, 2, 3, 4].map(() => client.request('pid', { gate: gate.path }));
      await arrived(bus, 4);
      const below = descendants(bus.pid).map(({ pid }) => pid);
      bus.child.kill(signal);
      if (mode === 'unix') await until(async () => await refused(bus), 'new connections to be refused');
      expect(bus.child.exitCode).toBeNull();
      gate.open();
      for (const id of open) expect(await client.take((m) => m.id === id)).toMatchObject({ result: {} });
      await client.ended();
      expect(await bus.ended).toEqual({ code: 0, signal: null });
      await until(() => !below.some(isAlive), 'every process to be gone');
      if (mode === 'unix') expect(existsSync(bus.socket)).toBe(false);
    }
  },
);

async function refused(bus: BusUnderTest): Promise<boolean> {
  const peer = await bus.connect().catch(() => undefined);
  if (peer === undefined) return true;
  await peer[Symbol.asyncDispose]();
  return false;
}

verifies('bus/14.7/timeout', async () => {
  await using bus = await BusUnderTest.start({ limits: { drain_timeout_sec: 1 } });
  await using client = await bus.connect();
  const open = client.request('pid', { gate: bus.gate('never').path });
  await arrived(bus, 1);
  const from = Date.now();
  bus.child.kill('SIGTERM');
  expect(await client.take((m) => m.id === open)).toMatchObject({ error: {} }); // told, not left to wonder
  expect(await bus.ended).toEqual({ code: 0, signal: null });
  expect(Date.now() - from).toBeGreaterThan(800);
});

verifies('bus/14.7/second-signal', async () => {
  await using bus = await BusUnderTest.start({ limits: { drain_timeout_sec: 60 }, worker: ['--stubborn'] });
  await using client = await bus.connect();
  client.request('pid', { gate: bus.gate('never').path });
  await arrived(bus, 1);
  const below = descendants(bus.pid).map(({ pid }) => pid);
  bus.child.kill('SIGTERM');
  await until(async () => await refused(bus), 'the first to be heeded');
  bus.child.kill('SIGTERM');
  const { code, signal } = await bus.ended;
  expect(code ?? signal).not.toBeNull();
  await until(() => !below.some(isAlive), 'every process to be gone');
});

verifies(['bus/14.7/kill', 'bus/14.7/stdin-first'], async () => {
  await using bus = await BusUnderTest.start({
    limits: { drain_timeout_sec: 10 }, // nothing is under way: it is only the longest grace that it gives
    worker: ['--stubborn', '--tree'],
  });
  await using client = await bus.connect();
  await client.ask('pid');
  const below = descendants(bus.pid).map(({ pid }) => pid);
  bus.child.kill('SIGTERM');
  expect(await bus.ended).toEqual({ code: 0, signal: null });
  await until(() => !below.some(isAlive), 'every process to be gone');
  const story = bus
    .notes()
    .flatMap(({ end, signal }) => (end === true ? ['end'] : signal !== undefined ? [signal] : []));
  expect(story).toEqual(['end', 'SIGTERM']);
});

verifies(['bus/row/36', 'bus/14.7/eof', 'bus/4.1.2/one-client'], async (mode) => {
  await using bus = await BusUnderTest.start({ mode });
  await using client = await bus.connect();
  const gate = bus.gate('end');
  for (let id = 1; id <= 5; id++)
    client.send({ jsonrpc: '2.0', id, method: 'pid', params: { gate: gate.path } });
  client.end();
  await arrived(bus, 5);
  expect(bus.child.exitCode).toBeNull();
  gate.open();
  expect(
    (await client.rest())
      .map((bytes) => (JSON.parse(bytes.toString()) as { id: number }).id)
      .sort((a, b) => a - b),
  ).toEqual([1, 2, 3, 4, 5]);
  expect(await bus.ended).toEqual({ code: 0, signal: null });
  expect(bus.stderr.length).toBeLessThan(10_000);
});

verifies(['bus/row/37', 'bus/14.8/probe'], async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const second = await run([...busCommand(), '--config', bus.config, '--unix', bus.socket]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(bus.socket);
  await client.ask('pid');
  await using another = await bus.connect(); // the path still leads to the first
  expect((await another.ask('pid'))['pid']).toBe((await client.ask('pid'))['pid']);
});

verifies('bus/14.8/mode', async () => {
  await using bus = await BusUnderTest.start();
  expect(statSync(bus.socket).mode & 0o777).toBe(0o600);
});

verifies('bus/14.8/probe', async () => {
  await using bus = await BusUnderTest.start();
  bus.child.kill('SIGKILL');
  await bus.ended;
  expect(existsSync(bus.socket)).toBe(true); // stale
  await using next = await BusUnderTest.start({ socket: bus.socket });
  await using client = await next.connect();
  expect((await client.ask('pid'))['pid']).toBe(next.workers()[0]?.pid);
});

verifies('bus/ours/bind-fails', async (_, skip) => {
  skipForeign(skip);
  const base = makeScratch();
  writeConfig(base, {});
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const config = join(base, 'bus.json');
  try {
    writeFileSync(join(base, 'a-file'), 'mine');
    const places = [
      ['--tcp', `127.0.0.1:${port}`],
      ['--unix', join(base, 'no', 'such', 'folder', 'bus.sock')],
      ['--unix', join(base, 'a-file')],
    ];
    for (const place of places) {
      const { code, stderr } = await run([...busCommand(), '--config', config, ...place]);
      expect(code, stderr).toBe(1);
      expect(stderr).not.toBe('');
    }
    expect(statSync(join(base, 'a-file')).size).toBe(4); // what is no socket is not ours to remove
  } finally {
    await new Promise((resolve) => taken.close(resolve));
  }
});
