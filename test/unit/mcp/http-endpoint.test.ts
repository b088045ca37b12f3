import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { RpcError } from '../../../src/base/errors.js';
import { openLog } from '../../../src/base/log.js';
import { HANDSHAKE_VERSIONS } from '../../../src/mcp/handshake-era.js';
import { McpHttpEndpoint } from '../../../src/mcp/http-endpoint.js';
import { MAX_BATCH } from '../../../src/mcp/message-reader.js';
import type { McpDefinition } from '../../../src/mcp/server.js';
import { bindTool, textResult } from '../../../src/mcp/tool.js';
import { ToolTable } from '../../../src/mcp/tool-table.js';
import { HttpServer } from '../../../src/wire/http/server.js';
import { type Ask, ask, type Reply } from '../../helpers/http-ask.js';

const definition: McpDefinition = {
  name: 'test',
  version: '1',
  tools: new ToolTable([
    bindTool(
      { name: 'echo', description: 'Says it again.', input: z.object({ text: z.string() }) },
      async ({ text }, { progress, log }) => {
        if (text === 'slow') progress({ progress: 1, message: 'still at it' });
        if (text === 'throw') throw new Error('broken');
        if (text === 'log') log('info', 'said on the way');
        if (text === 'ask') return { content: [], needs: { requests: { who: { method: 'roots/list' } } } };
        return textResult(text);
      },
    ),
  ]),
  prompts: [{ name: 'greet', description: 'Greets.', get: async () => 'Hello' }],
  methods: {
    'resources/list': async () => ({ resources: [] }),
    'resources/read': async ({ uri }) => {
      if (uri === 'x:throw') throw new Error('secret');
      if (uri === 'x:ask') return { needs: { requests: {} } };
      throw new RpcError(-32_602, 'no such resource', { data: { uri } });
    },
  },
  capabilities: { resources: {} },
};

interface Place extends AsyncDisposable {
  readonly url: string;
  ask(options: Ask): Promise<Reply>;
  call(method: string, params?: object, headers?: Record<string, string>): Promise<Reply>;
}

async function serve(): Promise<Place> {
  const endpoint = new McpHttpEndpoint();
  const server = new HttpServer({
    log: openLog({ name: 'test', level: 'silent' }),
    routes: [
      { method: 'POST', path: '/mcp', summary: '', handler: (ctx) => endpoint.post(ctx, definition) },
      { method: 'GET', path: '/mcp', summary: '', handler: (ctx) => endpoint.refuseMethod(ctx) },
    ],
  });
  const address = await server.listen();
  const url = address.kind === 'tcp' ? address.url : '';
  return {
    url,
    ask: (options) => ask(url, '/mcp', options),
    call: (method, params, headers = {}) =>
      ask(url, '/mcp', { json: { jsonrpc: '2.0', id: 1, method, ...(params && { params }) }, headers }),
    async [Symbol.asyncDispose]() {
      await endpoint.close();
      await server.close();
    },
  };
}

test('the handshake era: a version that is known is echoed, any other is answered by the newest', async () => {
  await using place = await serve();
  for (const protocolVersion of HANDSHAKE_VERSIONS)
    expect((await place.call('initialize', { protocolVersion })).json['result']).toMatchObject({
      protocolVersion,
      serverInfo: { name: 'test', version: '1' },
      capabilities: { tools: {}, prompts: {}, completions: {}, resources: {} },
    });
  const { headers, json } = await place.call('initialize', { protocolVersion: '1999-01-01' });
  expect(json['result']).toMatchObject({ protocolVersion: HANDSHAKE_VERSIONS[0] });
  expect(headers['mcp-session-id']).toBeUndefined();
});

test('requests are answered as JSON, also to who says nothing of what it accepts', async () => {
  await using place = await serve();
  const reply = await place.call('tools/call', { name: 'echo', arguments: { text: 'hi' } });
  expect(reply.headers['content-type']).toBe('application/json');
  expect(reply.json).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: 'hi' }], isError: false },
  });
  expect((await place.call('ping')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  expect((await place.call('tools/list')).json).toMatchObject({ result: { tools: [{ name: 'echo' }] } });
  expect((await place.call('logging/setLevel', { level: 'debug' })).json).toMatchObject({ result: {} });
});

test('who takes only a stream gets one, and progress makes one of any answer', async () => {
  await using place = await serve();
  const only = await place.call('ping', {}, { Accept: 'text/event-stream' });
  expect(only.events).toEqual([{ event: 'message', data: { jsonrpc: '2.0', id: 1, result: {} } }]);
  const params = { name: 'echo', arguments: { text: 'slow' }, _meta: { progressToken: 7 } };
  const both = { Accept: 'application/json, text/event-stream' };
  expect((await place.call('tools/call', params, both)).events).toMatchObject([
    {
      data: {
        method: 'notifications/progress',
        params: { progressToken: 7, progress: 1, message: 'still at it' },
      },
    },
    { data: { id: 1, result: { content: [{ text: 'slow' }] } } },
  ]);
  const json = await place.call('tools/call', params, { Accept: 'application/json' });
  expect(json.json).toMatchObject({ id: 1, result: { content: [{ text: 'slow' }] } });
});

