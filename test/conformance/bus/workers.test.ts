// stdio Bus: workers are started as the pools say, watched, started again with patience, and never left behind.

import { join } from 'node:path';
import { expect } from 'vitest';
import { BusUnderTest, poolOf, skipForeign } from '../../helpers/bus.js';
import { descendants, isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

verifies(['bus/3.1/spawn', 'bus/3.3/pipes', 'bus/3.1/config'], async () => {
  await using bus = await BusUnderTest.start({ pools: [poolOf('a', 2), poolOf('b', 1)] });
  expect(bus.workers()).toHaveLength(3);
  await using client = await bus.connect();
  const pids = new Set<unknown>();
  for (let n = 0; n < 8; n++)
    pids.add((await client.ask('pid', {}, { pool: 'a', sessionId: `s${n}` }))['pid']);
  expect(pids.size).toBe(2);
  const { pid } = await client.ask('pid', {}, { pool: 'b' });
  expect(pids).not.toContain(pid);
  process.kill(Number(pid), 'SIGKILL');
  await until(() => bus.workers().length === 3 && !isAlive(Number(pid)), 'a new one');
});

verifies(['bus/row/20', 'bus/14.6/any-exit'], async () => {
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const ends = [
    async () => void (await client.call('die', { code: 0 })),
    async (pid: number) => void process.kill(pid, 'SIGTERM'),
    async () => void (await client.call('die', { code: 3 })),
    async (pid: number) => void process.kill(pid, 'SIGKILL'),
  ];
  for (const end of ends) {
    const { pid } = await client.ask('pid');
    await end(Number(pid));
    await until(() => !isAlive(Number(pid)), 'it to end');
    const next = await until(async () => (await client.call('pid')).result, 'a new one');
    expect(next['pid']).not.toBe(pid);
  }
});

verifies(['bus/row/19', 'bus/14.6/back-off'], async () => {
  await using bus = await BusUnderTest.start({
    worker: ['--exit=1'],
    limits: { max_restarts: 100, restart_window_sec: 60 },
    awaitWorkers: false,
  });
  await until(() => bus.starts() >= 4, 'four starts');
  const starts = bus.notes().flatMap(({ start, at }) => (start === true ? [at] : []));
  const gaps = starts.slice(1).map((at, n) => at - (starts[n] ?? 0));
  expect(gaps[0]).toBeGreaterThan(40);
  expect(gaps[2]).toBeGreaterThan(200); // 0.4 s, less what chance takes off
  expect(bus.child.exitCode).toBeNull();
});

verifies('bus/14.6/window', async () => {
  await using bus = await BusUnderTest.start({
    worker: ['--exit=1'],
    limits: { max_restarts: 2, restart_window_sec: 60 },
    awaitWorkers: false,
  });
  await using client = await bus.connect();
  // The first may still reach a worker that is about to end; once they are given up there is none to reach.
  await until(async () => (await client.call('pid')).error?.code === -32000, 'them to be given up');
  await until(() => bus.starts() === 3, 'the last start');
  expect(await client.call('pid')).toMatchObject({ error: { code: -32000 } });
  expect(bus.starts()).toBe(3);
  expect(bus.child.exitCode).toBeNull();
});

verifies(['bus/row/21'], async () => {
  await using bus = await BusUnderTest.start({ worker: ['--rubbish=Server ready on port 1'] });
  await using client = await bus.connect();
  const { pid } = await client.ask('print', {
    lines: [
      'stray log',
      '[1,2]',
      '42',
      '{"broken":',
      '',
      '   ',
      '{"jsonrpc":"2.0","id":1,"result":1',
      '\u001b[31mred\u001b[0m',
    ],
  });
  for (let n = 0; n < 3; n++) expect(await client.ask('pid')).toEqual({ pid });
  expect(client.waiting).toBe(0);
  await until(() => bus.stderr !== '', 'the log to tell');
});

verifies('bus/14.6/not-found', async (_, skip) => {
  skipForeign(skip);
  const started = BusUnderTest.start({
    pools: [poolOf('good', 2), { id: 'bad', command: 'hawser-no-such-command', instances: 1 }],
  });
  await expect(started).rejects.toThrow(/ended with 1\b[\s\S]*hawser-no-such-command/);
});

verifies('bus/3.3/stderr', async (mode) => {
  const talk =
    'process.stderr.write("diagnostics {}\\n".repeat(3)); process.stdin.on("data", (d) => process.stdout.write(d))';
  const pools = [{ id: 'w', command: process.execPath, args: ['-e', talk], instances: 1 }];
  await using bus = await BusUnderTest.start({ mode, pools, awaitWorkers: false });
  await using client = await bus.connect();
  // This worker sends back what it got, which is no answer: nothing at all may reach the client.
  client.send({ jsonrpc: '2.0', method: 'tell' });
  await until(() => bus.stderr.includes('diagnostics'), 'the diagnostics to be in the log of the bus');
  expect(client.waiting).toBe(0);
});

verifies('bus/3.3/id', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  const numbers = async (): Promise<number[]> => {
    const { stats } = (await client.ask('bus/stats')) as unknown as {
      stats: { workers: { number: number }[] };
    };
    return stats.workers.map(({ number }) => number);
  };
  const before = await numbers();
  expect(before.every(Number.isInteger)).toBe(true);
  expect(new Set(before).size).toBe(2);
  await client.call('die');
  const after = await until(async () => {
    const now = await numbers();
    return now.length === 2 && now.some((n) => !before.includes(n)) && now;
  }, 'a new worker');
  expect(after.filter((n) => before.includes(n))).toHaveLength(1); // a number is never used again
});

