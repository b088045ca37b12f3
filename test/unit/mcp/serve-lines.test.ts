// A table of tools served to a client that writes its own lines.

import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { LocalError } from '../../../src/base/errors.js';
import { bindTool, textResult } from '../../../src/mcp/tool.js';
import { MAX_COMPLETIONS, promptMethods } from '../../../src/mcp/prompt-methods.js';
import { serveLines } from '../../../src/mcp/serve-lines.js';
import { ToolTable } from '../../../src/mcp/tool-table.js';
import { linkedPair } from '../../../src/wire/transport/memory.js';
import { until } from '../../helpers/wait.js';

const count = bindTool(
  {
    name: 'count',
    title: 'Count',
    description: 'Counts.',
    input: z.object({ to: z.int() }),
    output: z.object({ sum: z.int() }),
    annotations: { readOnlyHint: true },
  },
  async ({ to }, ctx) => {
    for (let i = 1; i <= to; i++) ctx.progress({ progress: i, total: to });
    ctx.log('info', 'counted');
    return textResult(String(to), { sum: to });
  },
);

const confirm = bindTool(
  { name: 'confirm', description: 'Asks first.', input: z.object({}) },
  async (_, { answers }) => {
    const given = answers?.responses['sure'] as { content?: { ok?: boolean } } | undefined;
    if (given !== undefined)
      return textResult(`${given.content?.ok === true ? 'done' : 'left'}, ${JSON.stringify(answers?.state)}`);
    const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const params = { mode: 'form', message: 'Sure?', requestedSchema };
    return {
      content: [],
      needs: { requests: { sure: { method: 'elicitation/create', params } }, state: { n: 1 } },
    };
  },
);

const names = Array.from({ length: MAX_COMPLETIONS + 20 }, (_, i) => `name${i}`);
const greet = {
  name: 'greet',
  description: 'Greets.',
  arguments: [{ name: 'who', description: 'Whom', complete: async () => names }],
  get: async ({ who = '' }) => {
    if (who === '') throw new LocalError('nobody', 'greet whom?');
    return `Hello ${who}`;
  },
};

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function serve() {
  const [near, far] = linkedPair();
  const definition = { name: 'test', version: '1', tools: new ToolTable([count, confirm]), prompts: [greet] };
  const connection = await serveLines(far, definition);
  const lines: Line[] = [];
  let held = '';
  near.input.on('data', (chunk: Buffer) => {
    held += chunk.toString('utf8');
    const parts = held.split('\n');
    held = parts.pop() ?? '';
    lines.push(...parts.map((part) => JSON.parse(part) as Line));
  });
  let id = 0;
  return {
    lines,
    ask: async (method: string, params: Record<string, unknown> = {}): Promise<Line> => {
      id += 1;
      const wanted = id;
      near.output.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return await until(() => lines.find((line) => line.id === wanted), `an answer to ${method}`);
    },
    write: (message: object) => void near.output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    connection,
    [Symbol.asyncDispose]: async () => {
      await near.close();
      await connection.close();
    },
  };
}

test.each(['2024-11-05', '2025-11-25'])(
  'initialize with %s begins a session of that revision',
  async (era) => {
    await using server = await serve();
    const hello = { protocolVersion: era, capabilities: {}, clientInfo: { name: 't', version: '1' } };
    const { result } = await server.ask('initialize', hello);
    expect(result).toMatchObject({ protocolVersion: era, serverInfo: { name: 'test' } });
    const { result: listed } = await server.ask('tools/list');
    expect(listed).toMatchObject({
      tools: [{ name: 'count', inputSchema: { required: ['to'] } }, { name: 'confirm' }],
    });
    const call = { name: 'count', arguments: { to: 2 }, _meta: { progressToken: 'p' } };
    const { result: counted } = await server.ask('tools/call', call);
    expect(counted).toMatchObject({ content: [{ text: '2' }], structuredContent: { sum: 2 } });
    const told = server.lines.filter(({ method }) => method !== undefined);
    expect(told.map(({ method }) => method)).toEqual([
      'notifications/progress',
      'notifications/progress',
      'notifications/message',
    ]);
    expect(told[0]?.params).toEqual({ progressToken: 'p', progress: 1, total: 2 });
  },
);

