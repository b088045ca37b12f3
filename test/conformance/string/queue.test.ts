// Turns in a topic, and commands that take long.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { WAITS } from '../../../src/string/daemon/waits.js';
import { until } from '../../helpers/wait.js';
import { openDaemon } from '../../unit/string/daemon/daemon-place.js';
import { ME, shareStringd, type StringdUnderTest } from '../kit/stringd-under-test.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();
let gates = 0;

interface Held {
  readonly cmd: string;
  /** Lets the command end. */
  readonly release: () => Promise<unknown>;
}

/** A command that runs until it is released, by whatever way it is sent. */
function makeGate(stringd: StringdUnderTest): Held {
  const gate = join(stringd.base, `gate-${(gates += 1)}`);
  return {
    cmd: `/exec while [ ! -e ${gate} ]; do sleep 0.02; done`,
    release: () => stringd.exec('opener', `/exec touch ${gate}`),
  };
}

async function stateOf(stringd: StringdUnderTest, topic: string) {
  const { sessions } = (await stringd.ask('/sessions?agent_id=me')).json as {
    sessions: { topic: string; executing: boolean; queue_length: number }[];
  };
  return sessions.find((each) => each.topic === topic);
}

async function waitFor(stringd: StringdUnderTest, topic: string, queued: number): Promise<void> {
  await until(async () => {
    const state = await stateOf(stringd, topic);
    return state?.executing === true && state.queue_length === queued;
  }, `${queued} to wait in ${topic}`);
}

verifies('string/queue/order', async () => {
  const stringd = shared();
  const { cmd, release } = makeGate(stringd);
  const order = join(stringd.base, 'order');
  const running = [stringd.exec('main', cmd)];
  await waitFor(stringd, 'main', 0);
  for (const n of [1, 2, 3]) {
    running.push(stringd.exec('main', `/exec echo ${n} >> ${order}`));
    await waitFor(stringd, 'main', n);
  }
  expect((await stringd.exec('docs', '/info')).status).toBe(200);
  expect(existsSync(order)).toBe(false);
  await release();
  await Promise.all(running);
  expect(readFileSync(order, 'utf8')).toBe('1\n2\n3\n');
});

verifies('string/queue/full', async () => {
  const stringd = shared();
  const { cmd, release } = makeGate(stringd);
  const running = [stringd.exec('main', cmd)];
  await waitFor(stringd, 'main', 0);
  for (let n = 1; n <= 5; n++) {
    running.push(stringd.exec('main', '/info'));
    await waitFor(stringd, 'main', n);
  }
  const full = await stringd.exec('main', '/info');
  const message = 'Topic me:main has 5 commands queued. Try again later.';
  expect([full.status, full.json]).toEqual([429, { error: 'QUEUE_FULL', message }]);
  await release();
  for (const reply of await Promise.all(running)) expect(reply.status).toBe(200);
});

verifies('string/queue/timeout', async (_, skip) => {
  skipForeign(skip);
  expect(WAITS.queueMs).toBe(120_000);
  // The same daemon with a shorter wait, which nobody but a test can give it.
  await using place = await openDaemon({ waits: { queueMs: 100 } });
  const gate = join(place.root, 'gate');
  const first = place.exec('main', `/exec echo > ${gate}-begun; while [ ! -e ${gate} ]; do sleep 0.02; done`);
  await until(() => existsSync(`${gate}-begun`), 'the first to run');
  const late = await place.exec('main', '/info');
  const message = 'Timed out waiting in queue.';
  expect([late.status, late.json]).toEqual([504, { error: 'QUEUE_TIMEOUT', message }]);
  writeFileSync(gate, '');
  expect((await first).status).toBe(200);
  expect((await place.exec('main', '/info')).status).toBe(200);
});

