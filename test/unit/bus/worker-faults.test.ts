// Workers that end, fall silent, print rubbish or close their pipes: each is replaced, and whoever asked is told.

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CLOSED_OUTPUT_MS, LAST_ANSWERS_MS, READER_LOOK_MS } from '../../../src/bus/workers/place.js';
import { until } from '../../helpers/wait.js';
import { anotherPid, Asker, makeGate, open, pool } from './embedded.js';

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
  await using bus = await open({
    pools: [pool({ ping, ready: { stderr: 'worker is up' } })],
    limits: { max_restarts: 1000 }, // on a busy machine an answer may be late for no fault of the worker
  });
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
  const pid = Number(await client.result('pid'));
  await client.ask('closeInput', { first: true });
  await until(() => !existsSync(`/proc/${pid}/fd/0`), 'its input to be closed');
  expect((await client.ask('echo')).error).toMatchObject({ code: -32002 });
  expect(await client.result('echo', { a: 1 })).toEqual({ a: 1 });
  expect(bus.said.map(({ facts }) => facts['reason'])).toContain('it has closed its input');
});

test('whoever asks last before a worker closes its input is told; what it had read before may still be answered', async () => {
  expect(READER_LOOK_MS).toBeLessThan(LAST_ANSWERS_MS);
  await using bus = await open({ pools: [pool({ flags: ['--ignore-end'] })] });
  await using client = new Asker(bus);
  const gate = makeGate();
  const answers = Promise.all([
    client.ask('wait', { file: gate.file }),
    client.ask('closeInput', { silent: true }),
  ]);
  await until(() => bus.router.stats().workers.some(({ state }) => state === 'retiring'), 'the look');
  gate.open();
  const [slow, lost] = await answers;
  expect(slow.result).toEqual({ file: gate.file });
  expect(lost.error).toMatchObject({ code: -32002 });
  expect(bus.said.map(({ facts }) => facts['reason'])).toContain('it has closed its input');
  expect(await client.result('echo', { a: 1 })).toEqual({ a: 1 });
});

test('a worker that is being ended gets no new work, and its verdict is told once', async () => {
  await using bus = await open({
    pools: [pool({ instances: 2, flags: ['--ignore-term'] })],
    limits: { max_rubbish_lines: 3 },
  });
  await using client = new Asker(bus);
  await until(() => bus.report().pools[0]?.ready === 2, 'both');
  const pids = bus.report().pools[0]?.workers.map(({ pid }) => pid) ?? [];
  await client.ask('rubbish', { lines: 5000 });
  const verdicts = () => bus.said.filter(({ message }) => message.startsWith('a worker is ended'));
  await until(() => verdicts().length > 0, 'the verdict');
  const ended = pids[Number(String(verdicts()[0]?.facts['worker']).split('/')[1])];
  expect(ended).toBeTypeOf('number');
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.result('pid')));
  expect(answers.every((pid) => typeof pid === 'number' && pid !== ended)).toBe(true);
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
