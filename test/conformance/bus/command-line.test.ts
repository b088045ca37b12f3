// stdio Bus: its command line and configuration, and what it says when either is wrong.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { busCommand, BusUnderTest, poolOf, skipForeign, writeConfig } from '../../helpers/bus.js';
import { Program, run, type RunResult } from '../../helpers/program.js';
import { makeScratch } from '../../helpers/scratch.js';
import { until } from '../../helpers/wait.js';
import { verifies } from '../kit/verifies.js';

const bus = async (...args: string[]): Promise<RunResult> => await run([...busCommand(), ...args]);

/** What it says to a configuration that is this text. */
async function check(text: string, ...args: string[]): Promise<RunResult> {
  const file = join(makeScratch(), 'bus.json');
  writeFileSync(file, text);
  return await bus('--config', file, ...(args.length > 0 ? args : ['--check']));
}

verifies(['bus/16/help', 'bus/14.13/version'], async (_, skip) => {
  skipForeign(skip);
  for (const flag of ['--help', '-h']) {
    const help = await bus(flag);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const word of ['--config', '--unix', '--tcp', '--stdio', '--check', '--version'])
      expect(help.stdout).toContain(word);
  }
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const said = await bus('--version');
  expect(said.code).toBe(0);
  expect(said.stdout).toContain(version);
  const base = makeScratch();
  writeConfig(base, { pools: [poolOf('w', 2)] });
  const checked = await bus('--config', join(base, 'bus.json'), '--check');
  expect(checked.code).toBe(0);
  expect(`${checked.stdout}${checked.stderr}`).not.toBe('');
});

verifies('bus/ours/usage-errors', async (_, skip) => {
  skipForeign(skip);
  const base = makeScratch();
  writeConfig(base, {});
  const config = ['--config', join(base, 'bus.json')];
  const wrong = [
    ['--nonsense'],
    [],
    ['--config'],
    ['--config', join(base, 'missing.json')],
    [...config, '--unix'],
    [...config, '--tcp', 'nowhere'],
    [...config, '--tcp', '127.0.0.1:99999'],
    [...config, '--unix', join(base, 's'), '--tcp', '127.0.0.1:0'],
    [...config, '--config-fd', '3'],
    [...config, '--log-level', 'loud'],
    [...config, 'strange-word'],
  ];
  for (const args of wrong) {
    const { code, stdout, stderr } = await bus(...args);
    expect([code, stdout], `${args.join(' ')}: ${stderr}`).toEqual([2, '']);
    expect(stderr).not.toBe('');
    expect(stderr).not.toMatch(/\n\s+at /); // a sentence, not a stack
  }
});

