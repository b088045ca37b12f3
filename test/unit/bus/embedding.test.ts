// A bus inside one's own program: real workers, no socket.

import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { LaneFullError } from '../../../src/base/lane.js';
import { ClosedError } from '../../../src/base/resource.js';
import type { LogFacts } from '../../../src/base/log.js';
import {
  type Bus,
  type BusOptions,
  createBus,
  LEAST_GRACE_MS,
  MAX_WAITING_CHANGES,
  MOST_GRACE_MS,
} from '../../../src/bus/bus.js';
import type { BusConfigInput } from '../../../src/bus/config/schema.js';
import { silentLog } from '../../../src/bus/silent-log.js';
import { CLOSED_OUTPUT_MS } from '../../../src/bus/workers/place.js';
import { until } from '../../helpers/wait.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const WORKER = fileURLToPath(new URL('../../fixtures/bus-run/worker.mjs', import.meta.url));

type PoolInput = BusConfigInput['pools'][number];

function pool(more: Partial<PoolInput> & { readonly flags?: readonly string[] } = {}): PoolInput {
  const { flags = [], ...rest } = more;
  return { id: 'echo', command: process.execPath, args: [WORKER, ...flags], ...rest };
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data?: { readonly reason?: string } };
}

/** A client as anybody would write it: lines out, lines in, by id. */
class Asker implements AsyncDisposable {
  readonly #stream: Duplex;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #last = 0;

  constructor(bus: Bus) {
    this.#stream = bus.connect();
    createInterface({ input: this.#stream }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
    });
  }

