import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { RpcPeer, type PeerOptions } from '../../../../src/wire/jsonrpc/peer.js';
import { HIGH_WATER_BYTES, LOW_WATER_BYTES } from '../../../../src/wire/ndjson/line-writer.js';
import { childLink } from '../../../../src/wire/transport/stdio.js';
import { until } from '../../../helpers/wait.js';

const SERVER = fileURLToPath(new URL('fixtures/echo-server.ts', import.meta.url));

/** So many reports of the same, 10 ms apart, are taken for a stop. */
const STILL_REPORTS = 10;

interface Report {
  readonly sent: number;
  readonly queued: number;
}

interface Served extends AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly peer: RpcPeer;
  /** Its lines on stderr so far, and all of them. */
  readonly said: readonly string[];
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
  const said: string[] = [];
  const stderr = once(
    createInterface(child.stderr).on('line', (line) => said.push(line)),
    'close',
  );
  return {
    child,
    peer,
    said,
    stderr: stderr.then(() => said.join('\n')),
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
  expect(await served.stderr).toBe('closed: clean');
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
  expect(await served.stderr).toMatch(/^closed: the connection broke: .*EPIPE$/);
});

test('a reader that stops reading stops the flood, and gets all of it when it goes on', async () => {
  let seen = 0;
  await using served = await startServer({ onNotification: () => (seen += 1) });
  const flood = served.peer.request('flood', { report: true });
  await once(served.child.stdout, 'data');
  served.child.stdout.pause();
  const stopped = await until(() => {
    const last = served.said.slice(-STILL_REPORTS).map((line) => JSON.parse(line) as Report);
    return last.length === STILL_REPORTS && last.every(({ sent }) => sent === last[0]?.sent) && last[0];
  }, 'the server to stop sending');
  expect(stopped.sent - seen).toBeLessThan((2 * HIGH_WATER_BYTES) / 100); // a line is longer than 100 bytes
  expect(stopped.queued).toBeGreaterThan(LOW_WATER_BYTES);
  expect(stopped.queued).toBeLessThan(HIGH_WATER_BYTES + 1000);
  served.child.stdout.resume();
  await flood;
  expect(seen).toBe(200_000);
});