verifies(['bus/ours/config-errors', 'bus/16/unknown-keys'], async (_, skip) => {
  skipForeign(skip);
  const pool = { id: 'w', command: 'cat', instances: 1 };
  const wrong: [unknown, RegExp][] = [
    [{}, /pools/],
    [{ pools: [] }, /pools/],
    [{ pools: [{ ...pool, id: '' }] }, /pools\S*0\S*id/],
    [{ pools: [{ id: 'w', instances: 1 }] }, /command/],
    [{ pools: [{ ...pool, args: [1] }] }, /args/],
    [{ pools: [{ ...pool, instances: 'two' }] }, /instances/],
    [{ pools: [{ ...pool, instances: -1 }] }, /instances/],
    [{ pools: [{ ...pool, comand: 'x' }] }, /comand[\s\S]*command/],
    [{ pools: [pool], limit: {} }, /limit[\s\S]*limits/],
    [{ pools: [pool], limits: { max_restart: 1 } }, /max_restart[\s\S]*max_restarts/],
    [{ pools: [pool], limits: { max_restarts: 'five' } }, /limits\S*max_restarts/],
    [{ pools: [pool, pool] }, /["'`]?w["'`]?/],
    [{ pools: [pool], defaultPool: 'nobody' }, /nobody/],
    [{ pools: [pool], routes: [{ method: 'x', pool: 'nobody' }] }, /nobody/],
    [{ pools: [pool], idCollision: 'cross' }, /idCollision/],
    [{ pools: [pool], sessionOwnership: 'none' }, /sessionOwnership/],
  ];
  await Promise.all(
    wrong.map(async ([config, says]) => {
      const { code, stderr } = await check(JSON.stringify(config));
      expect(code, `${JSON.stringify(config)}: ${stderr}`).toBe(2);
      expect(stderr).toMatch(says);
    }),
  );
  const good = JSON.stringify({ pools: [pool] });
  for (const text of [`${good} x`, `${good}{}`, '{"pools":', '', '[]', 'null']) {
    const { code, stderr } = await check(text);
    expect(code, `${text}: ${stderr}`).toBe(2);
  }
  expect((await check(`${good}\n`)).code).toBe(0);
  expect((await check(JSON.stringify({ pools: [{ id: 'w', command: 'cat' }] }))).code).toBe(0); // one instance
});

verifies('bus/ours/transports', async (_, skip) => {
  skipForeign(skip);
  const pools = [{ id: 'w', command: 'cat', instances: 1 }];
  for (const [transport, word] of [
    [{ mode: 'shm' }, 'shared memory'],
    [{ mode: 'mqueue' }, 'queue'],
    [{ framing: 'capnp' }, 'transport.framing'],
    [{ framing: 'raw' }, 'transport.framing'],
    [{ framing: 'length', protocol: 'binary' }, 'transport.protocol'],
  ] as const) {
    const { code, stderr } = await check(JSON.stringify({ pools, transport }));
    expect(code, stderr).toBe(2);
    expect(stderr.toLowerCase()).toContain(word);
    expect(stderr).toMatch(/unix|tcp|stdio|length|ndjson|json/); // what to use instead
  }
});

verifies('bus/ours/config-fd', async (_, skip) => {
  skipForeign(skip);
  const base = makeScratch();
  writeConfig(base, { pools: [poolOf('w')] });
  const [program, ...args] = busCommand();
  const words = [program, ...args].map((word) => `'${word}'`).join(' ');
  const script = `exec ${words} --config-fd 9 --stdio 9<'${join(base, 'bus.json')}'`;
  await using started = new Program(['sh', '-c', script]);
  started.write('{"jsonrpc":"2.0","id":1,"method":"pid"}\n');
  expect(JSON.parse((await started.line()) ?? '')).toMatchObject({ id: 1, result: {} });
  started.endInput();
  expect(await started.ended).toEqual({ code: 0, signal: null });
});

verifies(['bus/4.1.1/default', 'bus/ours/clean-stdout'], async () => {
  const base = makeScratch();
  writeConfig(base, { worker: ['--rubbish=hello'] });
  await using started = new Program([...busCommand(), '--config', join(base, 'bus.json')]);
  started.write('{"jsonrpc":"2.0","id":1,"method":"pid"}\n');
  expect(JSON.parse((await started.line()) ?? '')).toMatchObject({ id: 1, result: {} });
  started.endInput();
  expect(await started.rest()).toEqual([]);
  expect((await started.ended).code).toBe(0);
});

verifies(['bus/3.1/modes', 'bus/3.1/routes', 'bus/3.2/connects'], async (mode) => {
  await using running = await BusUnderTest.start({ mode, instances: 2 });
  await using client = await running.connect();
  const ids = Array.from({ length: 50 }, () => client.request('pid'));
  for (const id of ids) expect(await client.take((m) => m.id === id)).toMatchObject({ result: {} });
});

verifies(['bus/4.1.1/unix', 'bus/ours/readiness'], async (_, skip) => {
  await using running = await BusUnderTest.start();
  await using a = await running.connect();
  await using b = await running.connect();
  expect((await Promise.all([a.call('pid'), b.call('pid')])).map(({ error }) => error)).toEqual([
    undefined,
    undefined,
  ]);
  skipForeign(skip);
  expect(running.stderr).toContain(`listening on unix:${running.socket}`);
});

verifies('bus/4.1.1/tcp', async (mode) => {
  await using running = await BusUnderTest.start({ mode });
  await using a = await running.connect();
  await using b = await running.connect();
  expect((await Promise.all([a.call('pid'), b.call('pid')])).map(({ error }) => error)).toEqual([
    undefined,
    undefined,
  ]);
});

verifies(['bus/14.13/json-logs', 'bus/14.13/levels'], async (_, skip) => {
  skipForeign(skip);
  const talk = async (...args: string[]): Promise<string> => {
    await using running = await BusUnderTest.start({ mode: 'unix', args });
    await using client = await running.connect();
    await client.ask('secret/method', { password: 'hunter2' });
    client.send('{bad');
    await client.ended();
    running.child.kill('SIGTERM');
    await running.ended;
    return running.stderr;
  };
  const json = await talk('--log-format', 'json');
  const lines = json.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  const quiet = await talk('--log-level', 'error');
  const loud = await talk('--log-level', 'debug');
  expect(loud.length).toBeGreaterThan(quiet.length);
  for (const text of [json, quiet, loud]) {
    expect(text).not.toContain('secret/method'); // single messages only at trace
    expect(text).not.toContain('hunter2');
  }
});

verifies('bus/ours/trace', async (_, skip) => {
  skipForeign(skip);
  await using running = await BusUnderTest.start({ args: ['--trace={base}/trace.log'] });
  await using client = await running.connect();
  await client.ask('login', { password: 'hunter2' });
  const file = join(running.base, 'trace.log');
  const text = await until(() => {
    const all = existsSync(file) && readFileSync(file, 'utf8');
    return all !== false && all.includes('login') && all;
  }, 'the trace');
  expect(text).not.toContain('hunter2');
});
