// How a peer ends, and what it does when the other side does not read, does not stop, or is gone.

import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LocalError } from '../../../../src/base/errors.js';
import { DRAIN_MS, FLUSH_MS, RpcPeer } from '../../../../src/wire/jsonrpc/peer.js';
import type { Link } from '../../../../src/wire/transport/link.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { stopTimers } from '../../../helpers/stop-timers.js';
import { until } from '../../../helpers/wait.js';
import { deferred, failureOf, linkedPeers, pipes, request, wirePeer, WireSide } from './wire-side.js';

const never = (): Promise<never> => new Promise(() => {});

describe('closing', () => {
  test('rejects every pending request, writes in flight or not, and says how it ended', async () => {
    const stuck = new Writable({ highWaterMark: 1, write: () => {} }); // takes the first write and never answers
    const input = new PassThrough();
    const link: Link = {
      input,
      output: stuck,
      name: 'stuck',
      close: () => {
        stuck.destroy();
        input.destroy();
        return Promise.resolve();
      },
    };
    const peer = new RpcPeer(link, { drainMs: 10 });
    const answers = Promise.allSettled(Array.from({ length: 20 }, () => peer.request('m')));
    const closing = peer.close();
    expect(peer.close()).toBe(closing);
    for (const result of await answers)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'closed' } });
    await closing;
    expect(peer.signal.aborted).toBe(true);
    await expect(peer.closed).resolves.toBeUndefined();
    await expect(peer.request('m')).rejects.toMatchObject({ code: 'closed' });
    await expect(peer.drained()).rejects.toMatchObject({ code: 'closed' });
    expect(peer.notify('m')).toBe(false);
  });

  test('with a reason tells it to whoever waits', async () => {
    await using peers = linkedPeers({}, { onRequest: never, drainMs: 5 });
    const failure = failureOf(peers.left.request('m'));
    const reason = new LocalError('shutdown', 'going down');
    await peers.left.close(reason);
    expect(await failure).toBe(reason);
    await expect(peers.left.closed).resolves.toBe(reason);
  });

  test('tells the handlers, and what they do then goes nowhere', async () => {
    const aborted = deferred<unknown>();
    await using served = wirePeer({
      onRequest: async (call) => {
        await once(call.signal, 'abort');
        aborted.resolve(call.signal.reason);
        throw new Error('too late to tell');
      },
    });
    served.wire.send(request(1));
    await until(() => served.peer.callsInProgress === 1, 'the request');
    await served.peer.close(new LocalError('shutdown', 'going down'));
    await expect(aborted.promise).resolves.toMatchObject({ code: 'shutdown' });
    expect(served.wire.lines).toEqual([]);
  });

  test('hands over what is queued first', async () => {
    const [near, far] = linkedPair();
    const peer = new RpcPeer(near);
    const wire = new WireSide(far);
    for (let i = 0; i < 1000; i++) peer.notify('n', { i });
    {
      using still = stopTimers(); // the other side takes what it is given: its time does not run out
      void still;
      await peer.close();
    }
    expect(wire.lines).toHaveLength(1000);
    await far.close();
  });
});