test('without a handshake, each request says which revision it is of', async () => {
  await using server = await serve();
  const { result } = await server.ask('server/discover', { _meta: META });
  expect(result).toMatchObject({ supportedVersions: ['2026-07-28'] });
  const call = { name: 'count', arguments: { to: 1 }, _meta: META };
  expect((await server.ask('tools/call', call)).result).toMatchObject({ structuredContent: { sum: 1 } });
});

test('what a tool has to know from the user is asked in the way of the era', async () => {
  await using early = await serve();
  const capabilities = { elicitation: { form: {} } };
  const clientInfo = { name: 't', version: '1' };
  await early.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
  early.write({ method: 'notifications/initialized' });
  const called = early.ask('tools/call', { name: 'confirm', arguments: {} });
  const asked = await until(
    () => early.lines.find(({ method }) => method === 'elicitation/create'),
    'the question',
    60_000,
  );
  expect(asked.params).toMatchObject({ message: 'Sure?' });
  early.write({ id: asked.id, result: { action: 'accept', content: { ok: true } } });
  expect((await called).result).toMatchObject({ content: [{ text: 'done, {"n":1}' }] });

  await using late = await serve();
  const meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const ask = (more: object) =>
    late.ask('tools/call', { name: 'confirm', arguments: {}, _meta: meta, ...more });
  const { result } = await ask({});
  expect(result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { sure: { method: 'elicitation/create', params: { message: 'Sure?' } } },
  });
  const inputResponses = { sure: { action: 'accept', content: { ok: false } } };
  const requestState = String(result?.['requestState']);
  expect((await ask({ inputResponses, requestState })).result).toMatchObject({
    content: [{ text: 'left, {"n":1}' }],
  });
  const { error } = await ask({ inputResponses, requestState: `${requestState}x` });
  expect(error).toMatchObject({ code: -32602 });
});

test('a revision that nobody knows is refused with those that are known', async () => {
  await using server = await serve();
  const unknown = { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' } };
  const { error } = await server.ask('tools/list', unknown);
  expect(JSON.stringify(error)).toContain('"supported":["2026-07-28"]');
});

test('no more than MAX_COMPLETIONS values complete an argument', async () => {
  await using server = await serve();
  const params = {
    ref: { type: 'ref/prompt', name: 'greet' },
    argument: { name: 'who', value: '' },
    _meta: META,
  };
  const { result } = await server.ask('completion/complete', params);
  expect(result).toMatchObject({
    completion: { values: names.slice(0, MAX_COMPLETIONS), total: names.length, hasMore: true },
  });
});

test.each([
  {},
  { ref: { type: 'ref/prompt', name: 'greet' } },
  { argument: { name: 'who', value: '' } },
  { ref: null, argument: 7 },
  { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who' } },
])('a completion of nothing is refused as such: %j', async (params) => {
  const methods = promptMethods([{ name: 'greet', description: 'Greets.', get: async () => 'Hello' }]);
  const complete = methods['completion/complete'];
  await expect(complete?.(params, { signal: new AbortController().signal })).rejects.toMatchObject({
    code: -32602,
  });
});

test('a prompt gives a text, or says why it cannot', async () => {
  await using server = await serve();
  const get = (name: string, args: unknown) =>
    server.ask('prompts/get', { name, arguments: args, _meta: META });
  expect((await get('greet', { who: 'you' })).result).toMatchObject({
    messages: [{ role: 'user', content: { text: 'Hello you' } }],
  });
  expect((await get('greet', {})).error).toMatchObject({ code: -32602, message: 'greet whom?' });
  expect((await get('other', {})).error).toMatchObject({ code: -32602 });
});

test('closing it ends the connection', async () => {
  await using server = await serve();
  await server.connection.close();
  await expect(server.connection.closed).resolves.toBeUndefined();
  expect(server.connection.signal.aborted).toBe(true);
});
