// The built `stdio-bus` as its users start it: flags, doors, signals, and what is left when it is gone.

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { ask } from '../helpers/http-ask.js';
import { bin, Program, type ProgramOptions, run } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

const WORKER = fileURLToPath(new URL('../fixtures/bus-run/worker.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hawser-bus-run-'));
afterAll(() => removeFolder(folder));

const START_MS = 60_000;
let files = 0;

function configFile(config: unknown): string {
  const file = join(folder, `c${(files += 1)}.json`);
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
  return file;
}

const pool = (more: object = {}, ...flags: string[]): object => ({
  id: 'echo',
  command: process.execPath,
  args: [WORKER, ...flags],
  ...more,
});
const socketPath = (): string => join(folder, `s${(files += 1)}`);
const command = (...args: string[]): [string, ...string[]] => [process.execPath, bin('stdio-bus'), ...args];

async function start(args: string[], options: ProgramOptions = {}): Promise<Program> {
  const bus = new Program(command(...args), options);
  await until(
    () => bus.stderr.includes('listening') || bus.child.exitCode !== null,
    'the bus to listen',
    START_MS,
  );
  return bus;
}

interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

class Client implements Disposable {
  readonly socket: Socket;
  readonly #lines: string[] = [];
  closed = false;

  constructor(where: string | number) {
    this.socket = typeof where === 'string' ? connect(where) : connect(where, '127.0.0.1');
    this.socket.on('error', () => {});
    this.socket.on('close', () => (this.closed = true));
    createInterface({ input: this.socket }).on('line', (line) => this.#lines.push(line));
  }

  send(message: object): void {
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async next(): Promise<Answer> {
    await until(() => this.#lines.length > 0, 'an answer', START_MS);
    return JSON.parse(this.#lines.shift() ?? '') as Answer;
  }

  async ask(method: string, params: object = {}): Promise<Answer> {
    this.send({ id: 'q', method, params });
    return await this.next();
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

describe('the command line', () => {
  test('help and version are on stdout, with 0', async () => {
    const [help, version] = await Promise.all([run(command('--help')), run(command('--version'))]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const flag of ['--config FILE', '--unix PATH', '--tcp HOST:PORT', '--trace[=FILE]', 'SIGHUP'])
      expect(help.stdout).toContain(flag);
    expect(version).toMatchObject({ code: 0, stderr: '' });
    expect(version.stdout).toMatch(/^stdio-bus \d+\.\d+\.\d+\n$/);
  });

  test.each([
    [[], '--config FILE is needed'],
    [['--confg', 'x'], 'unknown option --confg; did you mean --config?'],
    [['--config', '/no/such/file.json'], '/no/such/file.json: no such file'],
    [['--config', '{good}', '--stdio', '--unix', '/tmp/x'], '--stdio and --unix: choose one of them'],
    [['--config', '{good}', '--tcp', 'nonsense'], 'expected HOST:PORT'],
    [['--config', '{good}', '--tcp', '0.0.0.0:0'], 'pass --allow-remote as well'],
    [['--config', '{good}', '--tcp', '0.0.0.0:0', '--allow-remote'], 'STDIO_BUS_TOKEN'],
    [['--config', '{good}', '--config-fd', '3'], 'give one of them'],
    [['--config-fd', '77'], 'descriptor 77: is not open'],
    [['--config', '{good}', '--log-level', 'inf'], 'did you mean info?'],
    [['--config', '{bad}'], 'pools[0].comand: unknown key; did you mean "command"?'],
    [['stats'], 'say where the bus is'],
    [['status'], 'unknown command "status"; there are stats and restart'],
  ])('%j is refused with 2 and a sentence', async (args, words) => {
    const good = configFile({ pools: [pool()] });
    const bad = configFile({ pools: [{ id: 'a', comand: 'x' }] });
    const result = await run(
      command(...args.map((arg) => arg.replace('{good}', good).replace('{bad}', bad))),
    );
    expect(result.stderr).toContain(words);
    expect(result).toMatchObject({ code: 2, stdout: '' });
  });

  test('--check tells what a configuration comes to, and whether it could be started', async () => {
    const good = await run(command('--check', '--config', configFile({ pools: [pool({ instances: 3 })] })));
    expect(good).toMatchObject({ code: 0, stderr: '' });
    expect(good.stdout).toContain('pool:    echo: 3 × ');
    const bad = await run(
      command('--check', '--json', '--config', configFile({ pools: [pool({ command: 'no-such-program' })] })),
    );
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      ok: false,
      problems: ['pool echo: program not found: no-such-program'],
    });
  });

  test('a program that is not there ends the bus with 1 at once', async () => {
    const config = configFile({ pools: [pool({ command: 'no-such-program' })] });
    const path = socketPath();
    const result = await run(command('--config', config, '--unix', path));
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('program not found: no-such-program');
    expect(result.stderr).not.toContain('started again');
    expect(existsSync(path)).toBe(false);
  });
});

describe('stdio', () => {
  test('what was asked before the end of input is answered, then it ends with 0', async () => {
    const config = configFile({ pools: [pool()] });
    const input = [
      { jsonrpc: '2.0', id: 1, method: 'sleep', params: { ms: 300 } },
      { jsonrpc: '2.0', id: 2, method: 'echo', params: { a: 1 } },
    ];
    const result = await run(command('--config', config), {
      input: input.map((each) => `${JSON.stringify(each)}\n`).join(''),
    });
    expect(result.code).toBe(0);
    const answers = result.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Answer).id);
    expect(new Set(answers)).toEqual(new Set([1, 2]));
  });

  test('what is not answered within the time of a drain after the end of input is not waited for twice', async () => {
    const config = configFile({ pools: [pool()], limits: { drain_timeout_sec: 1 } });
    const result = await run(command('--config', config, '--log-format', 'json'), {
      input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sleep', params: { ms: 60_000 } })}\n`,
    });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('-32002');
    const draining = result.stderr.split('\n').find((line) => line.includes('"draining"'));
    expect((JSON.parse(draining ?? '{}') as { timeout_ms?: number }).timeout_ms).toBeLessThan(500);
  });

  test('a configuration by descriptor, from standard input even, is one', async () => {
    const bus = await run(
      ['sh', '-c', `exec "$0" "$1" --check --config-fd 0`, process.execPath, bin('stdio-bus')],
      {
        input: JSON.stringify({ pools: [pool()] }),
      },
    );
    expect(bus).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('signals', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s finishes what is under way, ends with 0 and removes the socket',
    async (signal) => {
      const path = socketPath();
      await using bus = await start(['--config', configFile({ pools: [pool()] }), '--unix', path]);
      using client = new Client(path);
      client.send({ id: 1, method: 'sleep', params: { ms: 600 } });
      using other = new Client(path);
      expect((await other.ask('echo', { a: 1 })).result).toEqual({ a: 1 });
      bus.child.kill(signal);
      expect((await client.next()).result).toEqual({ ms: 600 });
      expect(await bus.ended).toEqual({ code: 0, signal: null });
      expect(existsSync(path)).toBe(false);
      await until(() => client.closed, 'the client to be closed');
    },
  );

  test('a second one does not wait, and kills the tree', async () => {
    const path = socketPath();
    const config = configFile({ pools: [pool({}, '--ignore-term', '--ignore-end')] });
    await using bus = await start(['--config', config, '--unix', path]);
    using client = new Client(path);
    const worker = Number((await client.ask('pid')).result);
    const grandchild = Number((await client.ask('grandchild')).result);
    client.send({ id: 1, method: 'sleep', params: { ms: 60_000 } });
    await client.ask('pid'); // what was sent before it is under way
    bus.child.kill('SIGTERM');
    await until(() => bus.stderr.includes('draining'), 'the drain');
    bus.child.kill('SIGTERM');
    expect(await bus.ended).toEqual({ code: 143, signal: null });
    await until(() => !isAlive(worker) && !isAlive(grandchild), 'the tree to be gone');
  });

  test('SIGHUP reads the configuration again; a wrong one is refused, and nobody is cut off', async () => {
    const path = socketPath();
    const config = configFile({ pools: [pool({ env: { COLOUR: 'red' } })] });
    await using bus = await start(['--config', config, '--unix', path]);
    using client = new Client(path);
    const colour = async () => (await client.ask('env', { name: 'COLOUR' })).result;
    expect(await colour()).toBe('red');
    writeFileSync(config, '{"pools": []}');
    bus.child.kill('SIGHUP');
    await until(() => bus.stderr.includes('the new configuration is refused'), 'the refusal', START_MS);
    expect(await colour()).toBe('red');
    writeFileSync(config, JSON.stringify({ pools: [pool({ env: { COLOUR: 'blue' } })] }));
    bus.child.kill('SIGHUP');
    await until(() => bus.stderr.includes('the configuration was read again'), 'the reload', START_MS);
    expect(await colour()).toBe('blue');
  });

  test('kill -9 leaves no worker, and the next bus takes the socket over', async () => {
    const path = socketPath();
    const config = configFile({ pools: [pool({}, '--ignore-term', '--ignore-end')] });
    const bus = await start(['--config', config, '--unix', path]);
    using client = new Client(path);
    const worker = Number((await client.ask('pid')).result);
    const grandchild = Number((await client.ask('grandchild')).result);
    bus.child.kill('SIGKILL');
    await bus.ended;
    await until(() => !isAlive(worker) && !isAlive(grandchild), 'the tree to be gone', START_MS);
    expect(existsSync(path)).toBe(true);
    await using next = await start(['--config', config, '--unix', path]);
    expect(next.stderr).toContain(`stdio-bus: listening on unix:${path}`);
    const thief = await run(command('--config', config, '--unix', path));
    expect(thief.code).toBe(1);
    expect(thief.stderr).toContain('someone is listening');
  });
});

describe('TCP', () => {
  test('with a token the first line has to bring it', async () => {
    const env = { STDIO_BUS_TOKEN: 'a-token-for-tests' };
    await using bus = await start(['--config', configFile({ pools: [pool()] }), '--tcp', 'localhost:0'], {
      env,
    });
    const port = Number(/tcp:localhost:(\d+)/.exec(bus.stderr)?.[1]);
    using stranger = new Client(port);
    stranger.send({ id: 1, method: 'echo' });
    expect((await stranger.next()).error?.code).toBe(-32006);
    await until(() => stranger.closed, 'the stranger to be closed');
    using friend = new Client(port);
    expect((await friend.ask('bus/auth', { token: 'a-token-for-tests' })).error).toBeUndefined();
    expect((await friend.ask('env', { name: 'STDIO_BUS_TOKEN' })).result).toBeNull();
    const stats = await run(command('stats', '--tcp', `127.0.0.1:${port}`, '--json'), { env });
    expect(stats).toMatchObject({ code: 0, stderr: '' });
    const refused = await run(command('stats', '--tcp', `127.0.0.1:${port}`), {
      env: { STDIO_BUS_TOKEN: 'wrong' },
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'Not authenticated (the token in STDIO_BUS_TOKEN is not that of this bus)',
    );
    const without = await run(command('restart', '--tcp', `127.0.0.1:${port}`));
    expect(without.code).toBe(1);
    expect(without.stderr).toContain('Not authenticated (put the token of this bus into STDIO_BUS_TOKEN)');
  });
});

describe('looking on', () => {
  test('stats, restart, metrics, trace and JSON logs', async () => {
    const path = socketPath();
    const trace = join(folder, 'trace.jsonl');
    await using bus = await start([
      '--config',
      configFile({ pools: [pool({ instances: 2 })] }),
      '--unix',
      path,
      '--metrics',
      ':0',
      '--log-format',
      'json',
      `--trace=${trace}`,
    ]);
    using client = new Client(path);
    await client.ask('echo', { secret: 'do-not-tell' });
    const areReady = async (): Promise<boolean> =>
      (await run(command('stats', '--unix', path))).stdout.includes('pool echo: 2 of 2 ready');
    await until(areReady, 'both workers to be ready');
    const json = await run(command('stats', '--unix', path, '--json'));
    const before = JSON.parse(json.stdout) as { pools: { workers: { pid: number }[] }[] };
    const restart = await run(command('restart', '--unix', path, '--pool', 'echo'));
    expect(restart).toMatchObject({ code: 0, stdout: '' });
    expect(restart.stderr).toContain('2 workers were replaced');
    const after = JSON.parse((await run(command('stats', '--unix', path, '--json'))).stdout) as typeof before;
    const pids = (report: typeof before) => report.pools[0]?.workers.map(({ pid }) => pid) ?? [];
    expect(pids(after).filter((pid) => pids(before).includes(pid))).toEqual([]);
    const wrong = await run(command('restart', '--unix', path, '--pool', 'none'));
    expect(wrong.code).toBe(1);

    const records = (): Record<string, unknown>[] =>
      bus.stderr
        .split('\n')
        .slice(0, -1) // the last one may not be whole yet
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const isThere = (fits: (record: Record<string, unknown>) => boolean) => () => records().find(fits);
    await until(
      isThere(({ msg, address }) => msg === 'listening' && address === `unix:${path}`),
      'its word',
    );
    await until(
      isThere(({ msg, worker }) => msg === 'worker is up' && worker === 'echo/0'),
      'the word of a worker',
    );
    const { url } = await until(
      isThere((record) => record['url'] !== undefined),
      'where the metrics are',
    );
    const metrics = await ask(String(url), new URL(String(url)).pathname);
    expect(metrics.text).toContain('stdio_bus_workers{pool="echo",state="ready"} 2');
    expect((await ask(String(url), '/health')).json).toEqual({ status: 'ok' });

    bus.child.kill('SIGTERM');
    await bus.ended;
    const traced = readFileSync(trace, 'utf8');
    expect(traced).toContain('"method":"echo"');
    expect(traced).not.toContain('do-not-tell');
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') !== true;
  } catch {
    return false;
  }
}
