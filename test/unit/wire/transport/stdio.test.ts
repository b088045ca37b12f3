import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RpcPeer, type PeerOptions } from '../../../../src/wire/jsonrpc/peer.js';
import { childLink } from '../../../../src/wire/transport/stdio.js';

const SERVER = fileURLToPath(new URL('fixtures/echo-server.ts', import.meta.url));

interface Served extends AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly peer: RpcPeer;
  readonly stderr: Promise<string>;
  exit(): Promise<number | null>;
}

/** A real server process, ready to be asked. */
async function startServer(options: PeerOptions = {}): Promise<Served> {
  const child = spawn(process.execPath, ['--import', 'tsx', SERVER], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const ready = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  await Promise.race([ready, exited.then(() => Promise.reject(new Error('the server did not start')))]);
  const peer = new RpcPeer(childLink(child), options);
  return {
    child,
    peer,
    stderr: text(child.stderr),
    exit: async () => ((await exited) as [number | null])[0],
    async [Symbol.asyncDispose]() {
      await peer.close();
      child.kill('SIGKILL');
      await exited;
    },
  };
}

test('a child is asked over its standard streams, and ends when its input does', async () => {
  await using served = await startServer();
  await expect(served.peer.request('echo', { text: 'größer €' })).resolves.toEqual({ text: 'größer €' });
  const big = { text: 'x'.repeat(3_000_000) };
  await expect(served.peer.request('echo', big)).resolves.toEqual(big);
  await served.peer.close();
  expect(await served.exit()).toBe(0);
  expect(await served.stderr).toBe('closed: clean\n');
});

test('a child that dies rejects what was asked of it, and the peer ends', async () => {
  await using served = await startServer();
  await expect(served.peer.request('die')).rejects.toMatchObject({ code: 'closed' });
  expect(await served.exit()).toBe(3);
  await served.peer.closed;
});

test('a request sent and the input closed behind it is still answered', async () => {
  await using served = await startServer();
  const answer = served.peer.request('echo', { last: true });
  served.child.stdin.end();
  await expect(answer).resolves.toEqual({ last: true });
  expect(await served.exit()).toBe(0);
});

test('a reader that goes away in the middle of a flood is no crash', async () => {
  await using served = await startServer();
  void served.peer.request('flood').catch(() => {});
  await once(served.child.stdout, 'data');
  served.child.stdout.destroy();
  expect(await served.exit()).toBe(0);
  expect(await served.stderr).toMatch(/^closed: the connection broke: .*EPIPE\n$/);
});

test('a reader that stops reading stops the flood, and gets all of it when it goes on', async () => {
  let seen = 0;
  await using served = await startServer({ onNotification: () => (seen += 1) });
  const flood = served.peer.request('flood');
  await once(served.child.stdout, 'data');
  served.child.stdout.pause();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = seen;
  expect(before).toBeLessThan(200_000);
  served.child.stdout.resume();
  await flood;
  expect(seen).toBe(200_000);
});
