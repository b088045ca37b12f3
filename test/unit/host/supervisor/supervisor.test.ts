import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { HostProcess } from '../../../../src/host/process/host-process.js';
import { spawnProcess } from '../../../../src/host/process/spawn.js';
import type { Clock } from '../../../../src/host/supervisor/clock.js';
import {
  MAX_INSTANCES,
  PoolConfigError,
  type PoolOptions,
  Supervisor,
  WorkerPool,
} from '../../../../src/host/supervisor/supervisor.js';
import { INPUT_GRACE_MS, LAST_OUTPUT_MS, READY_TIMEOUT_MS } from '../../../../src/host/supervisor/worker.js';
import type { WorkerEvent } from '../../../../src/host/supervisor/worker-event.js';
import { type Grove, plantGrove } from '../../../fixtures/process/grove.js';
import { until } from '../../../helpers/wait.js';

let grove: Grove;
beforeAll(async () => {
  grove = plantGrove();
  await (await spawnProcess({ argv: ['true'] })).close(); // the first start waits for things that all others share
});
afterAll(() => grove[Symbol.dispose]());

/** Time that passes only by waiting for it. */
function makeClock(): Clock & { readonly slept: number[] } {
  let nowMs = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => nowMs,
    sleep: (ms) => {
      slept.push(ms);
      nowMs += ms;
      return Promise.resolve();
    },
  };
}

function makePool(options: Partial<PoolOptions>) {
  const events: WorkerEvent[] = [];
  const pool = new WorkerPool({
    id: 'p',
    command: 'sh',
    instances: 1,
    graceMs: 200,
    random: () => 0.5,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { pool, events, kinds: () => events.map(({ type }) => type) };
}

/** Ready when the worker has said so on its first line. */
async function firstLine(held: HostProcess): Promise<void> {
  const line = await held.stdout?.read();
  held.stdout?.discard();
  held.stderr?.discard();
  if (line?.toString() !== 'ready\n') throw new Error(`unexpected greeting: ${line?.toString()}`);
}

const SERVE = ['-c', 'echo ready; cat > /dev/null'];

describe('a pool', () => {
  test('starts all its workers, each with its pipes, and ends them when closed', async () => {
    const { pool, kinds } = makePool({ instances: 3, args: SERVE, attach: firstLine });
    await pool.settled();
    expect(pool.ready.map(({ id }) => id)).toEqual(['p/0', 'p/1', 'p/2']);
    const held = pool.workers[0]?.process;
    await held?.stdin?.write(Buffer.from('work\n'));
    await pool.close();
    expect(pool.workers.map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped']);
    expect(held?.running).toBe(false);
    expect(kinds().filter((kind) => kind === 'stopped')).toHaveLength(3);
    expect(kinds()).not.toContain('restarting');
  });

  test('starts a worker again when it ends, also with code 0, and waits longer each time', async () => {
    const clock = makeClock();
    const { pool, events, kinds } = makePool({
      args: ['-c', 'exit 0'],
      clock,
      restart: { maxRestarts: 4, jitter: 0 },
    });
    await until(() => pool.workers[0]?.state === 'failed', 'the worker to be given up');
    expect(clock.slept).toEqual([100, 200, 400, 800]);
    expect(kinds().filter((kind) => kind === 'exited')).toHaveLength(5);
    expect(events.at(-1)).toEqual({ type: 'failed', worker: 'p/0', restarts: 4, windowMs: 60_000 });
    expect(pool.workers[0]?.state).toBe('failed');
    await pool.close();
    expect(pool.workers[0]?.state).toBe('failed');
  });

  test('gives up a worker without touching the others', async () => {
    let born = 0;
    const { pool } = makePool({
      instances: 2,
      args: SERVE,
      clock: makeClock(),
      restart: { maxRestarts: 2 },
      attach: async (held, worker) => {
        await firstLine(held);
        born += 1;
        if (worker.id === 'p/0') held.sendSignal(9);
      },
    });
    await until(() => pool.workers[0]?.state === 'failed', 'the first to be given up');
    await pool.settled(); // the other may take longer to begin
    expect(pool.ready.map(({ id }) => id)).toEqual(['p/1']);
    expect(born).toBe(4);
    await pool.close();
  });

  test('says why a worker could not be started, and tries again', async () => {
    const { pool, events } = makePool({
      command: 'no-such-program',
      clock: makeClock(),
      restart: { maxRestarts: 1 },
    });
    await pool.settled();
    expect(events).toMatchObject([
      { type: 'start_failed', error: { code: 'program_not_found' } },
      { type: 'restarting' },
      { type: 'start_failed' },
      { type: 'failed' },
    ]);
    await pool.close();
  });

  test.each([
    ['greets wrongly', ['-c', 'echo hello; exec sleep 300'], 60_000, 'unexpected greeting: hello\n'],
    ['does not greet in time', ['-c', 'exec sleep 300'], 50, 'timed out after 50 ms'],
  ])('a worker that %s is a failed start', async (_what, args, readyTimeoutMs, message) => {
    const { pool, events } = makePool({
      args,
      attach: firstLine,
      readyTimeoutMs,
      restart: { maxRestarts: 0 },
    });
    await pool.settled();
    expect(events).toMatchObject([
      { type: 'started' },
      { type: 'start_failed', error: { message } },
      { type: 'exited' },
      { type: 'failed' },
    ]);
    await pool.close();
  });

  test('ends what a worker leaves behind before the next one is started', async () => {
    const left: number[] = [];
    const { pool } = makePool({
      args: ['-c', '"$0" 300 & exit 1', grove.nap],
      clock: makeClock(),
      restart: { maxRestarts: 2 },
      onEvent: (event) => event.type === 'exited' && left.push(grove.alive().length),
    });
    await until(() => pool.workers[0]?.state === 'failed', 'the worker to be given up');
    expect(left).toEqual([0, 0, 0]);
    await pool.close();
  });

  test('can be closed while a worker waits to be started again', async () => {
    const { pool, kinds } = makePool({
      args: ['-c', 'exit 1'],
      restart: { firstDelayMs: 600_000, maxDelayMs: 600_000 },
    });
    await until(() => pool.workers[0]?.state === 'waiting', 'the worker to wait');
    await pool.close();
    expect(kinds().at(-1)).toBe('stopped');
  });

  test('can be closed while its workers are starting', async () => {
    const { pool } = makePool({ instances: 4, args: ['-c', '"$0" 300', grove.nap] });
    await pool.close();
    expect(grove.alive()).toEqual([]);
    expect(pool.workers.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'stopped'));
  });

  test('kills workers that do not listen, with all that is theirs', async () => {
    const [command = '', ...args] = grove.tree('grove');
    const { pool } = makePool({ instances: 2, command, args, graceMs: 50 });
    await until(() => grove.alive().length > 30, 'the trees to grow');
    await pool.close();
    expect(grove.alive()).toEqual([]);
  });

  test('a listener that throws does not stop it', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => thrown.push(error));
    const { pool } = makePool({
      args: SERVE,
      attach: firstLine,
      onEvent: () => {
        throw new Error('from the listener');
      },
    });
    await pool.settled();
    await pool.close();
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
    expect(thrown.length).toBeGreaterThanOrEqual(3);
  });
});

