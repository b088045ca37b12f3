import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { openLog } from '../../../src/base/log.js';
import { McpHttpEndpoint } from '../../../src/mcp/http-endpoint.js';
import { MAX_KNOWN_CLIENT_CHARS, MAX_KNOWN_CLIENTS, PlainCalls } from '../../../src/mcp/plain-call.js';
import type { McpDefinition } from '../../../src/mcp/server.js';
import { bindTool, textResult, type ToolContext } from '../../../src/mcp/tool.js';
import { ToolTable } from '../../../src/mcp/tool-table.js';
import { HttpServer } from '../../../src/wire/http/server.js';
import { ask, type Reply } from '../../helpers/http-ask.js';

const META = 'io.modelcontextprotocol/';
const VERSION = '2026-07-28';

interface Place extends AsyncDisposable {
  /** Who has been called by what: the SDK's context can do more than ours. */
  readonly calls: ToolContext[];
  call(change?: Change): Promise<Reply>;
}

interface Change {
  readonly text?: unknown;
  readonly name?: string;
  readonly meta?: object;
  readonly params?: object;
  readonly message?: object;
  readonly headers?: Record<string, string>;
}

async function serve(hasPlainTools: boolean): Promise<Place> {
  const calls: ToolContext[] = [];
  const definition: McpDefinition = {
    name: 'test',
    title: 'Test',
    version: '1',
    tools: new ToolTable([
      bindTool(
        { name: 'echo', description: 'Says it again.', input: z.object({ text: z.string() }) },
        async ({ text }, ctx) => {
          calls.push(ctx);
          if (text === 'throw') throw new Error('broken');
          return text === 'both' ? textResult(text, { text }) : textResult(text);
        },
      ),
    ]),
  };
  const endpoint = new McpHttpEndpoint({ hasPlainTools });
  const server = new HttpServer({
    log: openLog({ name: 'test', level: 'silent' }),
    routes: [{ method: 'POST', path: '/mcp', summary: '', handler: (ctx) => endpoint.post(ctx, definition) }],
  });
  const address = await server.listen();
  const url = address.kind === 'tcp' ? address.url : '';
  return {
    calls,
    call: ({ text = 'hello', name = 'echo', meta, params, message, headers } = {}) =>
      ask(url, '/mcp', {
        headers: {
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': VERSION,
          'Mcp-Method': 'tools/call',
          'Mcp-Name': name,
          ...headers,
        },
        json: {
          jsonrpc: '2.0',
          id: 7,
          method: 'tools/call',
          params: {
            name,
            arguments: { text },
            _meta: {
              [`${META}protocolVersion`]: VERSION,
              [`${META}clientInfo`]: { name: 'me', version: '1' },
              [`${META}clientCapabilities`]: {},
              ...meta,
            },
            ...params,
          },
          ...message,
        },
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await endpoint.close();
    },
  };
}

const CHANGES: readonly Change[] = [
  {},
  { text: 'both' },
  { text: 'throw' },
  { text: ['no text'] },
  { params: { arguments: { other: 1 } } },
  { params: { arguments: [] } },
  { params: { arguments: undefined } },
  { params: { more: 1 } },
  { name: 'nobody' },
  { message: { id: 'text' } },
  { message: { id: null } },
  { message: { id: 1.5 } },
  { message: { jsonrpc: '1.0' } },
  { message: { more: 1 } },
  { message: { result: {} } },
  { message: { error: { code: 1, message: 'x' } } },
  { headers: { 'Mcp-Name': 'other' } },
  { headers: { 'Mcp-Method': 'tools/list' } },
  { headers: { 'MCP-Protocol-Version': '2025-11-25' } },
  { headers: { 'Mcp-Param-Text': 'hello' } },
  { headers: { Accept: 'application/json' } },
  { headers: { Accept: 'text/html' } },
  { meta: { [`${META}protocolVersion`]: '2025-11-25' } },
  { meta: { [`${META}clientInfo`]: { name: 1 } } },
  { meta: { [`${META}clientInfo`]: undefined } },
  { meta: { [`${META}clientCapabilities`]: 'none' } },
  { meta: { progressToken: 1 } },
  { meta: { [`${META}logLevel`]: 'debug' } },
];

test('whatever is asked, a client that is known gets what the SDK alone would answer', async () => {
  await using plain = await serve(true);
  await using sdk = await serve(false);
  await plain.call(); // from here on it is known
  for (const change of CHANGES) {
    const [ours, theirs] = [await plain.call(change), await sdk.call(change)];
    expect([change, ours.status, ours.json]).toEqual([change, theirs.status, theirs.json]);
    // Again: nothing may be learnt from a refusal.
    expect([change, (await plain.call(change)).json]).toEqual([change, theirs.json]);
  }
});

test('the SDK serves the first call of a client, and whatever is not plain; the rest is ours', async () => {
  await using place = await serve(true);
  const isOurs = async (change: Change = {}): Promise<boolean> => {
    const before = place.calls.length;
    const reply = await place.call(change);
    expect(place.calls).toHaveLength(before + 1);
    return reply.headers['content-length'] !== undefined; // the SDK streams
  };
  expect([await isOurs(), await isOurs(), await isOurs({ text: 'other' })]).toEqual([false, true, true]);
  const other = { meta: { [`${META}clientInfo`]: { name: 'other', version: '2' } } };
  expect([await isOurs(other), await isOurs(other)]).toEqual([false, true]);
  expect([
    await isOurs({ meta: { progressToken: 1 } }),
    await isOurs({ meta: { progressToken: 1 } }),
  ]).toEqual([false, false]);
  const long = {
    meta: { [`${META}clientInfo`]: { name: 'x'.repeat(MAX_KNOWN_CLIENT_CHARS), version: '2' } },
  };
  expect([await isOurs(long), await isOurs(long)]).toEqual([false, false]);
});

test('so many clients are remembered, the newest ones', () => {
  const calls = new PlainCalls();
  const of = (n: number) => ({ id: 1, name: 'x', args: {}, client: String(n) });
  for (let n = 0; n <= MAX_KNOWN_CLIENTS; n++) calls.learn(of(n));
  expect([calls.isKnown(of(0)), calls.isKnown(of(1)), calls.isKnown(of(MAX_KNOWN_CLIENTS))]).toEqual([
    false,
    true,
    true,
  ]);
});
