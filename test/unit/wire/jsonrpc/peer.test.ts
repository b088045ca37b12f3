import * as z from 'zod/mini';
import { describe, expect, test } from 'vitest';
import { RpcError } from '../../../../src/base/errors.js';
import type { Log, LogFacts } from '../../../../src/base/log.js';
import { RawJson } from '../../../../src/wire/jsonrpc/encode.js';
import type { IncomingCall } from '../../../../src/wire/jsonrpc/incoming-call.js';
import { defineEvent, defineMethod } from '../../../../src/wire/jsonrpc/method.js';
import { MAX_PENDING_REQUESTS } from '../../../../src/wire/jsonrpc/pending-requests.js';
import { until } from '../../../helpers/wait.js';
import { deferred, linkedPeers, request, wirePeer } from './wire-side.js';

const echo = (call: IncomingCall): unknown => call.params;

function memoryLog(): { log: Log; records: { message: string; facts: LogFacts | undefined }[] } {
  const records: { message: string; facts: LogFacts | undefined }[] = [];
  const write = (message: string, facts?: LogFacts): void => void records.push({ message, facts });
  const log: Log = {
    trace: write,
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: () => log,
    flush: () => Promise.resolve(),
  };
  return { log, records };
}

describe('requests', () => {
  test('are answered in both directions over one link', async () => {
    await using peers = linkedPeers(
      { onRequest: echo },
      { onRequest: (call) => Promise.resolve({ got: call.params }) },
    );
    await expect(peers.left.request('m', { a: 1 })).resolves.toEqual({ got: { a: 1 } });
    await expect(peers.right.request('m', [1])).resolves.toEqual([1]);
    await expect(peers.left.request('m')).resolves.toEqual({});
  });

  test('ids of every legal type come back as they were written', async () => {
    await using served = wirePeer({ onRequest: echo });
    const ids = ['0', '-0', '1.0', '1e2', '1E+2', '-1.50', '9007199254740993', '1e400', 'null', '""', '"1"'];
    for (const id of [...ids, '"a\\u0062"', '"\\/"', '"\\ud800"', '"ü€"', `"${'x'.repeat(5000)}"`]) {
      served.wire.send(`{"jsonrpc":"2.0","params":{"id":3},"id":${id},"method":"echo"}`);
      expect(await served.wire.take(1)).toEqual([`{"jsonrpc":"2.0","id":${id},"result":{"id":3}}`]);
      served.wire.send(`[{"jsonrpc":"2.0","id" : ${id} ,"method":"echo"},5]`);
      expect((await served.wire.take(1))[0]).toContain(`[{"jsonrpc":"2.0","id":${id},"result":null},{`);
    }
  });

  test('long ones behind each other keep their content while the first is still being served', async () => {
    const go = deferred<undefined>();
    await using peers = linkedPeers(
      {},
      {
        onRequest: async (call) => {
          await go.promise;
          return call.params;
        },
      },
    );
    const texts = ['a', 'é', '"\\', '😀'].map((text) => text.repeat(300_000));
    const answers = texts.map((text) => peers.left.request('m', { text }));
    await until(() => peers.right.callsInProgress === texts.length, 'all being served');
    go.resolve(undefined);
    for (const [i, text] of texts.entries()) {
      const { text: back } = (await answers[i]) as { text: string };
      expect(back === text).toBe(true); // the words of a difference would be megabytes
    }
  });

  test('a slow one does not hold up a fast one', async () => {
    const slow = deferred<string>();
    await using peers = linkedPeers(
      {},
      { onRequest: (call) => (call.method === 'slow' ? slow.promise : 'fast') },
    );
    const first = peers.left.request('slow');
    await expect(peers.left.request('fast')).resolves.toBe('fast');
    slow.resolve('slow');
    await expect(first).resolves.toBe('slow');
  });

  test('errors cross the wire only as RpcErrors; the rest is logged with its stack', async () => {
    const { log, records } = memoryLog();
    await using peers = linkedPeers(
      {},
      {
        log,
        onRequest: (call) => {
          if (call.method === 'typed')
            throw new RpcError(-32002, 'forbidden_path', { data: { path: '/etc' } });
          if (call.method === 'async') return Promise.reject(Object.assign(new Error('secret'), { code: 5 }));
          throw new Error('secret');
        },
      },
    );
    await expect(peers.left.request('typed')).rejects.toMatchObject({
      name: 'RpcError',
      code: -32002,
      message: 'forbidden_path',
      data: { path: '/etc' },
    });
    for (const method of ['sync', 'async']) {
      const failure = peers.left.request(method);
      await expect(failure).rejects.toMatchObject({
        code: -32603,
        message: 'Internal error',
        data: undefined,
      });
    }
    expect(records.map((record) => record.message)).toEqual(['a handler failed', 'a handler failed']);
    expect(String(records[0]?.facts?.['error'])).toContain('secret');
  });

  test('a result without a JSON form is -32603, and so is an error with an impossible code', async () => {
    const { log, records } = memoryLog();
    await using peers = linkedPeers(
      {},
      {
        log,
        onRequest: ({ method }) => {
          if (method === 'code') throw new RpcError(Number.NaN, 'x');
          if (method === 'data') throw new RpcError(-32001, 'kept', { data: 1n });
          return 1n;
        },
      },
    );
    await expect(peers.left.request('result')).rejects.toMatchObject({ code: -32603 });
    await expect(peers.left.request('code')).rejects.toMatchObject({ code: -32603 });
    await expect(peers.left.request('data')).rejects.toMatchObject({ code: -32001, message: 'kept' });
    expect(records).toHaveLength(2);
  });

  test('without a handler every method is unknown', async () => {
    await using peers = linkedPeers();
    await expect(peers.left.request('m')).rejects.toMatchObject({ code: -32601, data: { method: 'm' } });
  });

  test('params without a JSON form reject the request and leave the peer as it was', async () => {
    await using peers = linkedPeers({}, { onRequest: echo });
    await expect(peers.left.request('m', { n: 1n })).rejects.toThrow(TypeError);
    await expect(peers.left.request('m', { n: 1 })).resolves.toEqual({ n: 1 });
  });

  test('more than the cap at a time are refused', async () => {
    await using peers = linkedPeers({ maxPending: 2 }, { onRequest: () => new Promise(() => {}) });
    const pending = Promise.allSettled([peers.left.request('m'), peers.left.request('m')]);
    await expect(peers.left.request('m')).rejects.toMatchObject({ code: 'too_many_requests' });
    await Promise.all([peers.left.close(), peers.right.close()]);
    await expect(pending).resolves.toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  });

  test('unless told otherwise 65,536 may be waiting, and not one more', async () => {
    await using served = wirePeer();
    const pending = Promise.allSettled(
      Array.from({ length: MAX_PENDING_REQUESTS }, () => served.peer.request('m')),
    );
    await expect(served.peer.request('m')).rejects.toMatchObject({ code: 'too_many_requests' });
    served.wire.send('{"jsonrpc":"2.0","id":1,"result":"first"}');
    await until(() => served.wire.lines.length === MAX_PENDING_REQUESTS, 'all of them to arrive');
    await served.peer.close();
    const results = await pending;
    expect(results[0]).toEqual({ status: 'fulfilled', value: 'first' });
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(MAX_PENDING_REQUESTS - 1);
  });
});