verifies('string/queue/gone', async () => {
  const stringd = shared();
  const { cmd, release } = makeGate(stringd);
  const marker = join(stringd.base, 'marker');
  const first = stringd.exec('main', cmd);
  await waitFor(stringd, 'main', 0);
  const leaving = new AbortController();
  const json = { topic: 'main', cmd: `/exec touch ${marker}` };
  const left = stringd.ask('/exec', { headers: ME, json, signal: leaving.signal }).catch(() => 'left');
  await waitFor(stringd, 'main', 1);
  leaving.abort();
  expect(await left).toBe('left');
  await waitFor(stringd, 'main', 0);
  await release();
  await first;
  expect((await stringd.exec('main', '/info')).status).toBe(200);
  expect(existsSync(marker)).toBe(false);
});

verifies('string/queue/mcp', async () => {
  const stringd = shared();
  const { cmd, release } = makeGate(stringd);
  const call = stringd.callTool({ topic: 'main', cmd });
  await waitFor(stringd, 'main', 0);
  const waiting = stringd.exec('main', '/info');
  await waitFor(stringd, 'main', 1);
  await release();
  expect((await call).isError).toBe(false);
  expect((await waiting).status).toBe(200);
});

verifies('string/mcp/busy', async () => {
  const stringd = shared();
  const { cmd, release } = makeGate(stringd);
  const running = stringd.exec('main', cmd);
  await waitFor(stringd, 'main', 0);
  expect(await stringd.callTool({ topic: 'main', cmd: '/info' })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^<𝒞=string:main>\nERROR\(BUSY\): [^]+\n<\/𝒞>$/),
  });
  expect((await stringd.callTool({ topic: 'docs', cmd: '/info' })).isError).toBe(false);
  await release();
  await running;
});

verifies('string/sessions/shell', async () => {
  const stringd = shared();
  const pidOf = async (topic: string): Promise<number> => {
    const { events } = await stringd.exec(topic, 'echo "pid=$$"');
    return Number(/pid=(\d+)/.exec(String(events[1]?.data))?.[1]);
  };
  const [one, two] = [await pidOf('bash:one'), await pidOf('bash:two')];
  expect([one, two].every((pid) => existsSync(`/proc/${pid}`))).toBe(true);
  await stringd.ask('/sessions/me/bash:one', { method: 'DELETE' });
  await until(() => !existsSync(`/proc/${one}`), 'the shell to end');
  expect(existsSync(`/proc/${two}`)).toBe(true);
  await stringd.ask('/agents/me', { method: 'DELETE' });
  await until(() => !existsSync(`/proc/${two}`), 'the other shell to end');
});

verifies('string/ext/stream', async () => {
  const stringd = shared();
  const { cmd, release } = makeGate(stringd);
  const json = { topic: 'main', cmd: cmd.replace('/exec', '/exec echo first;') };
  using stream = stringd.stream('/exec?stream=1', { headers: ME, json });
  await stream.event('chunk', (text: string) => text.includes('first'));
  expect(stream.events.map(({ event }) => event)).not.toContain('head');
  await release();
  await stream.event('done');
  const others = stream.events.map(({ event }) => event).filter((event) => event !== 'chunk');
  expect(others).toEqual(['head', 'content', 'done']);
});

verifies('string/ext/cancel', async () => {
  const stringd = shared();
  const { cmd } = makeGate(stringd);
  const running = stringd.exec('main', cmd, { request_id: 'run' });
  await waitFor(stringd, 'main', 0);
  const waiting = stringd.exec('main', '/info', { request_id: 'wait' });
  await waitFor(stringd, 'main', 1);
  for (const [id, reply] of [
    ['wait', waiting],
    ['run', running],
  ] as const) {
    const { json } = await stringd.ask(`/exec/${id}`, { method: 'DELETE', headers: ME });
    expect(json).toEqual({ request_id: id, cancelled: true });
    expect((await reply).events[0]?.data).toMatchObject({ ok: false, code: 'CANCELLED', request_id: id });
  }
});
