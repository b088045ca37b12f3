// Compression of a connection, against the built rexd: agreed on, used both ways, told, and never in the way.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCommandLink } from '../../src/client/rex/command-link.js';
import type { CompressionMode } from '../../src/client/rex/compression.js';
import { borrowLink } from '../../src/cli/rex/keeper/borrow.js';
import { Keeper } from '../../src/cli/rex/keeper/keeper.js';
import type { KeeperSpec } from '../../src/cli/rex/keeper/spec.js';
import { RexClient } from '../../src/client/rex/rex-client.js';
import { MAX_ALGORITHMS } from '../../src/rexd/protocol/open-bounds.js';
import { bin, Program } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

let folder: string;
beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-deflate-')))));
afterEach(() => removeFolder(folder));

const command = (): [string, ...string[]] => [
  process.execPath,
  bin('rexd'),
  '--stdio',
  '--root',
  folder,
  '--config',
  config(),
];

function config(): string {
  const file = join(folder, 'rexd.toml');
  writeFileSync(file, '[limits]\nmax_output_bytes = 67108864\nmax_file_read_bytes = 67108864\n');
  return file;
}

async function connect(compression: CompressionMode): Promise<RexClient> {
  const link = await openCommandLink(command());
  return await RexClient.open(link, { clientName: 'test', compression });
}

const LINES = Array.from({ length: 60_000 }, (_, i) => `${i} a line of some log, as there are many\n`).join(
  '',
);

test('a long output comes through whole, and a fraction of it was sent', async () => {
  await using client = await connect('on');
  expect(client.session.compression).toEqual({ algorithm: 'deflate', adaptive: false });
  writeFileSync(join(folder, 'log'), LINES);
  for (let i = 0; i < 3; i++) {
    const { stdout } = await client.run({ argv: ['cat', 'log'], cwd: folder });
    expect(stdout.toString() === LINES).toBe(true);
  }
  const { compression } = await client.request('session.info', {});
  expect(compression).toMatchObject({ algorithm: 'deflate', adaptive: false, level: 1 });
  expect(compression?.bytes_before).toBeGreaterThan(3 * LINES.length);
  expect(compression?.bytes_sent).toBeLessThan(LINES.length / 2);
});

test('a kept connection is compressed between the keeper and the server, call after call', async () => {
  const spec: KeeperSpec = {
    alias: 'far',
    command: command(),
    open: { client_name: 'test' },
    remote: true,
    compression: 'on',
    socket: join(folder, 'keeper'),
    key: 'k',
  };
  await using _ = await Keeper.open(spec);
  writeFileSync(join(folder, 'log'), LINES);
  for (let call = 0; call < 4; call++) {
    const borrowed = await borrowLink(spec);
    if (typeof borrowed === 'string') throw new Error(borrowed);
    await using client = await RexClient.open(borrowed.link, {
      clientName: 'test',
      opened: borrowed.session,
    });
    borrowed.link.input.resume(); // it was paused at the end of the keeper's word
    const { stdout } = await client.run({ argv: ['cat'], stdin: LINES, cwd: folder });
    expect(stdout.toString() === LINES).toBe(true);
    const { compression } = await client.request('session.info', {});
    expect(compression?.bytes_before).toBeGreaterThan(LINES.length);
    expect(compression?.bytes_sent).toBeLessThan((compression?.bytes_before ?? 0) / 2);
  }
});

test('many commands at once, and both directions', async () => {
  await using client = await connect('on');
  const outputs = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      client.run({ argv: ['cat'], stdin: LINES.slice(0, 200_000 + n * 1000), cwd: folder }),
    ),
  );
  for (const [n, { stdout }] of outputs.entries())
    expect(stdout.toString() === LINES.slice(0, 200_000 + n * 1000)).toBe(true);
  const path = join(folder, 'up');
  await client.request('fs.write', { path, content: LINES, mode: 'create' });
  expect(readFileSync(path, 'utf8') === LINES).toBe(true);
  const part = await client.request('fs.read', { path, encoding: 'utf8', length: 400_000 });
  expect(part.content === LINES.slice(0, 400_000)).toBe(true);
});

test('an adaptive connection to this machine is plain again when it has proven fast', async () => {
  await using client = await connect('auto');
  const big = join(folder, 'big');
  const noise = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => Math.sin(i) * 1e9));
  writeFileSync(big, Buffer.concat(Array.from({ length: 12 }, () => noise)));
  const { stdout } = await client.run({ argv: ['cat', big] });
  expect(stdout.equals(readFileSync(big))).toBe(true);
  const { compression } = await client.request('session.info', {});
  expect(compression).toMatchObject({ algorithm: 'deflate', adaptive: true });
});

test('whoever does not ask is told nothing, and nothing is compressed', async () => {
  await using client = await connect('off');
  expect(client.session.compression).toBeUndefined();
  const { compression } = await client.request('session.info', {});
  expect(compression).toEqual({
    algorithm: 'none',
    adaptive: false,
    level: 0,
    bytes_before: 0,
    bytes_sent: 0,
  });
});

async function ask(
  compression: object,
): Promise<{ result?: { compression: unknown }; error?: { code: number } }> {
  await using rexd = new Program(command());
  const params = { client_name: 'test', compression };
  rexd.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.open', params })}\n`);
  return JSON.parse((await rexd.line()) ?? '') as never;
}

test('what the server does not know is answered honestly, and too long a list is refused', async () => {
  expect((await ask({ algorithms: ['zstd', 'br'] })).result?.compression).toEqual({
    algorithm: 'none',
    adaptive: false,
  });
  expect((await ask({ algorithms: ['zstd', 'deflate'] })).result?.compression).toEqual({
    algorithm: 'deflate',
    adaptive: true,
  });
  expect((await ask({ algorithms: Array(MAX_ALGORITHMS + 1).fill('x') })).error?.code).toBe(-32602);
});

test('a client that sends rubbish as deflate loses its connection, and its commands end', async () => {
  const rexd = spawn(process.execPath, command().slice(1), { stdio: ['pipe', 'pipe', 'ignore'] });
  rexd.stdin.on('error', () => {});
  const params = { client_name: 'test', compression: { algorithms: ['deflate'] } };
  rexd.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.open', params })}\n`);
  await once(rexd.stdout, 'data');
  const exited = once(rexd, 'exit');
  rexd.stdin.write('{"jsonrpc":"2.0","method":"session.deflate"}\n');
  rexd.stdin.write('{"jsonrpc":"2.0","id":2,"method":"session.info"}\n'.repeat(100));
  rexd.stdout.resume();
  await exited;
  expect(rexd.exitCode).not.toBeNull();
});