  async ask(method: string, params: object = {}, more: object = {}): Promise<Answer> {
    const id = (this.#last += 1);
    this.#stream.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params, ...more })}\n`);
    return await new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async result(method: string, params: object = {}): Promise<unknown> {
    return (await this.ask(method, params)).result;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#stream.destroy();
    return Promise.resolve();
  }
}

interface Heard {
  readonly lines: string[];
  readonly said: { readonly level: string; readonly message: string; readonly facts: LogFacts }[];
}

async function open(
  config: Partial<BusConfigInput> = {},
  more: Partial<BusOptions> = {},
): Promise<Bus & Heard> {
  const lines: string[] = [];
  const said: Heard['said'] = [];
  const at =
    (level: string) =>
    (message: string, facts: LogFacts = {}) =>
      void said.push({ level, message, facts });
  const log = { ...silentLog, info: at('info'), warn: at('warn'), error: at('error') };
  const bus = await createBus({
    config: { pools: [pool()], ...config },
    log,
    onStderr: (worker, line) => void lines.push(`${worker}: ${line}`),
    ...more,
  });
  return Object.assign(bus, { lines, said });
}

test('answers a client of the same process, and two buses do not mix', async () => {
  await using one = await open();
  await using two = await open();
  await using first = new Asker(one);
  await using second = new Asker(two);
  const [a, b] = await Promise.all([first.result('pid'), second.result('pid')]);
  expect(a).not.toBe(b);
  expect(await first.result('echo', { x: 'é\u2028' })).toEqual({ x: 'é\u2028' });
});

test('a worker has its pool’s variables and ours, without the token', async () => {
  const env = { ...process.env, STDIO_BUS_TOKEN: 'secret-token', OURS: 'yes', GONE: 'no' };
  await using bus = await open({ pools: [pool({ env: { THEIRS: 'too', GONE: null } })] }, { env });
  await using client = new Asker(bus);
  const read = (name: string) => client.result('env', { name });
  expect(await read('OURS')).toBe('yes');
  expect(await read('THEIRS')).toBe('too');
  expect(await read('GONE')).toBeNull();
  expect(await read('STDIO_BUS_TOKEN')).toBeNull();
});

test('a worker can open /dev/stdout: its pipes are real ones', async () => {
  await using bus = await open();
  await using client = new Asker(bus);
  expect(await client.result('reopenStdout')).toBe('by /dev/stdout');
});

test('a worker’s stderr is passed on with its name', async () => {
  await using bus = await open();
  await using client = new Asker(bus);
  await client.ask('stderr', { text: 'one\r\ntwo\nhalf' });
  await until(() => bus.lines.includes('echo/0: two'), 'the lines');
  expect(bus.lines).toContain('echo/0: one');
});

test('a worker that ends, also with 0, answers its callers with -32002 and is started again after a delay', async () => {
  await using bus = await open();
  await using client = new Asker(bus);
  const before = await client.result('pid');
  for (const code of [1, 0]) {
    const answer = await client.ask('exit', { code });
    expect(answer.error).toMatchObject({ code: -32002 });
    expect(await client.result('pid')).not.toBe(before); // waits until there is one
  }
  const delays = bus.said
    .filter(({ facts }) => 'delay_ms' in facts)
    .map(({ facts }) => Number(facts['delay_ms']));
  expect(delays[0]).toBeGreaterThanOrEqual(80);
  expect(delays[1]).toBeGreaterThanOrEqual(160);
});

test('a pool whose workers have used up their restarts refuses at once', async () => {
  await using bus = await open({ pools: [pool({ flags: ['--dies'] })], limits: { max_restarts: 1 } });
  await until(
    () => bus.said.some(({ message }) => message.startsWith('a pool has no worker left')),
    'the end',
  );
  await using client = new Asker(bus);
  expect((await client.ask('echo')).error).toMatchObject({ code: -32000 });
  expect(bus.report().pools[0]).toMatchObject({ ready: 0, restarts: 1, workers: [{ state: 'failed' }] });
});

test('a program that is not there is told at once', async () => {
  await expect(open({ pools: [pool({ command: 'no-such-program-here' })] })).rejects.toThrow(
    'program not found: no-such-program-here',
  );
});

test('a worker gets work when it has answered its readiness request, or printed its text', async () => {
  await using bus = await open({
    pools: [
      pool({ id: 'asked', ready: { method: 'sleep', params: { ms: 150 } } }),
      pool({ id: 'told', ready: { stderr: 'worker is up' } }),
      pool({ id: 'never', ready: { stderr: 'no such text', timeout_ms: 200 } }),
    ],
    limits: { max_restarts: 0 },
  });
  await using client = new Asker(bus);
  const [asked, told, never] = await Promise.all(
    ['asked', 'told', 'never'].map((id) => client.ask('echo', { id }, { pool: id })),
  );
  expect([asked?.result, told?.result]).toEqual([{ id: 'asked' }, { id: 'told' }]);
  expect(never?.error).toMatchObject({ code: -32000 });
});

test('a worker that no longer answers pings is replaced', async () => {
  const ping = { interval_ms: 500, timeout_ms: 400 };
  await using bus = await open({ pools: [pool({ ping, ready: { stderr: 'worker is up' } })] });
  await using client = new Asker(bus);
  const before = await client.result('pid');
  await client.ask('hush');
  await until(
    () => bus.said.some(({ facts }) => String(facts['reason']).includes('no answer to ping')),
    'the verdict',
  );
  expect(await anotherPid(client, before)).toBeTypeOf('number');
});

test('a worker that prints too much rubbish, or closes its output, is replaced', async () => {
  await using bus = await open({ limits: { max_rubbish_lines: 3 } });
  await using client = new Asker(bus);
  const before = await client.result('pid');
  await client.ask('rubbish', { lines: 20 });
  await anotherPid(client, before);
  const closedAt = performance.now();
  expect((await client.ask('closeOutput')).error).toMatchObject({ code: -32002 });
  expect(performance.now() - closedAt).toBeGreaterThanOrEqual(CLOSED_OUTPUT_MS - 50);
  expect(await client.result('echo', { a: 1 })).toEqual({ a: 1 });
});

test('a worker that closes its input and lives on is replaced, and whoever asked it is told', async () => {
  await using bus = await open({ pools: [pool({ flags: ['--ignore-end'] })] });
  await using client = new Asker(bus);
  await client.ask('closeInput');
  expect((await client.ask('echo')).error).toMatchObject({ code: -32002 });
  expect(await client.result('echo', { a: 1 })).toEqual({ a: 1 });
  expect(bus.said.map(({ facts }) => facts['reason'])).toContain('it has closed its input');
});

test('a worker that is being ended gets no new work, and its verdict is told once', async () => {
  await using bus = await open({
    pools: [pool({ instances: 2, flags: ['--ignore-term'] })],
    limits: { max_rubbish_lines: 3 },
  });
  await using client = new Asker(bus);
  await until(() => bus.report().pools[0]?.ready === 2, 'both');
  await client.ask('rubbish', { lines: 5000 });
  const verdicts = () => bus.said.filter(({ message }) => message.startsWith('a worker is ended'));
  await until(() => verdicts().length > 0, 'the verdict');
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.result('pid')));
  expect(new Set(answers).size).toBe(1);
  expect(verdicts()).toHaveLength(1);
});

