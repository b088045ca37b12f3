// MCP messages over lines, whatever the other side sends.

import { once } from 'node:events';
import { expect, test } from 'vitest';
import {
  END_GRACE_MS,
  LineTransport,
  MAX_MCP_LINE_BYTES,
  MAX_OPEN_REQUESTS,
} from '../../../src/mcp/line-transport.js';
import { isRequest, MAX_BATCH, type McpRequest } from '../../../src/mcp/message-reader.js';
import type { StreamLink } from '../../../src/wire/transport/link.js';
import { linkedPair } from '../../../src/wire/transport/memory.js';
import { until } from '../../helpers/wait.js';

class Bench implements AsyncDisposable {
  readonly client: StreamLink;
  readonly transport: LineTransport;
  readonly received: McpRequest[] = [];
  readonly lines: unknown[] = [];
  closed = false;

  constructor(endGraceMs = END_GRACE_MS) {
    const [client, server] = linkedPair();
    this.client = client;
    this.transport = new LineTransport(server, { endGraceMs });
    Object.assign(this.transport, {
      onmessage: (message: McpRequest) => {
        if (isRequest(message)) this.received.push(message);
      },
      onclose: () => (this.closed = true),
    });
    let held = '';
    client.input.on('data', (chunk: Buffer) => {
      held += chunk.toString('utf8');
      for (let at = held.indexOf('\n'); at !== -1; at = held.indexOf('\n')) {
        this.lines.push(JSON.parse(held.slice(0, at)));
        held = held.slice(at + 1);
      }
    });
  }

  send(...messages: unknown[]): void {
    for (const message of messages)
      this.client.output.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  async answer(id: string | number): Promise<void> {
    await this.transport.send({ jsonrpc: '2.0', id, result: {} });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport.close();
    await this.client.close();
  }
}

async function start(endGraceMs?: number): Promise<Bench> {
  const bench = new Bench(endGraceMs);
  await bench.transport.start();
  return bench;
}

const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });
const refusal = (id: unknown, code: number) => ({ id, error: { code } });

test('lines that are no messages are refused, and the next one is served', async () => {
  await using bench = await start();
  bench.send('garbage', '', '5', { jsonrpc: '1.0', id: 4, method: 'x' }, ping(null), ping(1.5), ping(1));
  bench.send({ jsonrpc: '2.0', id: 9, method: 'x', params: [1] });
  await until(() => bench.received.length === 1 && bench.lines.length === 6, 'the refusals');
  expect(bench.lines).toMatchObject([
    refusal(null, -32700),
    refusal(null, -32600),
    refusal(4, -32600),
    refusal(null, -32600),
    refusal(null, -32600),
    refusal(9, -32600),
  ]);
});

test('members that no message has are left away, and answers to nobody are passed over', async () => {
  await using bench = await start();
  bench.send({ ...ping(1), extra: true }, { jsonrpc: '2.0', id: 7, result: {} }, ping('two'));
  await until(() => bench.received.length === 2, 'both requests');
  expect(bench.received).toEqual([ping(1), ping('two')]);
  expect(bench.lines).toEqual([]);
});

test('a line that is too long, or too deep, is refused, and the connection lives', async () => {
  await using bench = await start();
  bench.send('x'.repeat(MAX_MCP_LINE_BYTES + 1), '['.repeat(10_000), ping(1));
  await until(() => bench.received.length === 1, 'the request after it', 60_000);
  expect(bench.lines).toMatchObject([refusal(null, -32600), refusal(null, -32600)]);
});

test('a batch is answered by one line, without what was called off', async () => {
  await using bench = await start();
  bench.send([ping(1), ping(2), 5, { jsonrpc: '2.0', method: 'notifications/x' }]);
  await until(() => bench.received.length === 2, 'its members');
  await bench.answer(1);
  bench.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
  await until(() => bench.lines.length === 1, 'its answer');
  expect(bench.lines).toMatchObject([[refusal(null, -32600), { id: 1, result: {} }]]);
  bench.send(
    Array.from({ length: MAX_BATCH + 1 }, (_, i) => ping(i)),
    [],
  );
  await until(() => bench.lines.length === 3, 'the refusals');
});

test('what was asked before the input ended is answered, then the connection closes', async () => {
  await using bench = await start(60_000);
  bench.send(ping(1));
  bench.client.output.end();
  await until(() => bench.received.length === 1, 'the request');
  expect(bench.closed).toBe(false);
  await bench.answer(1);
  await until(() => bench.closed, 'its end');
  expect(bench.lines).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  await expect(bench.answer(1)).rejects.toThrow('closed');
});

test('what takes longer than END_GRACE_MS after the end of the input is called off', async () => {
  await using bench = await start(20);
  bench.send(ping(1));
  bench.client.output.end();
  await until(() => bench.closed, 'its end');
  expect(bench.received).toHaveLength(1);
});

test('past MAX_OPEN_REQUESTS nothing is read until one is answered', async () => {
  await using bench = await start();
  for (let i = 0; i < MAX_OPEN_REQUESTS; i++) bench.send(ping(i));
  await until(() => bench.received.length === MAX_OPEN_REQUESTS, 'as many as are taken');
  bench.send(ping('more'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(bench.received).toHaveLength(MAX_OPEN_REQUESTS);
  await bench.answer(0);
  await until(() => bench.received.length === MAX_OPEN_REQUESTS + 1, 'the next');
});

test('a client that goes away closes the connection at once', async () => {
  await using bench = await start();
  bench.send(ping(1));
  await until(() => bench.received.length === 1, 'the request');
  bench.client.output.destroy();
  await once(bench.client.output, 'close');
  await expect(until(() => bench.closed, 'its end')).resolves.toBe(true);
});