describe('typed calls', () => {
  const Add = defineMethod({
    name: 'add',
    params: z.object({ a: z.number(), b: z._default(z.number(), 1) }),
    result: z.object({ sum: z.number() }),
    errors: [],
    summary: 'Add.',
  });
  const Ticked = defineEvent({ name: 'ticked', params: z.object({ n: z.number() }), summary: 'A tick.' });

  test('check the result against its schema', async () => {
    let answer: unknown = { sum: 3, extra: true };
    await using peers = linkedPeers({}, { onRequest: () => answer });
    await expect(peers.left.call(Add, { a: 1 })).resolves.toEqual({ sum: 3 });
    answer = { sum: 'three' };
    await expect(peers.left.call(Add, { a: 1 })).rejects.toMatchObject({ code: 'bad_result' });
  });

  test('emit sends an event', async () => {
    const seen: unknown[] = [];
    await using peers = linkedPeers(
      {},
      { onNotification: (call) => seen.push([call.method, call.params, call.id]) },
    );
    expect(peers.left.emit(Ticked, { n: 1 })).toBe(true);
    await until(() => seen.length === 1, 'the event');
    expect(seen).toEqual([['ticked', { n: 1 }, undefined]]);
  });
});

describe('notifications', () => {
  test('are never answered, whatever becomes of them', async () => {
    const { log, records } = memoryLog();
    await using served = wirePeer({
      log,
      onRequest: echo,
      onNotification: (call) => {
        if (call.method === 'rpc') throw new RpcError(-32001, 'no');
        if (call.method === 'boom') throw new Error('boom');
        return Promise.reject(new Error('later'));
      },
    });
    served.wire.send(
      { jsonrpc: '2.0', method: 'rpc' },
      { jsonrpc: '2.0', method: 'boom' },
      { jsonrpc: '2.0', method: 'async' },
    );
    expect(await served.wire.ask(request(1))).toMatchObject({ id: 1 });
    await until(() => records.length === 3, 'the log');
    expect(served.wire.lines).toEqual([]);
  });

  test('raw lines and raw results go out in order with everything else', async () => {
    await using served = wirePeer({
      onRequest: (call) => {
        served.peer.notifyFrame(Buffer.from('{"first":1.0}\n'));
        served.peer.notify('second');
        return call.method === 'bytes' ? new RawJson(Buffer.from('[1.0]')) : new RawJson('[2.0]');
      },
    });
    served.wire.send(request(1, 'bytes'), request(2, 'text'));
    const note = '{"jsonrpc":"2.0","method":"second"}';
    expect(await served.wire.take(6)).toEqual([
      '{"first":1.0}',
      note,
      '{"jsonrpc":"2.0","id":1,"result":[1.0]}',
      '{"first":1.0}',
      note,
      '{"jsonrpc":"2.0","id":2,"result":[2.0]}',
    ]);
  });
});

