// StringClient with the built stringd, which it starts by itself: races, streams, calling off, and events over restarts.

import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { DaemonStartError, STREAM_INCOMPLETE } from '../../src/client/string/string-client.js';
import { ask } from '../helpers/http-ask.js';
import { StringPlace } from '../helpers/string-place.js';
import { until } from '../helpers/wait.js';

const PATIENCE_MS = 60_000;

test('several that find no daemon start one, and all of them use it', async () => {
  await using place = await StringPlace.make();
  const clients = ['a', 'b', 'c', 'd'].map((agentId) => place.client({ agentId }));
  const results = await Promise.all(clients.map((client) => client.exec('main', '/info')));
  expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  await until(() => place.daemons().length === 1, 'the others to be gone', PATIENCE_MS);
  expect((await clients[0]?.listAgents())?.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c', 'd']);
});

test('commands: output as it comes, topics of their own, called off in the queue and while they run', async () => {
  await using place = await StringPlace.make();
  const client = place.client();
  expect(await client.start()).toBe(true);
  expect(await client.start()).toBe(false);

  const events: string[] = [];
  for await (const event of client.execStream('bash:dev', 'echo one; echo two; cd /; (exit 3)'))
    events.push(event.type === 'chunk' ? event.text : `${event.result.code}|${event.result.content}`);
  expect(events.slice(0, -1).join('')).toBe('one\ntwo\n');
  expect(events.at(-1)).toBe('EXIT_3|ERROR(EXIT_3): exit: 3 | cwd: /\n---\none\ntwo');

  const wish = new AbortController();
  const long = client.exec('bash:dev', 'sleep 300', { signal: wish.signal });
  await until(
    async () => (await client.listSessions()).some(({ executing }) => executing),
    'the command to run',
    PATIENCE_MS,
  );
  const queued = client.exec('bash:dev', 'touch ~/never.txt', { timeoutMs: 200 });
  await expect(queued).rejects.toMatchObject({ name: 'TimeoutError' });
  await until(
    async () => (await client.listSessions()).every(({ queue_length }) => queue_length === 0),
    'nobody to wait any more',
    PATIENCE_MS,
  );
  wish.abort(new Error('enough'));
  await expect(long).rejects.toThrow('enough');
  expect(await client.exec('bash:dev', 'ls ~/never.txt 2>/dev/null; echo on')).toMatchObject({
    ok: true,
    content: expect.stringMatching(/---\non$/),
  });

  const named = client.exec('bash:dev', 'sleep 300', { requestId: 'r1' });
  await until(() => client.cancel('r1'), 'the command to be known', PATIENCE_MS);
  expect(await named).toMatchObject({ ok: false, code: 'CANCELLED', requestId: 'r1' });
  expect(await client.openSession('docs')).toMatchObject({ topic: 'docs', created: true });
  expect(await client.closeSession('bash:dev')).toBe(true);
  expect((await client.listSessions()).map(({ topic }) => topic)).toEqual(['docs']);
  expect(await client.chanflow('<𝒞=string:x>\n/nothing\n</𝒞>')).toContain('✗ COMMAND_UNSUPPORTED');
});

test('events come once each, also over a daemon that was killed; a command that it took with it is incomplete', async () => {
  await using place = await StringPlace.make();
  const client = place.client();
  const { origin, pathname } = new URL(await client.webhookUrl());
  const post = async (text: string): Promise<void> =>
    expect((await ask(origin, pathname, { method: 'POST', body: text })).status).toBe(202);
  await post('before');
  const seen: string[] = [];
  let connections = 0;
  await using watch = client.watchEvents(({ text }) => void seen.push(text), {
    minReconnectMs: 20,
    maxReconnectMs: 100,
    onConnected: () => (connections += 1),
  });
  await until(() => seen.includes('before'), 'what was there before', PATIENCE_MS);
  await post('live');
  await until(() => seen.includes('live'), 'a live one', PATIENCE_MS);

  const lost = client.exec('bash:dev', 'sleep 300');
  await until(
    async () => (await client.listSessions()).some(({ executing }) => executing),
    'the command to run',
    PATIENCE_MS,
  );
  for (const pid of place.daemons()) process.kill(pid, 'SIGKILL');
  expect(await lost).toMatchObject({ ok: false, code: STREAM_INCOMPLETE });
  await until(() => place.daemons().length === 0, 'its end', PATIENCE_MS);
  await client.start();
  await post('after');
  await until(() => seen.includes('after'), 'one of the next daemon', PATIENCE_MS);
  expect(seen).toEqual(['before', 'live', 'after']);
  expect(connections).toBeGreaterThanOrEqual(2);
  await watch.close();
});

test('a daemon that cannot start is told of in its own words', async () => {
  await using place = await StringPlace.make();
  const other = createServer((socket) => socket.destroy()).listen(place.port, '127.0.0.1');
  try {
    const thrown: unknown = await place
      .client()
      .exec('main', '/info')
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(DaemonStartError);
    expect(thrown).toMatchObject({
      message: expect.stringContaining(`port ${place.port} is taken by another program`),
    });
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
});