describe('when the other side ends its output', () => {
  test('a last line without a newline is served, and answers in progress still go out', async () => {
    const gate = deferred<string>();
    await using served = wirePeer({ onRequest: () => gate.promise });
    served.wire.send(request(1));
    served.wire.link.output.end(JSON.stringify(request(2)));
    await served.peer.inputEnded;
    await until(() => served.peer.callsInProgress === 2, 'both requests');
    gate.resolve('late');
    expect(await served.wire.take(2)).toEqual([
      '{"jsonrpc":"2.0","id":1,"result":"late"}',
      '{"jsonrpc":"2.0","id":2,"result":"late"}',
    ]);
    await expect(served.peer.closed).resolves.toBeUndefined();
    await until(() => served.wire.ended, 'the end of the peer');
  });

  test('requests of our own have no answer to hope for', async () => {
    await using served = wirePeer({ onRequest: never, drainMs: 60_000 });
    served.wire.send(request(1));
    const failure = failureOf(served.peer.request('m'));
    await served.wire.take(1);
    served.wire.link.output.end();
    expect(await failure).toMatchObject({ code: 'closed' });
    await expect(served.peer.request('m')).rejects.toMatchObject({ code: 'closed' });
    expect(served.peer.notify('still possible')).toBe(true);
    await served.wire.take(1);
  });

  test('handlers have a limited time to finish', async () => {
    const aborted = deferred();
    await using served = wirePeer({
      drainMs: 20,
      onRequest: (call) => new Promise(() => call.signal.addEventListener('abort', () => aborted.resolve())),
    });
    served.wire.send(request(1));
    served.wire.link.output.end();
    await aborted.promise;
    await expect(served.peer.closed).resolves.toBeUndefined();
  });

  test('an input that was over before the peer was made is an end too', async () => {
    const { link, toPeer } = pipes();
    toPeer.destroy();
    await once(toPeer, 'close');
    const peer = new RpcPeer(link);
    await expect(peer.closed).resolves.toBeUndefined();
  });
});

describe('patience', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('with handlers lasts 10 s after the end of the input, unless told otherwise', async () => {
    const aborted = vi.fn<() => void>();
    await using served = wirePeer({
      onRequest: (call) => new Promise(() => call.signal.addEventListener('abort', aborted)),
    });
    served.wire.send(request(1));
    served.wire.link.output.end();
    await served.peer.inputEnded;
    await vi.advanceTimersByTimeAsync(DRAIN_MS - 1);
    expect(served.peer.callsInProgress).toBe(1);
    expect(aborted).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(aborted).toHaveBeenCalledOnce();
    await expect(served.peer.closed).resolves.toBeUndefined();
  });

  test('with a side that takes nothing lasts 1 s on a close', async () => {
    const { link } = pipes();
    const peer = new RpcPeer(link);
    peer.notify('n', { text: 'x'.repeat(100_000) }); // more than the pipe holds
    const settled = vi.fn<() => void>();
    const closing = peer.close().then(settled);
    await vi.advanceTimersByTimeAsync(FLUSH_MS - 1);
    expect(settled).not.toHaveBeenCalled();
    expect(link.output.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closing;
    expect(link.output.destroyed).toBe(true);
  });
});

describe('when the connection breaks', () => {
  test('the reason is told to all', async () => {
    const { link, toPeer } = pipes();
    const peer = new RpcPeer(link);
    const failure = failureOf(peer.request('m'));
    toPeer.destroy(new Error('reset'));
    expect(await failure).toMatchObject({ code: 'connection_lost' });
    await expect(peer.closed).resolves.toMatchObject({
      code: 'connection_lost',
      message: 'the connection broke: reset',
    });
  });

  test('what the other side said before it died is still heard', async () => {
    const { link, toPeer, fromPeer } = pipes();
    const aborted = deferred();
    const peer = new RpcPeer(link, {
      onRequest: (call) => new Promise(() => call.signal.addEventListener('abort', () => aborted.resolve())),
    });
    toPeer.write(`${JSON.stringify(request('x'))}\n`);
    const answer = peer.request('m');
    fromPeer.destroy(new Error('EPIPE'));
    await aborted.promise; // no answer of ours can be delivered
    toPeer.end('{"jsonrpc":"2.0","id":1,"result":"last words"}\n');
    await expect(answer).resolves.toBe('last words');
    await expect(peer.closed).resolves.toMatchObject({ code: 'connection_lost' });
  });

  test('an output that breaks alone ends the peer after a while', async () => {
    const { link, fromPeer } = pipes();
    const peer = new RpcPeer(link);
    fromPeer.destroy(new Error('EPIPE'));
    await expect(peer.closed).resolves.toMatchObject({ code: 'connection_lost' });
  });
});