describe('what comes in broken', () => {
  test('is answered if it is a request, logged if it is a response, and never ends the connection', async () => {
    const { log, records } = memoryLog();
    await using served = wirePeer({ onRequest: echo, log });
    const { wire } = served;
    wire.send(
      '{',
      '',
      ' \r',
      '\u0000',
      'null',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":5,"result":1}',
    );
    wire.send(
      '{"jsonrpc":"2.0","result":1}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"eh?"}}',
    );
    wire.link.output.write(Buffer.from([0xff, 0xfe, 0x0a]));
    wire.send(request('end'));
    const answers = (await wire.take(6)).map(
      (line) => JSON.parse(line) as { error?: { code: number }; id: unknown },
    );
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32700],
      [null, -32600],
      [1, -32600],
      [null, -32700],
      ['end', undefined],
    ]);
    expect(records.map((record) => record.message)).toEqual([
      'an answer came to no open request',
      'a response has not the shape of one',
      'the other side did not understand a message',
    ]);
  });

  test('a response without its shape still settles the request it names', async () => {
    await using served = wirePeer();
    const answer = served.peer.request('m');
    await served.wire.take(1);
    served.wire.send('{"jsonrpc":"2.0","id":1,"error":"no object"}');
    await expect(answer).rejects.toMatchObject({ code: 'bad_response' });
  });

  test('a request that is not UTF-8 is refused with the place, and none of it is repeated', async () => {
    await using served = wirePeer({ onRequest: echo });
    const before = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"hunter2');
    served.wire.link.output.write(Buffer.concat([before, Buffer.of(0xff), Buffer.from('"}}\r\n')]));
    const answer = await served.wire.takeJson();
    expect(answer).toMatchObject({
      id: null,
      error: { code: -32700, data: { offset: before.length, reason: 'not UTF-8' } },
    });
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });

  test('an answer that is not UTF-8 is read with replacement characters', async () => {
    await using served = wirePeer({});
    const asked = served.peer.request('m');
    await served.wire.takeJson();
    served.wire.link.output.write(
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"result":"'),
        Buffer.of(0xff),
        Buffer.from('"}\n'),
      ]),
    );
    expect(await asked).toBe('\ufffd');
  });

  test('a line over the cap is refused, and the next is served', async () => {
    await using served = wirePeer({ onRequest: echo, maxLineBytes: 1000 });
    served.wire.send(request(1, 'm', { text: 'x'.repeat(5000) }), request(2));
    expect(await served.wire.takeJson()).toMatchObject({
      id: 1,
      error: { code: -32600, data: { reason: 'a line must not be longer than 1000 bytes' } },
    });
    expect(await served.wire.takeJson()).toMatchObject({ id: 2 });
  });
});