describe('a worker', () => {
  const stopTime = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  afterEach(() => void vi.useRealTimers());

  test('has 30 s to become ready, unless told otherwise', async () => {
    stopTime();
    let pool: WorkerPool | undefined;
    const events = await new Promise<WorkerEvent[]>((resolve) => {
      const made = makePool({
        args: ['-c', 'exec sleep 300'],
        restart: { maxRestarts: 0 },
        attach: () => {
          resolve(made.events);
          return new Promise(() => {});
        },
      });
      pool = made.pool;
    });
    vi.advanceTimersByTime(READY_TIMEOUT_MS - 1);
    await turn();
    expect(events.map(({ type }) => type)).toEqual(['started']);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await pool?.settled();
    const message = `timed out after ${READY_TIMEOUT_MS} ms`;
    expect(events[1]).toMatchObject({ type: 'start_failed', error: { message } });
    await pool?.close();
  });

  test('that does not end with its input is asked by TERM half a second later', async () => {
    const args = ['-c', 'echo ready; exec sleep 300'];
    const { pool, events } = makePool({ args, attach: firstLine, graceMs: 60_000 });
    await pool.settled();
    const stoppedAtMs = performance.now();
    await pool.workers[0]?.stop();
    expect(performance.now() - stoppedAtMs).toBeGreaterThan(INPUT_GRACE_MS - 2); // timers count whole milliseconds
    const exit = { code: null, signal: 'SIGTERM' };
    expect(events).toContainEqual(expect.objectContaining({ type: 'exited', exit }));
    await pool.close();
  });

  test('that has ended is held for 2 s by a consumer that does not take its last output', async () => {
    stopTime();
    const { pool, kinds } = makePool({
      args: ['-c', 'echo last words'],
      restart: { maxRestarts: 0 },
      attach: () => {},
    });
    while (pool.workers[0]?.process?.running !== false) await turn();
    await turn(); // what follows its end is under way
    await vi.advanceTimersByTimeAsync(LAST_OUTPUT_MS - 1);
    expect(kinds()).not.toContain('exited');
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await until(() => kinds().includes('exited'), 'the end to be reported');
    await pool.close();
  });
});

