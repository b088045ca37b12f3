// string --mcp with a daemon that says what the test wants: both eras, errors, beats, calling off, channels.

import { describe, expect, test } from 'vitest';
import { callDaemon } from '../../../../src/cli/string/mcp/call-daemon.js';
import { CHANNEL_CAPABILITY } from '../../../../src/cli/string/mcp/channel.js';
import { type ServeOptions, serveStringMcp } from '../../../../src/cli/string/mcp/serve.js';
import { StringClient } from '../../../../src/client/string/string-client.js';
import { describeTool } from '../../../../src/mcp/server.js';
import { StringTool } from '../../../../src/string/tool.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { until } from '../../../helpers/wait.js';
import {
  type Asked,
  event,
  fetchFailed,
  HEAD,
  scriptedFetch,
  stream,
  untilAborted,
} from '../../client/string/scripted-fetch.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: { content?: { text: string }[]; isError?: boolean } & Record<string, unknown>;
}

function serve(
  answers?: (asked: Asked) => Response | Promise<Response> | undefined,
  more: Partial<ServeOptions> = {},
) {
  const [near, far] = linkedPair();
  const fetch = scriptedFetch(answers);
  const said: string[] = [];
  const client = new StringClient({ fetch, port: 1, agentId: 'me', autoStart: false });
  const over = serveStringMcp(far, { client, strictTopics: false, say: (text) => said.push(text), ...more });
  const lines: Line[] = [];
  let held = '';
  near.input.on('data', (chunk: Buffer) => {
    held += chunk.toString('utf8');
    const parts = held.split('\n');
    held = parts.pop() ?? '';
    lines.push(...parts.map((part) => JSON.parse(part) as Line));
  });
  let lastId = 0;
  const write = (message: object): void =>
    void near.output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const send = (method: string, params: object): number => {
    write({ id: ++lastId, method, params });
    return lastId;
  };
  const answerTo = (id: number): Promise<Line> =>
    until(() => lines.find((line) => line.id === id && line.method === undefined), `answer ${id}`, 60_000);
  return {
    fetch,
    said,
    lines,
    write,
    send,
    ask: (method: string, params: object) => answerTo(send(method, params)),
    begin: async (): Promise<Line> => {
      const hello = await answerTo(send('initialize', HELLO));
      write({ method: 'notifications/initialized' });
      return hello;
    },
    over,
    [Symbol.asyncDispose]: async () => {
      await near.close();
      await over;
    },
  };
}

const call = (topic: string, cmd: string, meta: object = {}) => ({
  name: 'string',
  arguments: { topic, cmd },
  _meta: meta,
});

const textOf = ({ result }: Line): string => result?.content?.[0]?.text ?? '';