test('changed restart limits hold for the workers there are', async () => {
  await using bus = await open({ limits: { max_restarts: 5 } });
  await bus.reload({ pools: [pool()], limits: { max_restarts: 0 } });
  await using client = new Asker(bus);
  await client.ask('exit', { code: 1 });
  await until(() => bus.report().pools[0]?.workers[0]?.state === 'failed', 'the end');
  expect(bus.report().pools[0]).toMatchObject({ restarts: 0 });
});

test('close answers what waits for a worker, and leaves no timer behind', async () => {
  const bus = await open({ pools: [pool({ flags: ['--silent'], ready: { method: 'ping' } })] });
  await using client = new Asker(bus);
  const answer = client.ask('echo');
  await until(() => bus.report().stats.waiting === 1, 'the request to wait');
  await bus.close();
  expect((await answer).error).toMatchObject({ code: -32004, data: { reason: 'shutting_down' } });
  expect(bus.report().stats.waiting).toBe(0);
});

test('nothing is reloaded while the bus drains or is closed', async () => {
  const bus = await open();
  const drained = bus.drain();
  await expect(bus.reload({ pools: [pool(), pool({ id: 'late' })] })).rejects.toThrow(ClosedError);
  await drained;
  await expect(bus.reload({ pools: [pool()] })).rejects.toThrow(ClosedError);
});

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
  first.destroy();
  second.destroy();
  removeFolder(folder);
});

test('a rolling restart replaces every worker and loses no request', async () => {
  await using bus = await open({ pools: [pool({ instances: 2 })] });
  await using client = new Asker(bus);
  const pids = () => bus.report().pools[0]?.workers.map(({ pid }) => pid);
  const before = pids();
  const slow = [client.ask('sleep', { ms: 300 }), client.ask('sleep', { ms: 300 })];
  await underWay(bus, 2);
  expect(await bus.restart('echo')).toBe(2);
  for (const answer of await Promise.all(slow)) expect(answer.result).toEqual({ ms: 300 });
  expect(pids()?.filter((pid) => before?.includes(pid) === true)).toEqual([]);
  await expect(bus.restart('echoo')).rejects.toThrow('there is no pool "echoo"');
  expect((await client.ask('bus/restart', { pool: 'echo' })).result).toEqual({ restarted: 2 });
});

test('only so many changes wait behind the one under way', async () => {
  await using bus = await open();
  const asked = Array.from({ length: MAX_WAITING_CHANGES + 2 }, () => bus.restart());
  const outcomes = await Promise.allSettled(asked.slice(-1));
  expect(outcomes[0]).toMatchObject({ status: 'rejected', reason: expect.any(LaneFullError) });
  await bus.close();
  await Promise.allSettled(asked);
});

