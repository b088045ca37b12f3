import { describe, expect, test } from 'vitest';
import { BenchChild } from '../../../bench/harness/child.js';
import { countLines, LineClient, MAX_CHECKED_REPLY_BYTES } from '../../../bench/harness/line-client.js';
import { POOL_LINES, RequestPool } from '../../../bench/harness/request-pool.js';

/** A child that answers every line with what `answer`, the source of a function of the request, gives. */
const answering = (answer: string): string[] => [
  process.execPath,
  '-e',
  `require('readline').createInterface({ input: process.stdin })
    .on('line', (line) => { const text = (${answer})(JSON.parse(line), line); if (text !== undefined) console.log(text); })`,
];
const ECHO = '(m) => JSON.stringify({ jsonrpc: "2.0", id: m.id, result: m.params })';

async function withClient(argv: string[], body: (client: LineClient) => Promise<void>): Promise<void> {
  await using child = await BenchChild.start('child', argv);
  await body(new LineClient(child));
}

describe('LineClient', () => {
  test('asks and skips what is not the answer', async () => {
    const noisy = `(m) => '{"jsonrpc":"2.0","method":"note"}\\n' + (${ECHO})(m)`;
    await withClient(answering(noisy), async (client) => {
      expect(await client.ask(7, 'echo', { a: 1 })).toEqual({ jsonrpc: '2.0', id: 7, result: { a: 1 } });
    });
  });

  test.each([1, 3, 64])('exchanges exactly as many lines as asked for, %d in flight', async (inFlight) => {
    const counting = `(m) => (globalThis.n = (globalThis.n ?? 0) + 1, JSON.stringify({ id: m.id, result: n }))`;
    await withClient(answering(counting), async (client) => {
      await client.exchange(new RequestPool('echo', {}), 200, inFlight);
      expect((await client.ask(1, 'count', {})).result).toBe(201);
    });
  });

  test('a child that ends is told apart from one that is slow', async () => {
    await withClient(
      [process.execPath, '-e', 'console.error("bad config"); process.exit(2)'],
      async (client) => {
        await expect(client.ask(1, 'echo', {})).rejects.toThrow(
          'child exited with code 2; its stderr says:\n    bad config',
        );
      },
    );
  });

  test('a child that gives no answer is waited for only so long', async () => {
    await using child = await BenchChild.start('mute', answering('() => undefined'));
    const client = new LineClient(child, 50);
    await expect(client.ask(1, 'echo', {})).rejects.toThrow('mute gave no answer to echo within 50 ms');
  });

  test('a child that does not speak JSON is quoted', async () => {
    await withClient(answering('() => "hello"'), async (client) => {
      await expect(client.ask(1, 'echo', {})).rejects.toThrow('sent what is not JSON: hello');
    });
  });

  test('a line without end is refused', async () => {
    const endless = `() => void process.stdout.write('x'.repeat(${MAX_CHECKED_REPLY_BYTES + 1}))`;
    await withClient(answering(endless), async (client) => {
      await expect(client.ask(1, 'echo', {})).rejects.toThrow('sent an endless line');
    });
  });

  test('verifies that each request is answered once and rightly', async () => {
    const pool = (): RequestPool => new RequestPool('echo', { a: 1 });
    await withClient(answering(ECHO), async (client) =>
      client.verify(pool(), (reply) => reply.result !== undefined),
    );
    await withClient(answering(ECHO), async (client) => {
      await expect(client.verify(pool(), () => false)).rejects.toThrow('gave a wrong answer: {"jsonrpc"');
    });
    await withClient(answering(`() => '{"id":1,"result":1}'`), async (client) => {
      await expect(client.verify(pool(), () => true)).rejects.toThrow('exactly once');
    });
  });
});

describe('RequestPool', () => {
  const idsOf = (parts: Buffer[]): number[] =>
    Buffer.concat(parts)
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number }).id);

  test('takes whole requests in turn and begins again at the end', () => {
    const pool = new RequestPool('m', { text: 'é' });
    const first = pool.peekIds(2);
    expect(idsOf(pool.take(2))).toEqual(first);
    pool.take(POOL_LINES - 3);
    const around = pool.peekIds(3);
    expect(around.slice(1)).toEqual(first);
    expect(idsOf(pool.take(3))).toEqual(around);
  });

  test('never has two equal ids on their way', () => {
    const pool = new RequestPool('m', {});
    expect(new Set(idsOf(pool.take(POOL_LINES))).size).toBe(POOL_LINES);
    expect(() => pool.take(POOL_LINES + 1)).toThrow('at most');
  });
});

test.each([
  ['', 0],
  ['\n', 1],
  ['a\nb\nc', 2],
  ['\n\n', 2],
])('%j has %d line ends', (text, count) => {
  expect(countLines(Buffer.from(text))).toBe(count);
});
