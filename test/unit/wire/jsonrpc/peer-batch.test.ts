// Batches, answered and sent.

import { describe, expect, test } from 'vitest';
import { RpcError } from '../../../../src/base/errors.js';
import { RawJson } from '../../../../src/wire/jsonrpc/encode.js';
import type { IncomingCall } from '../../../../src/wire/jsonrpc/incoming-call.js';
import { MAX_BATCH } from '../../../../src/wire/jsonrpc/peer.js';
import { deferred, linkedPeers, request, wirePeer } from './wire-side.js';

const echo = (call: IncomingCall): unknown => call.params;

describe('batches', () => {
  test('are answered as one line, in the order of their requests, when the last is done', async () => {
    const gate = deferred();
    await using served = wirePeer({
      onRequest: async (call) => {
        if (call.method === 'slow') await gate.promise;
        return call.method === 'raw' ? new RawJson(Buffer.from('1.0')) : call.method;
      },
    });
    served.wire.send([request(1, 'slow'), request(2, 'fast'), request(3, 'raw')], request('behind', 'fast'));
    expect(await served.wire.takeJson()).toMatchObject({ id: 'behind' });
    gate.resolve();
    expect(await served.wire.take(1)).toEqual([
      '[{"jsonrpc":"2.0","id":1,"result":"slow"},{"jsonrpc":"2.0","id":2,"result":"fast"},{"jsonrpc":"2.0","id":3,"result":1.0}]',
    ]);
  });

  test('what shall follow an answer follows that of the whole batch, also after an error or a notification', async () => {
    const gate = deferred();
    await using served = wirePeer({
      onRequest: async (call) => {
        call.afterReply(() => served.peer.notify(`after ${call.method}`));
        if (call.method === 'slow') await gate.promise;
        if (call.method === 'bad') throw new RpcError(-32001, 'no');
        return call.method;
      },
      onNotification: (call) => call.afterReply(() => served.peer.notify(`after ${call.method}`)),
    });
    const note = { jsonrpc: '2.0', method: 'note' };
    served.wire.send([request(1, 'fast'), request(2, 'slow'), note, request(3, 'bad')], request(4, 'bad'));
    const lines = async (count: number): Promise<unknown[]> =>
      (await served.wire.take(count)).map((line) => (JSON.parse(line) as { method?: string }).method);
    expect(await lines(3)).toEqual(['after note', undefined, 'after bad']); // the batch is held, the rest is not
    gate.resolve();
    expect(await lines(4)).toEqual([undefined, 'after fast', 'after bad', 'after slow']);
  });

  test('longer than the cap are refused as a whole', async () => {
    await using served = wirePeer({ onRequest: echo, maxBatch: 3 });
    const line = await served.wire.ask([1, 2, 3, 4].map((id) => request(id)));
    expect(line).toMatchObject({
      id: null,
      error: { code: -32600, data: { reason: expect.stringContaining('3') as string } },
    });
    expect(await served.wire.ask([request(1)])).toHaveLength(1);
  });

  test('unless told otherwise have 1024 members at most', async () => {
    await using served = wirePeer({ onRequest: echo });
    const batch = Array.from({ length: MAX_BATCH }, (_, id) => request(id));
    expect(await served.wire.ask(batch)).toHaveLength(MAX_BATCH);
    expect(await served.wire.ask([...batch, request('one more')])).toMatchObject({ error: { code: -32600 } });
  });

  test('can be sent, and each answer settles its own promise', async () => {
    await using peers = linkedPeers(
      {},
      {
        onRequest: (call) => {
          if (call.method === 'bad') throw new RpcError(-32001, 'bad');
          return call.params;
        },
      },
    );
    const answers = peers.left.requestBatch([
      { method: 'm', params: { a: 1 } },
      { method: 'bad' },
      { method: 'm', params: { n: 1n } },
      { method: 'm', params: [2] },
    ]);
    expect(await Promise.allSettled(answers)).toMatchObject([
      { value: { a: 1 } },
      { reason: { code: -32001 } },
      { reason: expect.any(TypeError) as TypeError },
      { value: [2] },
    ]);
    expect(peers.left.requestBatch([])).toEqual([]);
  });

  test('called off before they are sent reach nobody, and no later request gets their answer', async () => {
    await using served = wirePeer();
    const reason = new Error('changed my mind');
    const answers = served.peer.requestBatch([{ method: 'a' }, { method: 'b' }], {
      signal: AbortSignal.abort(reason),
    });
    expect(await Promise.allSettled(answers)).toMatchObject([{ reason }, { reason }]);
    const later = served.peer.request('later');
    expect(await served.wire.takeJson()).toMatchObject({ id: 1, method: 'later' });
    served.wire.send('{"jsonrpc":"2.0","id":1,"result":"for the later one"}');
    await expect(later).resolves.toBe('for the later one');
  });

  test('are sent without the members for which there is no room, and the ids of all others differ', async () => {
    await using served = wirePeer({ maxPending: 2 });
    const batch = ['a', 'b', 'c', 'd'].map((method) => ({ method }));
    const settled = Promise.allSettled(served.peer.requestBatch(batch));
    expect(await served.wire.takeJson()).toMatchObject([
      { id: 1, method: 'a' },
      { id: 2, method: 'b' },
    ]);
    served.wire.send('[{"jsonrpc":"2.0","id":1,"result":"A"},{"jsonrpc":"2.0","id":2,"result":"B"}]');
    const refused = { reason: { code: 'too_many_requests' } };
    expect(await settled).toMatchObject([{ value: 'A' }, { value: 'B' }, refused, refused]);
    void served.peer.request('later').catch(() => {});
    expect(await served.wire.takeJson()).toMatchObject({ id: 3, method: 'later' });
  });

  test('longer than the cap are sent as several', async () => {
    await using peers = linkedPeers({ maxBatch: 3 }, { maxBatch: 3, onRequest: echo });
    const batch = Array.from({ length: 8 }, (_, n) => ({ method: 'm', params: { n } }));
    const answers = await Promise.all(peers.left.requestBatch(batch));
    expect(answers).toEqual(batch.map(({ params }) => params));
  });
});
