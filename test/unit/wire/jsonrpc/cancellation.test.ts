import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { IncomingCall } from '../../../../src/wire/jsonrpc/incoming-call.js';
import { until } from '../../../helpers/wait.js';
import { deferred, failureOf, linkedPeers, wirePeer } from './wire-side.js';

const echo = (call: IncomingCall): unknown => call.params;
const request = (id: unknown): object => ({ jsonrpc: '2.0', id, method: 'm' });

test('an aborted request rejects at once, and its handler learns it', async () => {
  const seen = deferred<unknown>();
  const started = deferred();
  await using peers = linkedPeers(
    {},
    {
      onRequest: (call) =>
        new Promise((_, reject) => {
          call.signal.addEventListener('abort', () => {
            seen.resolve(call.signal.reason);
            reject(call.signal.reason as Error);
          });
          started.resolve();
        }),
    },
  );
  const controller = new AbortController();
  const answer = peers.left.request('m', {}, { signal: controller.signal });
  await started.promise;
  controller.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  await expect(seen.promise).resolves.toMatchObject({ code: -32800 });
  await expect(peers.left.request('m', {}, { signal: controller.signal })).rejects.toThrow('enough');
});

test('many requests under one signal take one listener, and are all called off by it', async () => {
  await using peers = linkedPeers({}, { onRequest: () => new Promise(() => {}) });
  const controller = new AbortController(); // of the plain kind, of which Node warns at eleven listeners
  const listening = (): number => getEventListeners(controller.signal, 'abort').length;
  const calls = Array.from({ length: 100 }, () => ({ method: 'm' }));
  const answers = [
    ...peers.left.requestBatch(calls, { signal: controller.signal }),
    ...calls.map(() => peers.left.request('m', {}, { signal: controller.signal })),
  ].map(failureOf);
  expect(listening()).toBe(1);
  const reason = new Error('enough');
  controller.abort(reason);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([reason]));
  expect(listening()).toBe(0);
});

test('the last answer under a signal takes the listener away, and the next request brings it back', async () => {
  await using peers = linkedPeers({}, { onRequest: (call) => Promise.resolve(call.params) });
  const { signal } = new AbortController();
  for (let round = 0; round < 3; round++) {
    const answer = peers.left.request('m', {}, { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await answer;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  }
});

test('a request past its time rejects, and the other side is told', async () => {
  const aborted = deferred();
  await using peers = linkedPeers(
    {},
    {
      onRequest: (call) => new Promise(() => call.signal.addEventListener('abort', () => aborted.resolve())),
    },
  );
  await expect(peers.left.request('m', {}, { timeoutMs: 5 })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  await aborted.promise;
});

test('the signal of a call may have as many listeners as its handler has work in flight', async () => {
  const served = deferred();
  let told = 0;
  await using peers = linkedPeers(
    {},
    {
      onRequest: (call) => {
        // Node warns of the eleventh listener, which would fail the test.
        for (let i = 0; i < 50; i++) call.signal.addEventListener('abort', () => (told += 1));
        served.resolve();
        return new Promise(() => {});
      },
    },
  );
  const controller = new AbortController();
  const answer = failureOf(peers.left.request('m', {}, { signal: controller.signal }));
  await served.promise;
  controller.abort(new Error('enough'));
  expect(await answer).toMatchObject({ message: 'enough' });
  await until(() => told === 50, 'all of them to be told');
});

test('an answered request leaves no listener and no timer behind', async () => {
  await using peers = linkedPeers({}, { onRequest: echo });
  const controller = new AbortController();
  // More than ten listeners on one signal would raise a warning, which fails the test.
  for (let i = 0; i < 50; i++) {
    await peers.left.request('m', {}, { signal: controller.signal, timeoutMs: 60_000 });
  }
  controller.abort();
  await expect(peers.left.request('m', {})).resolves.toEqual({});
});

test.each([
  ['$/cancelRequest', 'id', '7', '7'],
  ['$/cancelRequest', 'id', '7', '7.0'],
  ['$/cancelRequest', 'id', '"x"', '"\\u0078"'],
  ['$/cancelRequest', 'id', '9007199254740993', '9007199254740993'],
  ['notifications/cancelled', 'requestId', 'null', 'null'],
])('%s by %s: %s is answered -32800 when its handler gives up', async (method, member, id, named) => {
  await using served = wirePeer({
    onRequest: (call) =>
      new Promise((_, reject) => {
        call.signal.addEventListener('abort', () => reject(new Error('whatever')));
      }),
  });
  served.wire.send(
    `{"jsonrpc":"2.0","id":${id},"method":"m"}`,
    `{"jsonrpc":"2.0","method":"${method}","params":{"${member}":${named}}}`,
  );
  expect(await served.wire.take(1)).toEqual([
    `{"jsonrpc":"2.0","id":${id},"error":{"code":-32800,"message":"Request cancelled"}}`,
  ]);
});

test('only the id that is meant is cancelled, also among numbers a double cannot tell apart', async () => {
  await using served = wirePeer({
    onRequest: (call) =>
      new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(new Error('x')))),
  });
  served.wire.send(
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}',
    '{"jsonrpc":"2.0","id":9007199254740992,"method":"m"}',
    '{"jsonrpc":"2.0","id":"5","method":"m"}',
    '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}',
    '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9007199254740993}}',
  );
  expect((await served.wire.take(1))[0]).toContain('"id":9007199254740993,');
  expect(served.peer.callsInProgress).toBe(2);
});

test('a handler that finishes all the same is answered with its result', async () => {
  const gate = deferred();
  await using served = wirePeer({ onRequest: () => gate.promise.then(() => 'done') });
  served.wire.send(request(1), { jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 1 } });
  gate.resolve();
  expect(await served.wire.takeJson()).toMatchObject({ id: 1, result: 'done' });
});

test('a request that still waits never starts', async () => {
  const gate = deferred();
  const started: unknown[] = [];
  await using served = wirePeer({
    maxConcurrent: 1,
    onRequest: (call) => {
      started.push(call.id);
      return gate.promise;
    },
  });
  served.wire.send(request(1), request(2), {
    jsonrpc: '2.0',
    method: '$/cancelRequest',
    params: { id: 2 },
  });
  await until(() => served.peer.callsInProgress === 2, 'both requests');
  served.wire.send({ jsonrpc: '2.0', method: 'ping' });
  gate.resolve();
  const answers = await served.wire.take(2);
  expect(answers[1]).toContain('-32800');
  expect(started).toEqual([1]);
});
