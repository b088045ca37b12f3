// One command by the client: what it came to, whatever becomes of the answer, and never a second attempt.

import { describe, expect, test, vi } from 'vitest';
import * as fc from 'fast-check';
import {
  DaemonUnreachableError,
  QUEUE_FULL,
  QUEUE_TIMEOUT,
  STREAM_INCOMPLETE,
  StringClient,
  StringdError,
  stripContentPrefix,
} from '../../../../src/client/string/browser.js';
import { runs } from '../../../helpers/runs.js';
import { CANCEL_WAIT_MS, DRAIN_MS } from '../../../../src/client/string/exec.js';
import {
  event,
  fetchFailed,
  HEAD,
  scriptedFetch,
  stream,
  untilAborted,
  withFakeTimers,
} from './scripted-fetch.js';

const CONTENT = event('content', 're: [r1] /info\nfine\nindeed\n');
const WHOLE = event('head', HEAD) + CONTENT + event('done', {});

function clientFor(answer: (signal: AbortSignal) => Response | Promise<Response>) {
  const fetch = scriptedFetch((asked) =>
    asked.path.startsWith('/exec') && asked.method === 'POST' ? answer(asked.signal) : undefined,
  );
  return { client: new StringClient({ fetch }), fetch };
}

test('before the first command the daemon is pinged and the agent ensured, once', async () => {
  const { client, fetch } = clientFor(() => stream([WHOLE]));
  await client.exec('main', '/info');
  await client.exec('main', '/info');
  expect(fetch.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /health',
    'POST /agents',
    'POST /exec',
    'POST /exec',
  ]);
  expect(fetch.asked[1]?.body).toBe('{"agent_id":"default"}');
  expect(fetch.asked[2]?.headers).toMatchObject({
    'X-Agent-Id': 'default',
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
  });
});

test('the result has what the head says and the content without its first line', async () => {
  const meta = { uri: 'file:///a.md', title: null, current_block: '#b', extra: 1 };
  const head = event('head', { ...HEAD, meta, topic: 'bash:x', topic_type: 'bash' });
  const { client } = clientFor(() => stream([head + CONTENT + event('done', {})]));
  expect(await client.exec('main', '/info', { requestId: 'r1' })).toEqual({
    ok: true,
    code: null,
    content: 'fine\nindeed\n',
    meta,
    topic: 'bash:x',
    topicType: 'bash',
    requestId: 'r1',
  });
});

test('the answer may come in any pieces, with any line ends', async () => {
  const bytes = new TextEncoder().encode(
    event('head', HEAD) + event('content', 're: /x\nπ ≠ 3 𝒞\n') + event('done', {}),
  );
  const crlf = new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll('\n', '\r\n'));
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(fc.integer({ min: 1, max: 40 })), async (isCrlf, sizes) => {
      const all = isCrlf ? crlf : bytes;
      const pieces: Uint8Array[] = [];
      let at = 0;
      for (const size of sizes) pieces.push(all.slice(at, (at += size)));
      const { client } = clientFor(() => stream([...pieces, all.slice(at)]));
      expect(await client.exec('main', '/x')).toMatchObject({ ok: true, content: 'π ≠ 3 𝒞\n' });
    }),
    { numRuns: runs(500) },
  );
});

describe('an answer that breaks off is STREAM_INCOMPLETE', () => {
  test.each([
    ['after the head', [event('head', HEAD)], 'close'],
    ['after the head, by a cut', [event('head', HEAD)], 'break'],
    ['after the content', [event('head', HEAD), CONTENT], 'close'],
    ['inside the last event', [event('head', HEAD), CONTENT, 'event: done\ndata: {}\n'], 'close'],
    ['before anything', [], 'close'],
    ['by a head that is no JSON', ['event: head\ndata: {oops\n\n', CONTENT, event('done', {})], 'close'],
    ['by content that is no text', [event('head', HEAD), event('content', 7), event('done', {})], 'close'],
    ['by a head that says nothing', [event('head', null), CONTENT, event('done', {})], 'close'],
    ['without a head', [CONTENT, event('done', {})], 'close'],
  ] as const)('%s', async (_, pieces, end) => {
    const { client, fetch } = clientFor(() => stream(pieces, end));
    const result = await client.exec('main', '/info');
    expect(result).toMatchObject({ ok: false, code: STREAM_INCOMPLETE });
    expect(result.content).toMatch(/^ERROR\(STREAM_INCOMPLETE\): ./);
    expect(fetch.asked.filter(({ path }) => path === '/exec')).toHaveLength(1);
  });

  test('with what the head has told already', async () => {
    const { client } = clientFor(() => stream([event('head', { ...HEAD, topic: 'docs' })]));
    expect(await client.exec('docs', '/info')).toMatchObject({ ok: false, topic: 'docs', topicType: 'tab' });
  });

  test('also when the connection is cut before there is an answer: the command may have run', async () => {
    const { client, fetch } = clientFor(() => Promise.reject(fetchFailed('ECONNRESET')));
    expect(await client.exec('main', '/info')).toMatchObject({ ok: false, code: STREAM_INCOMPLETE });
    expect(fetch.asked.filter(({ path }) => path === '/exec')).toHaveLength(1);
  });
});

