// A peer under more than it can take, and beside one that reads nothing.

import { describe, expect, test } from 'vitest';
import { MAX_CONCURRENT_CALLS } from '../../../../src/wire/jsonrpc/call-server.js';
import {
  MAX_WAITING_BYTES,
  MAX_WAITING_BYTES_WHILE_CALLING,
  RpcPeer,
} from '../../../../src/wire/jsonrpc/peer.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { until } from '../../../helpers/wait.js';
import { deferred, failureOf, linkedPeers, pipes, request, wirePeer } from './wire-side.js';

const never = (): Promise<never> => new Promise(() => {});

describe('limits', () => {
  test('no more than so many calls run at the same time; the others wait, in order', async () => {
    let running = 0;
    let most = 0;
    const order: unknown[] = [];
    await using served = wirePeer({
      maxConcurrent: 4,
      onRequest: async (call) => {
        order.push(call.id);
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return null;
      },
    });
    const ids = Array.from({ length: 100 }, (_, i) => i);
    served.wire.send(...ids.map((id) => request(id)));
    await served.wire.take(100);
    expect(most).toBe(4);
    expect(order).toEqual(ids);
  });

  test('unless told otherwise 1024 calls run at the same time', async () => {
    const gate = deferred();
    let started = 0;
    await using served = wirePeer({
      onRequest: async () => {
        started += 1;
        await gate.promise;
      },
    });
    const count = MAX_CONCURRENT_CALLS + 10;
    served.wire.send(...Array.from({ length: count }, (_, id) => request(id)));
    await until(() => served.peer.callsInProgress === count, 'all of them to arrive');
    expect(started).toBe(MAX_CONCURRENT_CALLS);
    gate.resolve();
    await served.wire.take(count);
    expect(started).toBe(count);
  });

  test('answers and cancellations get through while calls wait', async () => {
    await using served = wirePeer({
      maxConcurrent: 1,
      onRequest: (call) =>
        call.method === 'ask back'
          ? served.peer.request('question')
          : new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(new Error('x')))),
    });
    served.wire.send(request('a', 'ask back'), request('b', 'wait'));
    expect(await served.wire.takeJson()).toMatchObject({ id: 1, method: 'question' });
    served.wire.send({ jsonrpc: '2.0', id: 1, result: 'reply' });
    expect(await served.wire.takeJson()).toMatchObject({ id: 'a', result: 'reply' });
    served.wire.send({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 'b' } });
    expect(await served.wire.takeJson()).toMatchObject({ id: 'b', error: { code: -32800 } });
  });

  test('reading stops when too many calls wait, and goes on when they are served', async () => {
    const gate = deferred();
    await using served = wirePeer({ maxConcurrent: 1, onRequest: () => gate.promise });
    const params = { text: 'x'.repeat(10_000) };
    const COUNT = 500;
    let taken = 0;
    for (let i = 0; i < COUNT; i++) {
      served.wire.link.output.write(`${JSON.stringify(request(i, 'm', params))}\n`, () => (taken += 1));
    }
    await until(() => served.peer.link.input.isPaused(), 'the peer to stop reading');
    expect(taken * 10_000).toBeLessThan(2 * MAX_WAITING_BYTES);
    expect(served.peer.callsInProgress).toBeLessThan(COUNT);
    gate.resolve();
    await served.wire.take(COUNT);
  });

  test.each([
    ['requests', `${JSON.stringify(request(1, 'big'))}\n`],
    ['garbage', `{"jsonrpc":"2.0","id":1,"method":"${'m'.repeat(200)}"\n`],
    ['bad batches', `[${Array.from({ length: 100 }, () => '1').join(',')}]\n`],
  ])('a flood of %s from a side that reads nothing is bounded', async (_what, line) => {
    const { link, toPeer, fromPeer } = pipes();
    const result = 'r'.repeat(2000);
    const peer = new RpcPeer(link, { onRequest: () => Promise.resolve(result), highWaterBytes: 64 * 1024 });
    const chunk = Buffer.from(line.repeat(Math.ceil(8192 / line.length)));
    let accepted = 0;
    let most = 0;
    // As a socket would: stops only when its buffer is full, and here that buffer is never emptied for ever.
    for (let round = 0; round < 200 && !(link.input.isPaused() && toPeer.writableLength > 0); round++) {
      for (let i = 0; i < 8; i++) toPeer.write(chunk, () => (accepted += chunk.length));
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, peer.queuedBytes);
    }
    expect(link.input.isPaused()).toBe(true);
    const read = accepted;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(accepted).toBe(read);
    expect(most).toBeLessThan(5 * 1024 * 1024);
    // When it reads at last, it is served again.
    fromPeer.resume();
    await until(() => accepted > read, 'the peer to go on');
    await peer.close();
  });

  test('two peers that flood each other with requests both get all their answers', async () => {
    const options = {
      onRequest: (call: { params: unknown }) => Promise.resolve(call.params),
      highWaterBytes: 16_384,
    };
    await using peers = linkedPeers(options, options);
    const params = { text: 'x'.repeat(1000) };
    const ask = (peer: RpcPeer): Promise<unknown>[] =>
      Array.from({ length: 5000 }, () => peer.request('m', params));
    const answers = await Promise.all([...ask(peers.left), ...ask(peers.right)]);
    expect(answers).toHaveLength(10_000);
  });

  test('handlers that ask back do not lock both sides up', async () => {
    const ask = (peer: () => RpcPeer) => async (call: { method: string }) =>
      call.method === 'outer' ? peer().request('inner', { text: 'x'.repeat(500) }) : 'inner';
    const [near, far] = linkedPair();
    const left: RpcPeer = new RpcPeer(near, {
      maxConcurrent: 8,
      highWaterBytes: 4096,
      onRequest: ask(() => left),
    });
    const right: RpcPeer = new RpcPeer(far, {
      maxConcurrent: 8,
      highWaterBytes: 4096,
      onRequest: ask(() => right),
    });
    const params = { text: 'y'.repeat(2000) };
    const answers = await Promise.all(Array.from({ length: 2000 }, () => left.request('outer', params)));
    expect(new Set(answers)).toEqual(new Set(['inner']));
    await Promise.all([left.close(), right.close()]);
  });

  test('a queue past its cap rejects what we ask, and ends the connection for an answer that cannot be given', async () => {
    const { link, toPeer } = pipes();
    const peer = new RpcPeer(link, { maxQueuedBytes: 150_000, onRequest: () => 'x'.repeat(80_000) });
    const failure = failureOf(peer.request('first', { text: 'x'.repeat(60_000) }));
    peer.notify('second', { text: 'x'.repeat(60_000) });
    await expect(peer.request('third', { text: 'x'.repeat(60_000) })).rejects.toMatchObject({
      code: 'queue_full',
    });
    expect(() => peer.notify('fourth', { text: 'x'.repeat(60_000) })).toThrow('wait for a reader');
    toPeer.write(`${JSON.stringify(request(1))}\n`);
    await expect(peer.closed).resolves.toMatchObject({ code: 'queue_full' });
    expect(await failure).toMatchObject({ code: 'queue_full' });
  });

  test('replies held back for a batch count too: past the cap the connection ends', async () => {
    await using served = wirePeer({
      maxQueuedBytes: 100_000,
      onRequest: (call) => (call.method === 'never' ? never() : 'x'.repeat(30_000)),
    });
    served.wire.send([request(1, 'never'), request(2), request(3)]);
    await until(() => served.peer.callsInProgress === 1, 'the first to be left');
    served.wire.send([request(4, 'never'), request(5), request(6)]);
    await expect(served.peer.closed).resolves.toMatchObject({ code: 'queue_full' });
  });

  test('while requests of our own are out more is read, for their answers lie behind; but not without end', async () => {
    const { link, toPeer } = pipes();
    const peer = new RpcPeer(link, { maxConcurrent: 1, onRequest: never });
    const failure = failureOf(peer.request('question'));
    const line = `${JSON.stringify(request(1, 'm', { text: 'x'.repeat(4_000_000) }))}\n`;
    for (let sent = 0; !link.input.isPaused(); sent += line.length) {
      expect(sent).toBeLessThan(2 * MAX_WAITING_BYTES_WHILE_CALLING);
      toPeer.write(line);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(peer.callsInProgress * line.length).toBeGreaterThan(MAX_WAITING_BYTES_WHILE_CALLING);
    await peer.close();
    expect(await failure).toMatchObject({ code: 'closed', message: 'connection is closed' });
  });

  test('a producer that waits for drained() is held to the reader’s pace', async () => {
    const { link, fromPeer } = pipes();
    const peer = new RpcPeer(link, { highWaterBytes: 64 * 1024, lowWaterBytes: 16 * 1024 });
    let sent = 0;
    const produce = async (): Promise<void> => {
      const bytes = Buffer.from(
        JSON.stringify({ jsonrpc: '2.0', method: 'out', params: { data: 'x'.repeat(1000) } }),
      );
      for (; sent < 2000; sent++) if (!peer.notifyFrame(bytes)) await peer.drained();
    };
    const done = produce();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sent).toBeLessThan(200);
    fromPeer.resume();
    await done;
    await peer.close();
  });
});
