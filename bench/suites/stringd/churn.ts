// What must leave nothing behind, done thousands of times: topics opened and closed, streams left and taken up again.

import { connect } from 'node:net';
import { memoryMiB } from '../../harness/memory.js';
import type { Ran } from '../../harness/types.js';
import { AGENT, encodeRequest, execMessage } from './messages.js';
import type { Server } from './server.js';

export const TOPICS = 10_000;
export const RECONNECTS = 1000;
/** Memory is looked at so many times in a turn. */
const SLICES = 12;
/** Turns that may be needed before the memory is steady, and how little it may still grow in one then. */
const MAX_WARM_UPS = 12;
const STEADY_MIB = 1;
const CONNECTIONS = 8;
/** Opened, used, closed. */
const STEPS = 3;
const STREAMS_AT_ONCE = 8;
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Opened by a command that leaves something to remember, closed by the route for it. */
export async function churnTopics(server: Server): Promise<Ran> {
  let turn = 0;
  return await watchGrowth(server, TOPICS, async (topics) => {
    const name = `topics-${turn++}`;
    const order = {
      connections: CONNECTIONS,
      status: 200,
      isEven: true,
      requestOf: (connection: number, nth: number) =>
        topicRequest(`${name}-${connection}-${Math.floor(nth / STEPS)}`, nth % STEPS),
    };
    await server.load(name, order, Math.ceil(topics / CONNECTIONS) * STEPS * CONNECTIONS);
    server.drop(name);
  });
}

function topicRequest(topic: string, step: number): Buffer {
  if (step === 0)
    return encodeRequest({
      method: 'POST',
      path: '/sessions',
      headers: JSON_TYPE,
      body: JSON.stringify({ agent_id: AGENT, topic }),
    });
  if (step === 1) return encodeRequest(execMessage(topic, '/set {left} = "behind"'));
  return encodeRequest({ method: 'DELETE', path: `/sessions/${AGENT}/${topic}` });
}

/** A stream is opened, says that it is ready, and is left without a word. */
export async function churnStreams(server: Server): Promise<Ran> {
  await server.start();
  return await watchGrowth(server, RECONNECTS, async (streams) => {
    for (let left = streams; left > 0; left -= STREAMS_AT_ONCE)
      await Promise.all(
        Array.from({ length: Math.min(left, STREAMS_AT_ONCE) }, () => openAndLeave(server.port)),
      );
  });
}

function openAndLeave(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('data', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.write(
      encodeRequest({
        method: 'GET',
        path: '/events/stream',
        headers: { 'X-Agent-Id': AGENT, Accept: 'text/event-stream' },
      }),
    );
  });
}

/** First as often as it takes to fill what is filled only once, then with an eye on the memory. */
async function watchGrowth(
  server: Server,
  times: number,
  work: (times: number) => Promise<void>,
): Promise<Ran> {
  await warmUp(server, () => work(times));
  const startedAt = performance.now();
  const marks: number[] = [];
  for (let slice = 0; slice < SLICES; slice++) {
    await work(Math.ceil(times / SLICES));
    marks.push(memoryMiB(server.pid) ?? 0);
  }
  return { wallMs: performance.now() - startedAt, done: 1, growthMiB: growthOf(marks) };
}

/** Until the heap has the size it will keep. Whoever never comes to that is found out afterwards. */
async function warmUp(server: Server, work: () => Promise<void>): Promise<void> {
  for (let turn = 0, before = 0; turn < MAX_WARM_UPS; turn++) {
    await work();
    const now = memoryMiB(server.pid) ?? 0;
    if (turn > 0 && now - before < STEADY_MIB) return;
    before = now;
  }
}

/** What the lowest mark has risen by from the first half to the second: garbage that waits to be collected lies above it. */
export function growthOf(marks: readonly number[]): number {
  const middle = Math.floor(marks.length / 2);
  return Math.min(...marks.slice(middle)) - Math.min(...marks.slice(0, middle));
}