describe.each(['2025-11-25', '2026-07-28'])('in the era of %s', (era) => {
  const meta = era === '2026-07-28' ? META : {};
  const open = async (...args: Parameters<typeof serve>) => {
    const server = serve(...args);
    if (era !== '2026-07-28') await server.begin();
    return server;
  };

  test('there is one tool, and its answer is the block of the topic really used', async () => {
    const redirected = stream([
      event('head', { ...HEAD, topic: 'app:x', topic_type: 'app' }),
      event('content', 're: /open app:x\nOpened </𝒞>'),
      event('done', {}),
    ]);
    await using server = await open(({ path }) => (path === '/exec' ? redirected : undefined));
    const listed = await server.ask('tools/list', { _meta: meta });
    expect(listed.result?.['tools']).toMatchObject([{ name: 'string', title: 'String' }]);
    const answer = await server.ask('tools/call', call('main', '/open app:x', meta));
    expect(textOf(answer)).toBe('<𝒞=string:app:x>\nOpened <\\/𝒞>\n</𝒞>');
    expect(answer.result?.isError ?? false).toBe(false);
    const exec = server.fetch.asked.find(({ path }) => path === '/exec');
    expect(exec?.headers['X-Agent-Id']).toBe('me');
    expect(JSON.parse(exec?.body ?? '')).toMatchObject({ topic: 'main', cmd: '/open app:x' });
  });

  test('failures are results that begin with ERROR(CODE)', async () => {
    const answers: (() => Response | Promise<Response>)[] = [
      () =>
        stream([
          event('head', { ...HEAD, ok: false, code: 'BUSY', topic: 'bash:x' }),
          event('content', 're: x\nERROR(BUSY): it runs'),
          event('done', {}),
        ]),
      () => Response.json({ error: 'QUEUE_FULL', message: 'Topic me:main has 5.' }, { status: 429 }),
      () => Response.json({ error: 'QUEUE_TIMEOUT', message: 'Timed out.' }, { status: 504 }),
      () => stream([event('head', HEAD)]),
      () => Response.json({ error: 'too large' }, { status: 413 }),
    ];
    await using server = await open(({ path }) => (path === '/exec' ? answers.shift()?.() : undefined));
    const say = async (topic: string, cmd: string): Promise<string> => {
      const answer = await server.ask('tools/call', call(topic, cmd, meta));
      expect(answer.result?.isError).toBe(true);
      return textOf(answer);
    };
    expect(await say('bash:x', 'ls')).toBe('<𝒞=string:bash:x>\nERROR(BUSY): it runs\n</𝒞>');
    expect(await say('main', '/info')).toBe('<𝒞=string:main>\nERROR(QUEUE_FULL): Topic me:main has 5.\n</𝒞>');
    expect(await say('', '/info')).toBe('<𝒞=string:main>\nERROR(QUEUE_TIMEOUT): Timed out.\n</𝒞>');
    expect(await say('main', '/info')).toContain('ERROR(STREAM_INCOMPLETE): ');
    expect(await say('main', '/info')).toContain('ERROR(HTTP_413): too large');
    expect(await say('my session', '/info')).toBe(
      '<𝒞=string:main>\nERROR(INVALID_TARGET): Invalid topic: my session\n</𝒞>',
    );
    expect(await say('docs', ' ')).toBe('<𝒞=string:docs>\nERROR(INVALID_PAYLOAD): Empty command\n</𝒞>');
    const missing = await server.ask('tools/call', {
      name: 'string',
      arguments: { topic: 'x' },
      _meta: meta,
    });
    expect(textOf(missing)).toContain('ERROR(INVALID_PAYLOAD): ');
  });

  test('a long call tells that it is alive, to whoever asked for that', async () => {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    await using server = await open(
      ({ path }) =>
        path === '/exec'
          ? finished.then(() =>
              stream([event('head', HEAD), event('content', 're: x\nlong'), event('done', {})]),
            )
          : undefined,
      { progressBeatMs: 5 },
    );
    const id = server.send('tools/call', call('main', '/exec sleep', { ...meta, progressToken: 'p' }));
    const beats = (): Line[] => server.lines.filter(({ method }) => method === 'notifications/progress');
    await until(() => beats().length >= 2, 'two beats', 60_000);
    finish();
    await until(() => server.lines.some((line) => line.id === id), 'the answer', 60_000);
    expect(beats()[1]?.params).toMatchObject({ progressToken: 'p', progress: 2 });
  });

  test('a call that is called off is called off at the daemon, and the next one is served', async () => {
    let isFirst = true;
    await using server = await open(({ path, signal }) => {
      if (path !== '/exec' || !isFirst) return undefined;
      isFirst = false;
      return untilAborted(signal);
    });
    const id = server.send('tools/call', call('main', '/exec sleep 9', meta));
    await until(() => server.fetch.asked.some(({ path }) => path === '/exec'), 'the command', 60_000);
    server.write({
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'enough', _meta: meta },
    });
    await until(() => server.fetch.asked.some(({ method }) => method === 'DELETE'), 'its end', 60_000);
    expect(textOf(await server.ask('tools/call', call('main', '/info', meta)))).toContain('fine');
    expect(server.lines.some((line) => line.id === id)).toBe(false);
  });

  test('a client that leaves takes its commands with it', async () => {
    const server = await open(
      ({ path, signal }) => (path === '/exec' ? untilAborted(signal) : undefined),
      {},
    );
    server.send('tools/call', call('main', '/exec sleep 9', meta));
    await until(() => server.fetch.asked.some(({ path }) => path === '/exec'), 'the command', 60_000);
    await server[Symbol.asyncDispose]();
    expect(server.fetch.asked.some(({ method }) => method === 'DELETE')).toBe(true);
  });
});