describe('draining', () => {
  afterEach(() => void vi.useRealTimers());

  test('refuses new work, waits for what is in hand, then ends the input', async () => {
    const { pool, events } = makePool({ args: SERVE, attach: firstLine });
    await pool.settled();
    const worker = pool.workers[0];
    const work = worker?.hold();
    expect([worker?.load, work]).toEqual([1, expect.anything()]);
    const drained = pool.drain(30_000);
    expect(worker?.hold()).toBeUndefined();
    expect(worker?.process?.running).toBe(true);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // it has all the time it needs
    work?.[Symbol.dispose]();
    expect(await drained).toBe(0);
    // It ended by itself when its input did: no signal was needed.
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'exited', exit: { code: 0, signal: null } }),
    );
  });

  test('does not wait longer than it was told to, and says what is left', async () => {
    const { pool } = makePool({ instances: 2, args: SERVE, attach: firstLine });
    await pool.settled();
    for (const worker of pool.workers) worker.hold();
    expect(await pool.drain(20)).toBe(2);
    expect(pool.closing).toBe(true);
  });

  test('a worker that is not ready takes no work', async () => {
    const { pool } = makePool({ args: ['-c', 'exec sleep 300'], attach: () => new Promise(() => {}) });
    await until(() => pool.workers[0]?.process, 'the worker to be started');
    expect(pool.workers[0]?.hold()).toBeUndefined();
    expect(await pool.drain(1000)).toBe(0);
  });

  test('may be asked for many times at once', async () => {
    const { pool } = makePool({ args: SERVE, attach: firstLine });
    await pool.settled();
    const lease = pool.workers[0]?.hold();
    // Node warns of the eleventh listener of a signal, which would fail the test.
    const drains = pool.workers.flatMap((worker) => Array.from({ length: 20 }, () => worker.drain(30_000)));
    lease?.[Symbol.dispose]();
    expect(new Set(await Promise.all(drains))).toEqual(new Set([0]));
    await pool.close();
  });
});

describe('a supervisor', () => {
  const spec = { command: 'sh', args: SERVE, instances: 2, attach: firstLine };

  test('keeps several pools, drains and closes them together', async () => {
    await using supervisor = new Supervisor([
      { ...spec, id: 'a' },
      { ...spec, id: 'b' },
    ]);
    await supervisor.settled();
    expect([...supervisor.pools.values()].map((pool) => [pool.id, pool.ready.length])).toEqual([
      ['a', 2],
      ['b', 2],
    ]);
    expect(await supervisor.drain(1000)).toBe(0);
    expect(supervisor.signal.aborted).toBe(true);
  });

  test('that cannot end one pool still ends the others before it says so', async () => {
    const supervisor = new Supervisor([
      { ...spec, id: 'a' },
      { ...spec, id: 'b' },
    ]);
    await supervisor.settled();
    const [stuck, other] = [...supervisor.pools.values()];
    const failure = new Error('somebody cannot be killed');
    const close = vi.spyOn(stuck as WorkerPool, 'close').mockRejectedValue(failure);
    await expect(supervisor.drain(1000)).rejects.toBe(failure);
    expect(other?.workers.map(({ state }) => state)).toEqual(['stopped', 'stopped']);
    close.mockRestore();
    await stuck?.close();
  });

  test.each([0, -1, 1.5, MAX_INSTANCES + 1])('refuses a pool of %d workers', (instances) => {
    expect(() => new Supervisor([{ ...spec, id: 'a', instances }])).toThrow(PoolConfigError);
  });

  test('refuses two pools of one name before any worker is started', () => {
    expect(
      () =>
        new Supervisor([
          { ...spec, id: 'a' },
          { ...spec, id: 'a' },
        ]),
    ).toThrow(PoolConfigError);
  });
});