test('a reload starts, changes and ends pools, and the client stays', async () => {
  await using bus = await open({ pools: [pool({ id: 'kept' }), pool({ id: 'gone' })], defaultPool: 'kept' });
  await using client = new Asker(bus);
  const kept = await client.result('pid');
  const slow = client.ask('sleep', { ms: 200 }, { pool: 'gone' });
  await underWay(bus, 1);
  await bus.reload({
    pools: [pool({ id: 'kept', instances: 2 }), pool({ id: 'new', env: { A: '1' } })],
    defaultPool: 'kept',
  });
  expect((await slow).result).toEqual({ ms: 200 });
  expect((await client.ask('echo', {}, { pool: 'gone' })).error).toMatchObject({ code: -32001 });
  expect((await client.ask('env', { name: 'A' }, { pool: 'new' })).result).toBe('1');
  expect(bus.report().pools.map(({ id, workers }) => [id, workers.length])).toEqual([
    ['kept', 2],
    ['new', 1],
  ]);
  expect(bus.report().pools[0]?.workers[0]?.pid).toBe(kept);
  await bus.reload({ pools: [pool({ id: 'kept', env: { A: '2' } })] });
  expect(await client.result('env', { name: 'A' })).toBe('2');
});

test('a reload that is wrong changes nothing', async () => {
  await using bus = await open();
  await using client = new Asker(bus);
  const before = await client.result('pid');
  const bad = { pools: [{ ...pool(), instances: 0 }] };
  await expect(bus.reload(bad)).rejects.toThrow('pools[0].instances');
  await expect(
    bus.reload({ pools: [pool(), pool({ id: 'b', command: 'no-such-program' })] }),
  ).rejects.toThrow('pool b: program not found');
  expect(await client.result('pid')).toBe(before);
});

test('a reload whose new workers do not get ready keeps the old ones', async () => {
  await using bus = await open({ limits: { max_restarts: 0 } });
  await using client = new Asker(bus);
  const before = await client.result('pid');
  await bus.reload({
    pools: [pool({ flags: ['--dies'], ready: { method: 'ping' } })],
    limits: { max_restarts: 0 },
  });
  expect(bus.said.some(({ facts }) => String(facts['reason']).includes('the old ones go on'))).toBe(true);
  expect(await client.result('pid')).toBe(before);
});

test('a drain waits for what is under way, refuses what is new, and kills who does not go', async () => {
  await using bus = await open({ pools: [pool({ flags: ['--ignore-term', '--ignore-end'] })] });
  await using client = new Asker(bus);
  const slow = client.ask('sleep', { ms: 300 });
  await underWay(bus, 1);
  const startedAt = performance.now();
  const drained = bus.drain(3000);
  await until(() => bus.said.some(({ message }) => message === 'draining'), 'the drain');
  expect((await client.ask('echo')).error).toMatchObject({ code: -32004 });
  expect((await slow).result).toEqual({ ms: 300 });
  expect(await drained).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(LEAST_GRACE_MS);
  expect(performance.now() - startedAt).toBeLessThan(MOST_GRACE_MS + 5000);
});

test('a drain that runs out of time answers -32002 for what is left', async () => {
  await using bus = await open();
  await using client = new Asker(bus);
  const slow = client.ask('sleep', { ms: 60_000 });
  await underWay(bus, 1);
  expect(await bus.drain(100)).toBe(1);
  expect((await slow).error).toMatchObject({ code: -32002 });
});

test('close kills at once, with whoever has left the group', async () => {
  const bus = await open({ pools: [pool({ flags: ['--ignore-term', '--ignore-end'] })] });
  await using client = new Asker(bus);
  const grandchild = Number(await client.result('grandchild'));
  expect(() => process.kill(grandchild, 0)).not.toThrow();
  await bus.close();
  await until(() => !isAlive(grandchild), 'the grandchild to be gone');
});

/** Of the worker that has taken the place of the one before; requests that the old one died of have no result. */
async function anotherPid(client: Asker, before: unknown): Promise<unknown> {
  return await until(async () => {
    const pid = await client.result('pid');
    return pid !== before && pid;
  }, 'another worker');
}

/** The requests have reached their workers, or wait for them to be up. */
async function underWay(bus: Bus, count: number): Promise<void> {
  await until(() => bus.router.pending() === count, 'the requests to be under way');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
