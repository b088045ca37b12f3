import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Executor } from '../../../../src/string/daemon/executor.js';
import { MAX_QUEUE_SIZE } from '../../../../src/string/protocol.js';
import { until } from '../../../helpers/wait.js';
import { type DaemonPlace, ME, openDaemon } from './daemon-place.js';

/** A command that runs until `release`. */
async function hold(
  place: DaemonPlace,
  topic = 'main',
): Promise<{ done: Promise<unknown>; release: () => Promise<unknown> }> {
  const gate = join(place.root, 'agents/me', `gate-${topic.replace(':', '-')}`);
  const done = place.exec(topic, `/exec while [ ! -e ${gate} ]; do sleep 0.02; done`, {
    request_id: 'holder',
  });
  await until(async () => executing(place, topic), `${topic} to execute`);
  return { done, release: () => place.exec('opener', `/exec touch ${gate}`) };
}

async function stateOf(place: DaemonPlace, topic: string) {
  const { sessions } = (await place.ask('/sessions?agent_id=me')).json as {
    sessions: { topic: string; executing: boolean; queue_length: number }[];
  };
  return sessions.find((each) => each.topic === topic);
}
const executing = async (place: DaemonPlace, topic: string) => (await stateOf(place, topic))?.executing;

test('five wait in order, the sixth is told so, other topics go on, and those that leave are never run', async () => {
  await using place = await openDaemon();
  const { done, release } = await hold(place);
  const home = join(place.root, 'agents/me');
  const leaving = new AbortController();
  const left = place
    .ask('/exec', { headers: ME, json: { topic: 'main', cmd: '/exec touch left' }, signal: leaving.signal })
    .catch(() => 'left');
  await until(async () => (await stateOf(place, 'main'))?.queue_length === 1, 'the first to wait');
  leaving.abort();
  expect(await left).toBe('left');
  await until(async () => (await stateOf(place, 'main'))?.queue_length === 0, 'it to be gone');
  const waiting: Promise<unknown>[] = [];
  for (let i = 0; i < MAX_QUEUE_SIZE; i++) {
    waiting.push(place.exec('main', `/exec echo ${i} >> order`));
    await until(async () => (await stateOf(place, 'main'))?.queue_length === i + 1, 'the next to wait');
  }
  const full = await place.exec('main', '/info');
  expect([full.status, full.json]).toEqual([
    429,
    { error: 'QUEUE_FULL', message: 'Topic me:main has 5 commands queued. Try again later.' },
  ]);
  expect((await place.exec('docs', '/info')).status).toBe(200);
  await release();
  await Promise.all([done, ...waiting]);
  const order = (await place.exec('main', '/exec cat order')).events[1]?.data;
  expect(String(order)).toContain('0\n1\n2\n3\n4');
  expect(readdirSync(home)).not.toContain('left');
});

test('who waits too long is answered by 504; /mcp does not wait, and lets those go on that do', async () => {
  await using place = await openDaemon({ waits: { queueMs: 150 } });
  const { done, release } = await hold(place);
  const late = await place.exec('main', '/info');
  expect([late.status, late.json]).toEqual([
    504,
    { error: 'QUEUE_TIMEOUT', message: 'Timed out waiting in queue.' },
  ]);
  const busy = await place.ask('/mcp', {
    headers: ME,
    json: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'string', arguments: { topic: 'main', cmd: '/info' } },
    },
  });
  expect(busy.json['result']).toEqual({
    content: [
      {
        type: 'text',
        text: '<𝒞=string:main>\nERROR(BUSY): Topic main is executing another command. Retry shortly.\n</𝒞>',
      },
    ],
    isError: true,
  });
  await release();
  await done;
});

test('a tool call hands its turn on to what waits by /exec, and beats while it runs', async () => {
  await using place = await openDaemon({ waits: { progressBeatMs: 30 } });
  const gate = join(place.root, 'agents/me/gate');
  const cmd = `/exec while [ ! -e ${gate} ]; do sleep 0.02; done`;
  using call = place.stream('/mcp', {
    headers: { ...ME, Accept: 'application/json, text/event-stream' },
    json: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'string', arguments: { topic: 'main', cmd }, _meta: { progressToken: 'p' } },
    },
  });
  await call.event('message', ({ method }: { method?: string }) => method === 'notifications/progress');
  const waiting = place.exec('main', '/info');
  await until(async () => (await stateOf(place, 'main'))?.queue_length === 1, 'one to wait');
  await place.exec('opener', `/exec touch ${gate}`);
  expect((await waiting).status).toBe(200);
  await call.event('message', ({ id }: { id?: number }) => id === 1);
});

test('a command is cancelled by its id, running or waiting, and answers so', async () => {
  await using place = await openDaemon();
  const { done } = await hold(place);
  const waiting = place.exec('main', '/info', { request_id: 'w' });
  await until(async () => (await stateOf(place, 'main'))?.queue_length === 1, 'one to wait');
  const cancel = async (id: string) =>
    (await place.ask(`/exec/${id}`, { method: 'DELETE', headers: ME })).json;
  expect(await cancel('w')).toEqual({ request_id: 'w', cancelled: true });
  expect((await waiting).events[0]?.data).toMatchObject({ ok: false, code: 'CANCELLED', request_id: 'w' });
  expect(await cancel('holder')).toEqual({ request_id: 'holder', cancelled: true });
  expect(((await done) as Awaited<typeof waiting>).events[0]?.data).toMatchObject({
    ok: false,
    code: 'CANCELLED',
  });
  expect(await executing(place, 'main')).toBe(false);
});

