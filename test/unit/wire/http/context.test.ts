// The signal of a request: how a handler learns that the client has left.

import { expect, describe, test } from 'vitest';
import { sendEmpty, sendJson } from '../../../../src/wire/http/reply.js';
import { until } from '../../../helpers/wait.js';
import { gate, request, route, TestServer } from './kit.js';

describe('the signal of a request', () => {
  test('aborts when the client leaves before the answer, and the failure that follows is not an error', async () => {
    const started = gate();
    const aborted = gate<unknown>();
    const wait = route('/wait', async ({ signal }) => {
      started.open();
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      ).catch((error: unknown) => {
        aborted.open(error);
        throw error;
      });
    });
    await using kit = await TestServer.start({ routes: [wait] });
    const client = await kit.connect();
    client.write(request('GET /wait'));
    await started.promise;
    await client[Symbol.asyncDispose]();
    expect(await aborted.promise).toMatchObject({ name: 'ClientGoneError', code: 'client_gone' });
    await until(
      () => kit.records.some(({ message }) => message === 'request abandoned'),
      'the note in the log',
    );
    expect(kit.problems()).toEqual([]);
    expect(kit.server.inFlight).toBe(0);
  });

  test('also when the client only shuts its side, as a killed program does', async () => {
    const aborted = gate();
    const wait = route(
      '/wait',
      ({ signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => (aborted.open(), resolve()));
        }),
    );
    await using kit = await TestServer.start({ routes: [wait] });
    await using client = await kit.connect();
    client.write(request('GET /wait'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    client.socket.end();
    await expect(aborted.promise).resolves.toBeUndefined();
  });

  test('is aborted already when first asked for after the client has left', async () => {
    const left = gate();
    const seen = gate<boolean>();
    const wait = route('/wait', async (ctx) => {
      await left.promise;
      seen.open(ctx.signal.aborted);
    });
    await using kit = await TestServer.start({ routes: [wait] });
    const client = await kit.connect();
    client.write(request('GET /wait'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    await client[Symbol.asyncDispose]();
    await until(() => kit.server.inFlight === 0, 'the server to notice');
    left.open();
    expect(await seen.promise).toBe(true);
  });

  test('does not abort when the answer was complete', async () => {
    const signals: AbortSignal[] = [];
    const done = route('/done', (ctx) => {
      signals.push(ctx.signal);
      sendEmpty(ctx);
    });
    await using kit = await TestServer.start({ routes: [done] });
    await kit.exchange(request('GET /done'));
    await until(() => kit.server.connections === 0, 'the connection to close');
    expect(signals.map((signal) => signal.aborted)).toEqual([false]);
  });

  test('writes to a client that has left raise nothing', async () => {
    const finished = gate();
    const writer = route('/write', async (ctx) => {
      await until(() => ctx.signal.aborted, 'the client to leave');
      ctx.res.write('into the void');
      sendJson(ctx, 200, {});
      ctx.res.end('more');
      finished.open();
    });
    await using kit = await TestServer.start({ routes: [writer] });
    const client = await kit.connect();
    client.write(request('GET /write'));
    await until(() => kit.server.inFlight === 1, 'the request to arrive');
    await client[Symbol.asyncDispose]();
    await expect(finished.promise).resolves.toBeUndefined();
    expect(kit.problems()).toEqual([]);
  });
});