test('a command is sent again only when it cannot have been executed', async () => {
  const answers = [
    () => Promise.reject(fetchFailed('ECONNREFUSED')),
    () => undefined,
    () => Response.json({ error: 'Unknown agent: me' }, { status: 401 }),
    () => undefined,
    () => Promise.reject(fetchFailed('ECONNRESET')),
  ];
  await using server = serve(({ path }) => (path === '/exec' ? answers.shift()?.() : undefined));
  await server.begin();
  const say = async (): Promise<string> => textOf(await server.ask('tools/call', call('main', '/info')));
  expect(await say()).toContain('fine');
  expect(await say()).toContain('fine');
  expect(await say()).toContain('ERROR(STREAM_INCOMPLETE)');
  expect(server.fetch.asked.filter(({ path }) => path === '/exec')).toHaveLength(5);
});

test('a call that is called off while its agent is registered anew is over at once', async () => {
  const cancel = new AbortController();
  const fetch = scriptedFetch(({ path, signal }) => {
    if (path === '/exec') return Response.json({ error: 'Unknown agent: me' }, { status: 401 });
    if (path !== '/agents' || fetch.asked.filter((each) => each.path === '/agents').length < 2)
      return undefined;
    setImmediate(() => cancel.abort(new Error('called off')));
    return untilAborted(signal);
  });
  const client = new StringClient({ fetch, port: 1, agentId: 'me', autoStart: false });
  const ctx = { signal: cancel.signal, progress: () => {}, log: () => {} };
  const running = callDaemon(
    { client, strict: false, progressBeatMs: 1000 },
    { topic: 'main', cmd: '/info' },
    ctx,
  );
  await expect(running).rejects.toThrow('called off');
});

test('a daemon that is not there is a result, in words', async () => {
  await using server = serve(() => Promise.reject(fetchFailed('ECONNREFUSED')));
  await server.begin();
  const answer = await server.ask('tools/call', call('main', '/info'));
  expect(textOf(answer)).toContain('ERROR(UNREACHABLE): no stringd answers at http://127.0.0.1:1');
});

describe('channels', () => {
  const data = {
    id: 'evt_1_a',
    agentId: 'me',
    receivedAt: '2026-01-01T00:00:00.000Z',
    source: 'local-webhook',
    text: 'the build is red',
    status: 'pending',
  };
  const oneEvent = ({ path, signal }: Asked): Response | undefined => {
    if (path.endsWith('/ack')) return Response.json({ ok: true });
    if (path !== '/events/stream') return undefined;
    return stream([event('ready', {}), `id: ${data.id}\n${event('event', data)}`], 'open', signal);
  };

  test('events of the agent are told to a client that has introduced itself, and stay unacknowledged', async () => {
    await using server = serve(oneEvent);
    const hello = await server.begin();
    expect(hello.result?.['capabilities']).toMatchObject({ experimental: CHANNEL_CAPABILITY });
    const told = await until(
      () => server.lines.find(({ method }) => method === 'notifications/claude/channel'),
      'the event',
      60_000,
    );
    expect(told.params).toEqual({
      content: 'the build is red',
      meta: {
        source: 'string',
        agent_id: 'me',
        event_id: 'evt_1_a',
        received_at: '2026-01-01T00:00:00.000Z',
        event: 'local-webhook',
      },
    });
    expect(server.fetch.asked.some(({ path }) => path.endsWith('/ack'))).toBe(false);
  });

  test('or are acknowledged when that is wanted', async () => {
    await using server = serve(oneEvent, { ackEvents: true });
    await server.begin();
    await expect
      .poll(() => server.fetch.asked.some(({ path }) => path === '/events/evt_1_a/ack'), { timeout: 60_000 })
      .toBe(true);
  });

  test('without a handshake nobody is told what was not asked for', async () => {
    await using server = serve(oneEvent);
    await server.ask('tools/call', call('main', '/info', META));
    expect(server.fetch.asked.some(({ path }) => path.startsWith('/events'))).toBe(false);
  });

  test('that they come no more is said', async () => {
    await using server = serve(({ path }) =>
      path === '/events/stream' ? Response.json({ error: 'Unknown agent: me' }, { status: 401 }) : undefined,
    );
    await server.begin();
    await expect
      .poll(() => server.said.join(), { timeout: 60_000 })
      .toContain('events are not forwarded any more: Unknown agent: me');
  });
});

test('what a model has to read about the tool is short', () => {
  expect(JSON.stringify(describeTool(StringTool)).length).toBeLessThan(1500);
});