test(
  'an answer that does not end after its last event is given all the same',
  withFakeTimers(async () => {
    const { client } = clientFor((signal) => stream([WHOLE, event('content', 'late')], 'open', signal));
    const running = client.exec('main', '/info');
    await vi.advanceTimersByTimeAsync(DRAIN_MS);
    expect(await running).toMatchObject({ ok: true, content: 'fine\nindeed\n' });
  }),
);

test('a queue that is full, and a turn that did not come, are results of their own', async () => {
  const answers = [
    Response.json({ error: 'QUEUE_FULL', message: 'Topic a:main has 5 commands queued.' }, { status: 429 }),
    Response.json({ error: 'QUEUE_TIMEOUT', message: 'Timed out waiting in queue.' }, { status: 504 }),
  ];
  const { client, fetch } = clientFor(() => answers.shift() ?? Response.error());
  expect(await client.exec('main', '/info')).toMatchObject({
    ok: false,
    code: QUEUE_FULL,
    content: 'ERROR(QUEUE_FULL): Topic a:main has 5 commands queued.',
  });
  expect(await client.exec('main', '/info')).toMatchObject({ ok: false, code: QUEUE_TIMEOUT, topic: null });
  expect(fetch.asked.filter(({ path }) => path === '/exec')).toHaveLength(2);
});

test('a request that the daemon would not have at all rejects, in its words', async () => {
  const { client } = clientFor(() => Response.json({ error: 'Invalid topic: a b' }, { status: 400 }));
  const thrown: unknown = await client.exec('a b', '/info').catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(StringdError);
  expect(thrown).toMatchObject({ status: 400, code: 'HTTP_400', message: 'Invalid topic: a b' });
});

test('a daemon that is gone is looked for once more; then it rejects, and the next command looks again', async () => {
  let left = 1;
  const { client, fetch } = clientFor(() =>
    left-- > 0 ? Promise.reject(fetchFailed('ECONNREFUSED')) : stream([WHOLE]),
  );
  const countOf = (wanted: string): number => fetch.asked.filter(({ path }) => path === wanted).length;
  expect(await client.exec('main', '/info')).toMatchObject({ ok: true });
  expect([countOf('/health'), countOf('/exec')]).toEqual([2, 2]);
  left = 2;
  const thrown: unknown = await client.exec('main', '/info').catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(DaemonUnreachableError);
  expect(thrown).toMatchObject({ wasSent: false, message: expect.stringContaining('nobody listens there') });
  expect([countOf('/health'), countOf('/exec')]).toEqual([3, 4]);
  expect(await client.exec('main', '/info')).toMatchObject({ ok: true });
  expect([countOf('/health'), countOf('/exec')]).toEqual([4, 5]);
});