test('prompts and further methods are served, their errors told, and faults of ours kept to ourselves', async () => {
  await using place = await serve();
  const result = async (method: string, params?: object) => (await place.call(method, params)).json['result'];
  const error = async (method: string, params?: object) => (await place.call(method, params)).json['error'];
  expect(await result('prompts/list')).toMatchObject({ prompts: [{ name: 'greet' }] });
  expect(await result('prompts/get', { name: 'greet' })).toMatchObject({
    messages: [{ content: { text: 'Hello' } }],
  });
  expect(await error('prompts/get', { name: 'none' })).toMatchObject({ code: -32_602 });
  expect(await result('resources/list')).toEqual({ resources: [] });
  expect(await error('resources/read', { uri: 'x:1' })).toEqual({
    code: -32_602,
    message: 'no such resource',
    data: { uri: 'x:1' },
  });
  expect(await error('resources/read', { uri: 'x:throw' })).toEqual({
    code: -32_603,
    message: 'Internal error',
  });
});

test('what a tool logs is told before its answer to who takes a stream', async () => {
  await using place = await serve();
  const params = { name: 'echo', arguments: { text: 'log' } };
  const streamed = await place.call('tools/call', params, { Accept: 'application/json, text/event-stream' });
  expect(streamed.events.map(({ data }) => data)).toMatchObject([
    { method: 'notifications/message', params: { level: 'info', data: 'said on the way' } },
    { id: 1 },
  ]);
  expect((await place.call('tools/call', params, { Accept: 'application/json' })).json).toMatchObject({
    id: 1,
  });
});

test('without a session nobody is asked in the middle of a call: what to use instead is said', async () => {
  await using place = await serve();
  const { json } = await place.call('tools/call', { name: 'echo', arguments: { text: 'ask' } });
  expect(json['result']).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('2026-07-28') }],
  });
  const asked = await place.call('resources/read', { uri: 'x:ask' });
  expect(asked.json['error']).toMatchObject({ message: expect.stringContaining('2026-07-28') });
});

test('notifications and answers are taken with 202 and no body', async () => {
  await using place = await serve();
  for (const json of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 5, result: {} },
    [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
  ]) {
    const reply = await place.ask({ json });
    expect([reply.status, reply.text]).toEqual([202, '']);
  }
});

test('what is wrong is said in JSON-RPC', async () => {
  await using place = await serve();
  const codeOf = ({ status, json }: Reply) => [status, (json['error'] as { code: number }).code];
  const JSON_TYPE = { 'Content-Type': 'application/json' };
  expect(codeOf(await place.ask({ body: '{', headers: JSON_TYPE }))).toEqual([400, -32_700]);
  expect(codeOf(await place.ask({ body: '', method: 'POST', headers: JSON_TYPE }))).toEqual([400, -32_600]);
  expect(codeOf(await place.ask({ json: { id: 1 } }))).toEqual([400, -32_600]);
  expect(codeOf(await place.ask({ json: Array.from({ length: MAX_BATCH + 1 }, () => ({})) }))).toEqual([
    400, -32_600,
  ]);
  expect(codeOf(await place.call('resources/none'))).toEqual([200, -32_601]);
  expect(codeOf(await place.call('tools/call', { name: 'nothing' }))).toEqual([200, -32_602]);
  expect(codeOf(await place.call('tools/call', {}))).toEqual([200, -32_602]);
  expect(codeOf(await place.call('ping', {}, { 'MCP-Protocol-Version': '1999-01-01' }))).toEqual([
    400, -32_000,
  ]);
  expect(codeOf(await place.ask({ method: 'GET' }))).toEqual([405, -32_000]);
  const thrown = await place.call('tools/call', { name: 'echo', arguments: { text: 'throw' } });
  expect(thrown.json['result']).toMatchObject({ isError: true });
});

test('a batch is answered together', async () => {
  await using place = await serve();
  const reply = await place.ask({
    json: [
      { jsonrpc: '2.0', id: 'a', method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'b', method: 'nothing' },
    ],
  });
  expect(reply.json).toMatchObject([
    { id: 'a', result: {} },
    { id: 'b', error: { code: -32_601 } },
  ]);
});

test.each(['handshake', 'stateless'] as const)('the official client is served in the %s era', async (era) => {
  await using place = await serve();
  const client = new Client(
    { name: 'test', version: '1' },
    era === 'stateless' ? { versionNegotiation: { mode: 'auto' } } : {},
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(`${place.url}/mcp`)));
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo']);
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
    expect(result.content).toEqual([{ type: 'text', text: 'hi' }]);
    expect(client.getNegotiatedProtocolVersion()).toBe(
      era === 'stateless' ? '2026-07-28' : HANDSHAKE_VERSIONS[0],
    );
  } finally {
    await client.close();
  }
});