verifies('bus/14.11/pool-keys', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({
    pool: { env: { BUS_TEST: 'given' }, cwd: '{base}', name: 'the test pool' },
  });
  await using client = await bus.connect();
  expect(await client.ask('echo')).toMatchObject({ env: 'given', cwd: bus.base });
});

verifies('bus/ours/ping', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({
    pool: { ping: { method: 'pid', interval_ms: 1500, timeout_ms: 1500 } },
    limits: { max_restarts: 100 },
  });
  await using client = await bus.connect();
  // On a machine that has much else to do one that is not deaf may be late as well, and be ended before it is asked.
  const { pid } = await until(
    async () => (await client.call('deaf', { gate: bus.gate('never').path })).result,
    'one that is deaf',
  );
  await until(() => !isAlive(Number(pid)), 'the deaf one to be ended');
  const next = await until(async () => (await client.call('pid')).result, 'a new one');
  expect(next['pid']).not.toBe(pid);
});

verifies('bus/ours/no-orphan', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ instances: 2, worker: ['--stubborn', '--tree'] });
  await using client = await bus.connect();
  await client.ask('pid');
  const below = await until(() => {
    const all = descendants(bus.pid).filter(
      ({ command }) => command.includes('sleep') || command.includes('worker.mjs'),
    );
    return all.length >= 6 && all.map(({ pid }) => pid);
  }, 'the trees to stand');
  bus.child.kill('SIGKILL');
  await bus.ended;
  await until(() => !below.some(isAlive), 'the end of all of them');
  // The socket that is left is stale: the next bus takes its place.
  await using next = await BusUnderTest.start({ pools: [poolOf('w')] });
  expect(next.child.exitCode).toBeNull();
});

verifies('bus/ours/least-loaded', async () => {
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  const gate = bus.gate('end');
  const { pid: busy } = await client.ask('pid', {}, { sessionId: 'busy' });
  for (let n = 0; n < 5; n++) client.request('pid', { gate: gate.path }, { sessionId: 'busy' });
  for (let n = 0; n < 6; n++) expect((await client.ask('pid'))['pid']).not.toBe(busy);
  gate.open();
});

verifies('bus/ours/key', async (_, skip) => {
  skipForeign(skip);
  const pools = [
    poolOf('left', 1, [], { keys: ['l', 'links'] }),
    poolOf('right', 1, [], { methods: ['tools/*'] }),
  ];
  await using bus = await BusUnderTest.start({ pools, config: { defaultPool: 'left' } });
  await using client = await bus.connect();
  const { pid: left } = await client.ask('pid', {}, { pool: 'left' });
  for (const pool of ['l', 'links']) expect((await client.ask('pid', {}, { pool }))['pid']).toBe(left);
  expect((await client.ask('tools/call'))['pid']).not.toBe(left);
  expect((await client.ask('prompts/get'))['pid']).toBe(left);
});

verifies(['bus/14.9/bound', 'bus/14.9/default-pool', 'bus/14.9/routes'], async (_, skip) => {
  skipForeign(skip);
  const pools = [poolOf('left', 2), poolOf('right', 1)];
  await using bus = await BusUnderTest.start({
    pools,
    config: { defaultPool: 'left', routes: [{ method: 'tools/*', pool: 'right' }] },
  });
  await using client = await bus.connect();
  const { pid: right } = await client.ask('pid', {}, { pool: 'right', sessionId: 'r' });
  expect(await client.ask('pid', {}, { sessionId: 'r' })).toEqual({ pid: right }); // bound: no pool needed
  expect(await client.ask('pid', {}, { sessionId: 'r', pool: 'left' })).toEqual({ pid: right });
  expect((await client.ask('pid'))['pid']).not.toBe(right);
  expect((await client.ask('tools/list'))['pid']).toBe(right);
  expect((await client.ask('toolshed'))['pid']).not.toBe(right);
});

verifies('bus/ours/rolling', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  await using control = await bus.connect();
  const before = bus.workers().map(({ pid }) => pid);
  const stop = new AbortController();
  let served = 0;
  const load = (async () => {
    while (!stop.signal.aborted) {
      await client.ask('pid'); // an error would be thrown
      served += 1;
    }
  })();
  const answer = await control.call('bus/restart', {});
  expect(answer.error).toBeUndefined();
  await until(() => bus.workers().length === 2 && !before.some(isAlive), 'two new workers');
  const sofar = served;
  await until(() => served > sofar + 5, 'the new ones to serve');
  stop.abort();
  await load;
});

verifies('bus/ours/peer-config', async () => {
  const limits = {
    max_input_buffer: 1_048_576,
    max_output_queue: 4_194_304,
    max_restarts: 5,
    restart_window_sec: 60,
    drain_timeout_sec: 30,
    backpressure_timeout_sec: 60,
  };
  await using bus = await BusUnderTest.start({
    limits,
    config: { transport: { mode: 'unix', framing: 'ndjson', protocol: 'json', options: {} } },
  });
  await using client = await bus.connect();
  await client.ask('pid');
  expect(join(bus.base, 'bus.sock')).toBe(bus.socket);
});