describe('calling off', () => {
  test('a signal tells the daemon, then rejects with its reason', async () => {
    const { client, fetch } = clientFor((signal) => untilAborted(signal));
    const wish = new AbortController();
    const running = client.exec('main', '/exec sleep 9', { requestId: 'mine', signal: wish.signal });
    running.catch(() => {});
    await expect.poll(() => fetch.asked.some(({ path }) => path === '/exec'), { timeout: 60_000 }).toBe(true);
    wish.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(fetch.asked.at(-1)).toMatchObject({
      method: 'DELETE',
      path: '/exec/mine',
      headers: { 'X-Agent-Id': 'default' },
    });
  });

  test('one that has aborted before keeps the command from being sent', async () => {
    const { client, fetch } = clientFor(() => stream([WHOLE]));
    const signal = AbortSignal.abort(new Error('never mind'));
    await expect(client.exec('main', '/info', { signal })).rejects.toThrow('never mind');
    expect(fetch.asked.some(({ path }) => path.startsWith('/exec'))).toBe(false);
  });

  test('who does not want to wait for the daemon does not have to', async () => {
    const fetch = scriptedFetch(({ path, signal }) =>
      path === '/agents' ? untilAborted(signal) : undefined,
    );
    const client = new StringClient({ fetch });
    await expect(client.exec('main', '/info', { timeoutMs: 5 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    const wish = new AbortController();
    const waiting = client.exec('main', '/info', { signal: wish.signal });
    wish.abort(new Error('never mind'));
    await expect(waiting).rejects.toThrow('never mind');
    expect(fetch.asked.some(({ path }) => path.startsWith('/exec'))).toBe(false);
  });

  test(
    'a command that the daemon does not know of yet is called off again until it does',
    withFakeTimers(async () => {
      let tellings = 0;
      const fetch = scriptedFetch(({ method, path, signal }) => {
        if (path === '/exec') return untilAborted(signal);
        if (method !== 'DELETE') return undefined;
        tellings += 1;
        return Response.json({ request_id: 'x', cancelled: tellings === 3 });
      });
      const wish = new AbortController();
      const running = new StringClient({ fetch })
        .exec('main', '/info', { signal: wish.signal })
        .catch((thrown: unknown) => thrown);
      while (!fetch.asked.some(({ path }) => path === '/exec')) await vi.advanceTimersByTimeAsync(1);
      wish.abort(new Error('enough'));
      await vi.advanceTimersByTimeAsync(CANCEL_WAIT_MS / 2);
      expect(await running).toMatchObject({ message: 'enough' });
      expect(tellings).toBe(3);
    }),
  );

  test(
    'and not without end',
    withFakeTimers(async () => {
      const fetch = scriptedFetch(({ method, path, signal }) => {
        if (path === '/exec') return untilAborted(signal);
        return method === 'DELETE' ? untilAborted(signal) : undefined;
      });
      const running = new StringClient({ fetch })
        .exec('main', '/info', { timeoutMs: 1000 })
        .catch((thrown: unknown) => thrown);
      await vi.advanceTimersByTimeAsync(1000 + CANCEL_WAIT_MS + 100);
      expect(await running).toMatchObject({ name: 'TimeoutError' });
    }),
  );

  test('an answer that is complete is given, even if nobody wanted it any more', async () => {
    const wish = new AbortController();
    const fetch = scriptedFetch(({ method, path, signal }) => {
      if (path === '/exec') return stream([WHOLE], 'open', signal);
      return method === 'DELETE' ? untilAborted(signal) : undefined;
    });
    const running = new StringClient({ fetch }).exec('main', '/info', { signal: wish.signal });
    expect(await running).toMatchObject({ ok: true });
    wish.abort();
    expect(fetch.asked.some(({ method }) => method === 'DELETE')).toBe(false);
  });
});

describe('execStream', () => {
  const streamed = [event('chunk', 'one\n'), event('chunk', 'two\n'), WHOLE];

  test('gives the output as it comes, then the result', async () => {
    const { client, fetch } = clientFor(() => stream(streamed));
    const seen: unknown[] = [];
    for await (const each of client.execStream('main', '/exec x')) seen.push(each);
    expect(seen).toEqual([
      { type: 'chunk', text: 'one\n' },
      { type: 'chunk', text: 'two\n' },
      { type: 'result', result: expect.objectContaining({ ok: true, content: 'fine\nindeed\n' }) },
    ]);
    expect(fetch.asked.at(-1)?.path).toBe('/exec?stream=1');
  });

  test('whoever leaves the loop calls the command off', async () => {
    const fetch = scriptedFetch(({ path, signal }) =>
      path === '/exec?stream=1' ? stream(streamed.slice(0, 1), 'open', signal) : undefined,
    );
    const client = new StringClient({ fetch });
    for await (const each of client.execStream('main', '/exec x', { requestId: 'r2' })) {
      expect(each).toEqual({ type: 'chunk', text: 'one\n' });
      break;
    }
    expect(fetch.asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/exec/r2' });
  });
});

test('of the content only the line of the command is taken away', () => {
  expect(stripContentPrefix('re: /x\nbody\nre: more')).toBe('body\nre: more');
  expect(stripContentPrefix('re: [id] /x\n')).toBe('');
  expect(stripContentPrefix('re: /x')).toBe('');
  expect(stripContentPrefix('no such line\nbody')).toBe('no such line\nbody');
});
