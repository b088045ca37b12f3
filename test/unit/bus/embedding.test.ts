// A bus inside one's own program: real workers, no socket.

import { expect, test } from 'vitest';
import { LaneFullError } from '../../../src/base/lane.js';
import { ClosedError } from '../../../src/base/resource.js';
import { LEAST_GRACE_MS, MAX_WAITING_CHANGES, MOST_GRACE_MS } from '../../../src/bus/bus.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { Asker, makeGate, open, pool, underWay } from './embedded.js';

const HOUR_MS = 3_600_000;

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

test('a rolling restart replaces every worker and loses no request', async () => {
  await using bus = await open({ pools: [pool({ instances: 2 })] });
  await using client = new Asker(bus);
  const pids = () => bus.report().pools[0]?.workers.map(({ pid }) => pid);
  const before = pids();
  const gate = makeGate();
  const slow = [client.ask('wait', { file: gate.file }), client.ask('wait', { file: gate.file })];
  await underWay(bus, 2);
  const restarted = bus.restart('echo');
  await until(() => bus.said.some(({ message }) => message.includes('are replaced')), 'the restart');
  gate.open();
  expect(await restarted).toBe(2);
  for (const answer of await Promise.all(slow)) expect(answer.result).toEqual({ file: gate.file });
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
  const gate = makeGate();
  const slow = client.ask('wait', { file: gate.file }, { pool: 'gone' });
  await underWay(bus, 1);
  const reloaded = bus.reload({
    pools: [pool({ id: 'kept', instances: 2 }), pool({ id: 'new', env: { A: '1' } })],
    defaultPool: 'kept',
  });
  await until(() => bus.said.some(({ message }) => message === 'a pool leaves'), 'the reload');
  gate.open();
  await reloaded;
  expect((await slow).result).toEqual({ file: gate.file });
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
  const pid = Number(await client.result('pid'));
  const gate = makeGate();
  const slow = client.ask('wait', { file: gate.file });
  await underWay(bus, 1);
  const startedAt = performance.now();
  const drained = bus.drain(HOUR_MS);
  await until(() => bus.said.some(({ message }) => message === 'draining'), 'the drain');
  expect((await client.ask('echo')).error).toMatchObject({ code: -32004 });
  expect(isAlive(pid)).toBe(true);
  gate.open();
  expect((await slow).result).toEqual({ file: gate.file });
  expect(await drained).toBe(0);
  expect(isAlive(pid)).toBe(false);
  const took = performance.now() - startedAt;
  expect(took).toBeGreaterThanOrEqual(LEAST_GRACE_MS);
  expect(took + MOST_GRACE_MS).toBeLessThan(HOUR_MS); // what is left of the drain is not waited for
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
