// One client, every way to a server: what holds over stdio holds over each of them.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHttpLink } from '../../src/client/rex/http-link.js';
import { RexClient } from '../../src/client/rex/rex-client.js';
import { openUnixLink } from '../../src/client/rex/unix-link.js';
import { openWebSocketLink } from '../../src/client/rex/websocket-link.js';
import { openInProcess } from '../../src/rexd/in-process.js';
import type { Link } from '../../src/wire/transport/link.js';
import { childLink } from '../../src/wire/transport/stdio.js';
import { DaemonUnderTest, TOKEN } from '../helpers/daemon.js';
import { isAlive } from '../helpers/proc.js';
import { bin } from '../helpers/program.js';
import { until } from '../helpers/wait.js';

let daemon: DaemonUnderTest;
beforeAll(async () => {
  daemon = await DaemonUnderTest.start({
    args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'],
    limits: {
      max_concurrent_sessions: 64,
      max_output_bytes: 256 * 1024 * 1024,
      max_file_read_bytes: 4 * 1024 * 1024,
    },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const ends: (() => Promise<unknown>)[] = [];

const WAYS: Readonly<Record<string, () => Promise<Link>>> = {
  stdio: async () => {
    const args = [bin('rexd'), '--stdio', '--config', join(daemon.base, 'config.toml')];
    const child = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, XDG_STATE_HOME: join(daemon.base, 'state') },
    });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    ends.push(async () => await gone);
    return childLink(child);
  },
  memory: () => openInProcess({ configFile: join(daemon.base, 'config.toml') }),
  unix: () => openUnixLink(join(daemon.base, 's')),
  ws: () => openWebSocketLink({ url: daemon.url, token: TOKEN }),
  http: () => Promise.resolve(openHttpLink({ url: daemon.url, token: TOKEN })),
};

describe.each(Object.keys(WAYS))('over %s', (way) => {
  const open = async (): Promise<RexClient> =>
    await RexClient.open(await (WAYS[way] as () => Promise<Link>)(), { clientName: `test ${way}` });
  let client: RexClient;
  beforeAll(async () => {
    client = await open();
  });
  afterAll(async () => {
    await client.close();
    for (const end of ends.splice(0)) await end();
  });

  test('output, errors and exit codes arrive whole', async () => {
    const ran = await client.run({ shell: true, command: 'echo out; echo err >&2; exit 3' });
    expect([ran.stdout.toString(), ran.stderr.toString(), ran.exitCode]).toEqual(['out\n', 'err\n', 3]);
  });

  test('files are written and read, and refusals have their codes', async () => {
    const content = `${way} ${'é'.repeat(100_000)}`;
    await client.request('fs.write', { path: `${way}.txt`, content });
    expect((await client.request('fs.read', { path: `${way}.txt` })).content === content).toBe(true);
    await expect(client.request('fs.read', { path: '/etc/passwd' })).rejects.toMatchObject({ code: -32_002 });
  });

  test('many commands at once each have their own output', async () => {
    const runs = Array.from({ length: 8 }, (_, i) =>
      client.run({ argv: ['seq', '1', String(1000 * (i + 1))] }),
    );
    const counts = (await Promise.all(runs)).map(({ stdout }) => stdout.toString().trim().split('\n').length);
    expect(counts).toEqual([1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]);
  });

  test('input arrives in the order it was written, without waiting for each', async () => {
    const process = await client.start({ argv: ['cat'] });
    const words = Array.from({ length: 100 }, (_, i) => `${i} `);
    await Promise.all(words.map((word) => process.write(word)));
    await process.write(Buffer.from([0xff]));
    await process.endInput();
    const chunks: Buffer[] = [];
    for await (const { bytes } of process) chunks.push(bytes);
    expect(Buffer.concat(chunks)).toEqual(Buffer.concat([Buffer.from(words.join('')), Buffer.from([0xff])]));
  });

  test('megabytes of output come through in order, to a reader that takes its time', async () => {
    const process = await client.start({ argv: ['seq', '1', '1500000'], stdin: '' });
    let total = 0;
    let last = '';
    for await (const { bytes } of process) {
      if (total === 0) await new Promise((resolve) => setTimeout(resolve, 300));
      total += bytes.length;
      last = (last + bytes.toString('latin1')).slice(-16);
    }
    expect([total, last.endsWith('\n1500000\n'), (await process.exit).exitCode]).toEqual([
      10_888_896,
      true,
      0,
    ]);
  });

  test('aborting kills the whole tree, and closing a process kills it', async () => {
    const abort = new AbortController();
    const tree = { shell: true, command: 'sleep 1000 & sleep 1000' };
    const aborted = await client.start(tree, { signal: abort.signal });
    abort.abort();
    expect(await aborted.exit).toMatchObject({ signal: 'SIGKILL' });
    const closed = await client.start(tree);
    await closed.close();
    expect((await closed.exit).exitCode).not.toBe(0);
  });

  test('a request can be called off, and the next one is answered', async () => {
    const process = await client.start({ argv: ['sleep', '1000'] });
    const wait = { process_id: process.id, timeout_ms: 60_000 };
    const off = client.request('exec.wait', wait, { signal: AbortSignal.timeout(100) });
    await expect(off).rejects.toThrow(/abort|timeout/i);
    expect(await client.request('session.info', {})).toMatchObject({ running_processes: 1 });
    await process.close();
  });

  test('the end of the client is the end of what it runs', async () => {
    const other = await open();
    const { pid = 0 } = await other.start({ argv: ['sleep', '1000'] });
    await other.close();
    await until(() => !isAlive(pid), 'the end of the program');
    expect(isAlive(pid)).toBe(false);
  });

  test.runIf(way !== 'memory')('a terminal shows what is typed into it', async () => {
    const { pty_id, process_id } = await client.request('pty.open', { argv: ['cat'], cols: 80, rows: 24 });
    await client.request('pty.input', { pty_id, data: 'hello\n' });
    await client.request('pty.close', { pty_id });
    expect(process_id).toMatch(/^p_/);
  });
});

test('a daemon that is killed is told to whoever waits, over each of them', async () => {
  for (const way of ['unix', 'ws', 'http'] as const) {
    await using mortal = await DaemonUnderTest.start({
      args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'],
    });
    const link =
      way === 'unix'
        ? await openUnixLink(join(mortal.base, 's'))
        : way === 'ws'
          ? await openWebSocketLink({ url: mortal.url, token: TOKEN })
          : openHttpLink({ url: mortal.url, token: TOKEN, retryMs: 300 });
    const client = await RexClient.open(link, { clientName: 'test' });
    const process = await client.start({ argv: ['sleep', '1000'] });
    mortal.child.kill('SIGKILL');
    await expect(process.exit, way).rejects.toThrow(/connection|answer/);
    await client.close();
  }
});

test('a file of targets names daemons, and what is wrong is said in plain words', async () => {
  const { connectTarget } = await import('../../src/client/rex/connect-target.js');
  const { parseTargets } = await import('../../src/client/rex/target.js');
  const tokenFile = join(daemon.base, 'token');
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  writeFileSync(join(daemon.base, 'open-token'), TOKEN, { mode: 0o644 });
  const wrong = join(daemon.base, 'wrong');
  writeFileSync(wrong, 'wrong', { mode: 0o600 });
  const connect = async (entry: object): Promise<string> => {
    const { targets } = parseTargets(JSON.stringify({ targets: { it: entry } }), 'targets.json');
    try {
      const options = { clientName: 'test', localCommand: [] };
      await using client = await connectTarget({ alias: 'it', target: targets['it'], why: '' }, options);
      return (await client.run({ argv: ['pwd'] })).stdout.toString().trim();
    } catch (thrown) {
      return (thrown as Error).message;
    }
  };
  const { url } = daemon;
  expect(await connect({ transport: 'http', url, tokenFile })).toBe(daemon.root);
  expect(await connect({ transport: 'ws', url, tokenFile })).toBe(daemon.root);
  expect(await connect({ transport: 'unix', socket: join(daemon.base, 's') })).toBe(daemon.root);
  expect(await connect({ transport: 'http', url })).toContain('does not let us in: send the token');
  expect(await connect({ transport: 'ws', url, tokenFile: wrong })).toContain('does not let us in');
  expect(await connect({ transport: 'ws', url, tokenFile: join(daemon.base, 'open-token') })).toContain(
    'chmod 600',
  );
  expect(await connect({ transport: 'http', url, tokenEnv: 'NO_SUCH_VARIABLE' })).toContain(
    'NO_SUCH_VARIABLE',
  );
  expect(await connect({ transport: 'http', url: 'http://127.0.0.1:1', tokenFile })).toContain(
    'ECONNREFUSED',
  );
  expect(await connect({ transport: 'http', url: url.replace('http', 'https'), tokenFile })).toContain(
    'TLS with',
  );
  expect(await connect({ transport: 'http', url: `${url}/elsewhere`, tokenFile })).toContain('status 404');
  expect(await connect({ transport: 'http', url: 'http://example.org', tokenFile })).toContain(
    'in the clear',
  );
  expect(await connect({ transport: 'unix', socket: '/nowhere/s' })).toContain('rexd --unix /nowhere/s');
  expect(() => parseTargets('{"targets":{"it":{"transport":"http","url":"x","token":"t"}}}', 'f')).toThrow(
    'tokenFile',
  );
});