test('output comes in chunks before the three events, when asked for', async () => {
  await using place = await openDaemon();
  const gate = join(place.root, 'agents/me/gate');
  using stream = place.stream('/exec?stream=1', {
    headers: ME,
    json: { topic: 'main', cmd: `/exec echo first; while [ ! -e ${gate} ]; do sleep 0.02; done; echo last` },
  });
  await stream.event('chunk', (text: string) => text.includes('first'));
  expect(stream.events.every(({ event }) => event === 'chunk')).toBe(true);
  await place.exec('opener', `/exec touch ${gate}`);
  await stream.event('done');
  const names = stream.events.map(({ event }) => event).filter((name) => name !== 'chunk');
  expect(names).toEqual(['head', 'content', 'done']);
  expect(stream.events.findLast(({ event }) => event === 'content')?.data).toMatch(/first\nlast/);
});

test('a command that takes long has its answer begun, and comments keep it alive', async () => {
  await using place = await openDaemon({ waits: { execKeepAliveMs: 30 } });
  const gate = join(place.root, 'agents/me/gate');
  using stream = place.stream('/exec', {
    headers: ME,
    json: { topic: 'main', cmd: `/exec while [ ! -e ${gate} ]; do sleep 0.02; done; echo out` },
  });
  await until(() => stream.status === 200 && stream.comments.length > 1, 'comments');
  await place.exec('opener', `/exec touch ${gate}`);
  await stream.event('done');
  expect(stream.events.map(({ event }) => event)).toEqual(['head', 'content', 'done']);
});

test('deleting an agent ends what runs and what waits for it', async () => {
  await using place = await openDaemon();
  const { done } = await hold(place);
  const waiting = place.exec('main', '/info');
  await until(async () => (await stateOf(place, 'main'))?.queue_length === 1, 'one to wait');
  await place.ask('/agents/me', { method: 'DELETE' });
  expect((await waiting).json).toEqual({ error: 'Unknown agent: me' });
  await done;
  expect((await place.ask('/sessions')).json).toEqual({ sessions: [] });
});

test('an agent that moves while a command runs lets the command end where it began', async () => {
  await using place = await openDaemon();
  const { done, release } = await hold(place);
  await place.ask('/agents', { json: { agent_id: 'me', home: join(place.root, 'new-home') } });
  expect((await place.exec('opener', '/exec pwd')).events[1]?.data).toContain('new-home');
  await place.exec('opener', `/exec touch ${join(place.root, 'agents/me/gate-main')}`);
  void release;
  expect(((await done) as { events: { data: unknown }[] }).events[0]?.data).toMatchObject({ ok: true });
});

test('topics are open again after a restart, and nothing is said to run', async () => {
  await using place = await openDaemon();
  await place.exec('docs', '/set {v} = "kept"');
  await place.restart();
  expect((await place.ask('/health')).json).toMatchObject({ agents: 1, sessions: 1 });
  expect(await stateOf(place, 'docs')).toMatchObject({ executing: false, queue_length: 0 });
  expect((await place.exec('docs', '/set')).events[1]?.data).toContain('{v} = "kept"');
});

test('a shell is interrupted while its command runs', async () => {
  await using place = await openDaemon();
  const running = place.exec('bash:dev', 'sleep 60');
  await until(() => executing(place, 'bash:dev'), 'the shell to execute');
  await until(async () => {
    await place.exec('bash:dev', '//interrupt');
    return (await executing(place, 'bash:dev')) === false;
  }, 'the command to end');
  expect((await running).events[0]?.data).toMatchObject({ ok: false, topic_type: 'bash' });
});

test('ChanFlow: when the client leaves, the running block is called off and no later one begins', async () => {
  await using place = await openDaemon();
  const execute = vi.spyOn(Executor.prototype, 'execute');
  try {
    const leaving = new AbortController();
    const body = '<𝒞=string:a>\n/exec sleep 600\n</𝒞>\n<𝒞=string:b>\n/exec touch later\n</𝒞>\n';
    const left = place.ask('/chanflow', { headers: ME, body, signal: leaving.signal }).catch(() => 'left');
    await until(async () => executing(place, 'a'), 'the first block to run');
    leaving.abort();
    expect(await left).toBe('left');
    expect(await execute.mock.results[0]?.value).toMatchObject({ ok: false, code: 'CANCELLED' });
    await setImmediate(); // the next one would have begun at once
    expect(execute).toHaveBeenCalledTimes(1);
  } finally {
    execute.mockRestore();
  }
});

test('ChanFlow: who leaves while a block waits for its turn is gone from the queue, with all later blocks', async () => {
  await using place = await openDaemon();
  const { done, release } = await hold(place);
  const execute = vi.spyOn(Executor.prototype, 'execute');
  try {
    const leaving = new AbortController();
    const body = '<𝒞=string:main>\n/exec touch left\n</𝒞>\n<𝒞=string:b>\n/exec touch later\n</𝒞>\n';
    const left = place.ask('/chanflow', { headers: ME, body, signal: leaving.signal }).catch(() => 'left');
    await until(async () => (await stateOf(place, 'main'))?.queue_length === 1, 'the block to wait');
    leaving.abort();
    expect(await left).toBe('left');
    await expect(execute.mock.results[0]?.value).rejects.toThrow('closed the connection');
    await setImmediate();
    expect(execute).toHaveBeenCalledTimes(1);
  } finally {
    execute.mockRestore();
  }
  await release();
  await done;
  expect(readdirSync(join(place.root, 'agents/me'))).not.toContain('left');
});
