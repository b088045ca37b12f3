// stdio Bus: what can be seen of it while it runs, and what can be changed.

import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { busCommand, BusUnderTest, poolOf, skipForeign } from '../../helpers/bus.js';
import { isAlive } from '../../helpers/proc.js';
import { run } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

verifies(['bus/14.13/stats', 'bus/ours/stats-command'], async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ instances: 2 });
  await using client = await bus.connect();
  await client.ask('pid', {}, { sessionId: 's' });
  const stats = await until(async () => {
    const told = (await client.ask('bus/stats')) as { stats: { clients: number; workers: object[] } };
    return told.stats.clients === 1 && told.stats;
  }, 'nobody else to be connected');
  expect(stats).toMatchObject({ clients: 1, sessions: 1, pending: 0 });
  expect(stats.workers).toHaveLength(2);
  expect(bus.notes().filter(({ line }) => line !== undefined)).toHaveLength(1); // no worker hears of bus/stats
  const json = await run([...busCommand(), 'stats', '--unix', bus.socket, '--json']);
  expect(json).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(json.stdout)).toMatchObject({ stats: { sessions: 1 } });
  const text = await run([...busCommand(), 'stats', '--unix', bus.socket]);
  expect(text.code).toBe(0);
  expect(text.stdout.split('\n').length).toBeGreaterThan(3);
  const nobody = await run([...busCommand(), 'stats', '--unix', `${bus.socket}-not`]);
  expect(nobody.code).toBe(1);
  expect(nobody.stderr).toContain('bus.sock-not');
});

verifies('bus/14.13/metrics', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start({ args: ['--metrics', '127.0.0.1:0'] });
  await using client = await bus.connect();
  await client.ask('pid');
  const url = await until(() => /http:\/\/\S+:\d+/.exec(bus.stderr)?.[0], 'the address of the metrics');
  const text = await until(async () => {
    const answer = await fetch(new URL('/metrics', url));
    expect(answer.status).toBe(200);
    const told = await answer.text();
    return /clients\S* 1$/m.test(told) && told;
  }, 'one client to be counted');
  expect(text).toMatch(/^# TYPE \S+ (counter|gauge)$/m);
});

verifies('bus/ours/reload', async (_, skip) => {
  skipForeign(skip);
  const stays = poolOf('stays', 1, [], { env: { BUS_TEST: 'one' } });
  await using bus = await BusUnderTest.start({ pools: [stays, poolOf('goes'), poolOf('changes')] });
  await using client = await bus.connect();
  const { pid } = await client.ask('pid', {}, { pool: 'stays', sessionId: 's' });
  const { pid: gone } = await client.ask('pid', {}, { pool: 'goes' });
  const { pid: old } = await client.ask('pid', {}, { pool: 'changes' });
  const gate = bus.gate('end');
  const open = client.request('pid', { gate: gate.path }, { pool: 'goes' });
  await client.ask('bus/stats'); // what was sent before it has been read, too: signals overtake
  bus.rewriteConfig({
    pools: [stays, poolOf('changes', 1, [], { env: { BUS_TEST: 'two' } }), poolOf('comes')],
  });
  bus.child.kill('SIGHUP');
  const { pid: fresh } = await until(
    async () => (await client.call('pid', {}, { pool: 'comes' })).result,
    'the new pool',
  );
  expect(fresh).not.toBe(gone);
  gate.open();
  expect(await client.take((m) => m.id === open)).toMatchObject({ result: { pid: gone } }); // what was pending is served
  await until(() => !isAlive(Number(gone)) && !isAlive(Number(old)), 'the old ones to go');
  expect(await client.call('pid', {}, { pool: 'goes' })).toMatchObject({ error: { code: -32001 } });
  expect(await client.ask('echo', {}, { pool: 'changes' })).toMatchObject({ env: 'two' });
  expect(await client.ask('pid', {}, { sessionId: 's' })).toEqual({ pid }); // neither client nor session was lost
});

verifies('bus/ours/reload-wrong', async (_, skip) => {
  skipForeign(skip);
  await using bus = await BusUnderTest.start();
  await using client = await bus.connect();
  const { pid } = await client.ask('pid');
  const refusals = (): number => bus.stderr.split('the new configuration is refused').length - 1;
  for (const [n, text] of ['{"pools":[', '{"pools":[{"id":"w","comand":"x"}]}'].entries()) {
    writeFileSync(bus.config, text);
    bus.child.kill('SIGHUP');
    await until(() => refusals() === n + 1, 'the log to tell');
    expect(await client.ask('pid')).toEqual({ pid });
  }
  await until(() => bus.stderr.includes('comand'), 'the rest of that line');
});
