// The SDK against the built rexd.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectTarget } from '../../src/client/rex/connect-target.js';
import { ConnectError } from '../../src/client/rex/explain-failure.js';
import { RexClient } from '../../src/client/rex/rex-client.js';
import { childLink } from '../../src/wire/transport/stdio.js';
import { bin } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

let folder: string;
let server: ChildProcessByStdio<Writable, Readable, null>;
let client: RexClient;

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-rex-')));
  server = spawn(process.execPath, [bin('rexd'), '--stdio', '--root', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, XDG_CONFIG_HOME: folder, HOME: folder },
  });
  client = await RexClient.open(childLink(server), { clientName: 'test' });
});

afterEach(async () => {
  await client.close();
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  removeFolder(folder);
});

test('a command runs to its end, and its output, its errors and its code are all there', async () => {
  const { stdout, stderr, exitCode } = await client.run({
    shell: true,
    command: 'echo out; echo err >&2; exit 3',
  });
  expect([stdout.toString(), stderr.toString(), exitCode]).toEqual(['out\n', 'err\n', 3]);
});

test('results are typed by the method table', async () => {
  await client.request('fs.write', { path: 'a.txt', content: 'text' });
  const read = await client.request('fs.read', { path: 'a.txt' });
  expect(read.content satisfies string).toBe('text');
});

test('a refusal is an RpcError with its code', async () => {
  await expect(client.request('fs.read', { path: '/etc/passwd' })).rejects.toMatchObject({ code: -32002 });
});

test('many commands at once each have their own output', async () => {
  const runs = Array.from({ length: 8 }, (_, i) =>
    client.run({ argv: ['seq', '1', String(1000 * (i + 1))] }),
  );
  const counts = (await Promise.all(runs)).map(({ stdout }) => stdout.toString().trim().split('\n').length);
  expect(counts).toEqual([1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]);
});

test('a process is written to as it runs, and ends when its input does', async () => {
  const process = await client.start({ argv: ['cat'] });
  await process.write('one ');
  await process.write(Buffer.from([0xff]));
  await process.endInput();
  const chunks: Buffer[] = [];
  for await (const { bytes } of process) chunks.push(bytes);
  expect(Buffer.concat(chunks)).toEqual(Buffer.concat([Buffer.from('one '), Buffer.from([0xff])]));
  expect((await process.exit).exitCode).toBe(0);
});

test('aborting kills the whole tree', async () => {
  const abort = new AbortController();
  const process = await client.start(
    { shell: true, command: 'sleep 1000 & sleep 1000' },
    { signal: abort.signal },
  );
  abort.abort();
  expect(await process.exit).toMatchObject({ signal: 'SIGKILL' });
});

test('closing a process kills it', async () => {
  const process = await client.start({ argv: ['sleep', '1000'] });
  await process.close();
  expect((await process.exit).exitCode).not.toBe(0);
});

test('a server that is killed is told to whoever waits for a process', async () => {
  const process = await client.start({ argv: ['sleep', '1000'] });
  server.kill('SIGKILL');
  await expect(process.exit).rejects.toThrow('connection');
  await expect(client.request('session.info', {})).rejects.toThrow('connection');
  await until(() => client.closing, 'the client to notice');
});

test('this machine is a target, and what is in the way of another is said in plain words', async () => {
  const localCommand = [process.execPath, bin('rexd'), '--stdio', '--root', folder];
  const options = { clientName: 'test', localCommand };
  await using local = await connectTarget({ alias: 'local', target: undefined, why: '' }, options);
  expect((await local.run({ argv: ['pwd'] })).stdout.toString()).toBe(`${folder}\n`);
  const broken = async (script: string): Promise<string> => {
    const connected = connectTarget(
      { alias: 'local', target: undefined, why: '' },
      { ...options, localCommand: ['sh', '-c', script] },
    );
    const error = await connected.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error instanceof ConnectError ? `${error.reason}: ${error.message}` : 'connected';
  };
  expect(await broken('echo "sh: 1: rexd: not found" >&2; exit 127')).toContain('no_rexd:');
  expect(await broken('echo Welcome; exit 0')).toContain(
    'noise: cannot connect to local (this machine): something else answered than rexd; it begins: "Welcome"',
  );
  expect(await broken('exit 3')).toContain('exit code 3');
});

test('what a login prints before the protocol is passed over', async () => {
  const script = 'echo "Welcome to $HOST"; printf "\\033[1mnews\\033[0m\\n"; exec "$@"';
  const localCommand = ['sh', '-c', script, 'sh', process.execPath, bin('rexd'), '--stdio', '--root', folder];
  await using local = await connectTarget(
    { alias: 'local', target: undefined, why: '' },
    { clientName: 'test', localCommand },
  );
  expect((await local.run({ argv: ['echo', 'hi'] })).stdout.toString()).toBe('hi\n');
});
