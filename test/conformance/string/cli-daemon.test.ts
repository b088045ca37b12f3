// The command line of String where no daemon runs yet, and what it says without one.

import { createServer } from 'node:http';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bin, Program } from '../../helpers/program.js';
import { freePort } from '../../helpers/free-port.js';
import { removeFolder } from '../../helpers/remove-folder.js';
import { until } from '../../helpers/wait.js';
import { string, stringEnvironment } from '../kit/string-cli.js';
import { makeBase } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

/** A machine on which String was never used. The daemon that a test leaves is ended. */
class Place implements AsyncDisposable {
  readonly base = makeBase();
  readonly port: number;

  static async make(): Promise<Place> {
    return new Place(await freePort());
  }

  constructor(port: number) {
    this.port = port;
  }

  call(...args: string[]) {
    return string(this, args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.call('daemon', 'stop');
    removeFolder(this.base);
  }
}

verifies('string/cli/auto-start', async () => {
  await using place = await Place.make();
  const refused = await place.call('--no-start', '/info');
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^string: no stringd answers at .*\nStart it with: string daemon start\n$/u);
  const first = await place.call('--agent', 'fresh', '/info');
  expect([first.code, first.stdout, first.stderr]).toEqual([0, expect.stringContaining('Session info'), '']);
  expect((await place.call('--agent', 'fresh', '--no-start', '/topics')).stdout).toContain('* main');
  expect(existsSync(join(place.base, 'string/agents/fresh'))).toBe(true);
});

verifies('string/cli/daemon', async () => {
  await using place = await Place.make();
  const { port } = place;
  const before = await place.call('--daemon', 'status');
  expect([before.code, before.stdout]).toEqual([1, 'stringd is not running\n']);
  expect((await place.call('daemon', 'status', '--json')).stdout).toBe(
    `${JSON.stringify({ running: false, port, data_dir: join(place.base, 'string/daemon') })}\n`,
  );
  const started = await place.call('--daemon', 'start');
  expect(started).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(`^stringd started on port ${port} \\(pid \\d+\\)\n$`),
  });
  const again = await place.call('daemon', 'start');
  expect(again.stdout).toBe(started.stdout.replace('started', 'already running'));
  const status = await place.call('--daemon', 'status');
  expect(status.stdout).toMatch(
    new RegExp(`^stringd running on port ${port} — 0 agent\\(s\\), 0 session\\(s\\)\npid \\d+, `, 'u'),
  );
  const { pid } = JSON.parse((await place.call('--json', 'daemon', 'status')).stdout) as { pid: number };
  expect(started.stdout).toContain(`(pid ${pid})`);
  process.kill(pid, 'SIGKILL');
  const left = `process ${pid} was killed and has left its lock`;
  await until(async () => {
    const { code, stderr } = await place.call('daemon', 'status');
    return code === 1 && stderr.includes(left);
  }, 'it to be gone');
  expect((await place.call('daemon', 'start')).stdout).toContain('stringd started');
  expect(await place.call('--daemon', 'stop')).toMatchObject({ code: 0, stdout: 'stringd stopped\n' });
  expect(await place.call('--daemon', 'stop')).toMatchObject({ code: 0, stdout: 'stringd is not running\n' });
});

verifies('string/cli/daemon', async () => {
  await using here = await Place.make();
  await using there = await Place.make();
  const status = async (place: Pick<Place, 'base' | 'port'>): Promise<unknown> =>
    JSON.parse((await string(place, ['--json', 'daemon', 'status'])).stdout);
  await here.call('daemon', 'start');
  await there.call('daemon', 'start');
  const { pid } = (await status(there)) as { pid: number };
  expect(await status(here)).toMatchObject({ data_dir: join(here.base, 'string/daemon') });
  const across = { base: here.base, port: there.port };
  expect(await status(across)).toMatchObject({ running: true, pid, data_dir: null });
  expect((await string(across, ['daemon', 'status'])).stdout).toContain('with another data folder than');
  expect(await string(across, ['daemon', 'stop'])).toMatchObject({ code: 0, stdout: 'stringd stopped\n' });
  expect(await status(here)).toMatchObject({ running: true });
});

verifies('string/cli/foreground', async () => {
  await using place = await Place.make();
  await using daemon = new Program(
    [process.execPath, bin('string'), '--daemon', 'foreground', String(place.port)],
    {
      env: { ...stringEnvironment(place), STRING_PORT: undefined },
    },
  );
  await until(() => daemon.stderr.includes(`listening on http://127.0.0.1:${place.port}`), 'it to listen');
  expect((await place.call('--no-start', '/info')).code).toBe(0);
  const other = await string({ base: place.base, port: await freePort() }, ['daemon', 'status']);
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringContaining(`process ${daemon.child.pid} has `),
  ]);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

verifies('string/cli/port-taken', async () => {
  await using place = await Place.make();
  const server = createServer((_, res) => res.end('hello')).listen(place.port, '127.0.0.1');
  await once(server, 'listening');
  const { code, stdout, stderr } = await place.call('/info');
  expect([code, stdout, stderr]).toEqual([
    1,
    '',
    expect.stringContaining(`port ${place.port} is taken by another program`),
  ]);
  expect((await place.call('daemon', 'status')).stderr).toContain(
    'used by another program, which is not stringd',
  );
  server.close();
  await once(server, 'close');
});

verifies(
  [
    'string/cli/usage',
    'string/cli/flags',
    'string/cli/hub-help',
    'string/cli/webhook-word',
    'string/cli/invalid-topic',
    'string/cli/port',
  ],
  async () => {
    const base = makeBase();
    const place = { base, port: 1 }; // nobody is asked
    const call = (...args: string[]) => string(place, args);
    const help = await call('--help');
    expect([help.code, help.stderr]).toEqual([0, '']);
    for (const part of ['Examples:', 'Exit codes:', 'STRING_AGENT_ID', '--chanflow'])
      expect(help.stdout).toContain(part);
    expect((await call()).stdout).toBe(help.stdout);
    expect((await call('--version')).stdout).toMatch(/^string \d+\.\d+\.\d+\n$/u);
    expect(await call('agent', '--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('string agent use ID'),
    });
    for (const [args, told] of [
      [['--jsno', 'main', '/info'], 'did you mean --json?'],
      [['bad!name', '/info'], 'invalid topic: bad!name'],
      [['webhook', 'show'], 'string event webhook show'],
      [['daemon', 'strat'], 'did you mean start?'],
      [['completions', 'tcsh'], 'bash, zsh or fish'],
      [['mcp', 'config'], '--client is missing'],
    ] as const)
      expect(await call(...args)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(told),
      });
    for (const STRING_PORT of ['0', 'abc', '65536']) {
      const { code, stderr } = await string(place, ['/info'], { env: { STRING_PORT } });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`STRING_PORT=${JSON.stringify(STRING_PORT)}`),
      ]);
      expect(await string(place, ['--help'], { env: { STRING_PORT } })).toMatchObject({
        code: 0,
        stdout: help.stdout,
      });
      expect((await string(place, ['--version'], { env: { STRING_PORT } })).code).toBe(0);
    }
    removeFolder(base);
  },
);
