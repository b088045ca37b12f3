// /mcp, and what else is served beside the protocol.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ROUTES } from '../../../src/string/protocol.js';
import { ME, shareStringd } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const rpc = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params && { params }),
});

const shared = shareStringd();

verifies('string/mcp/tool', async () => {
  const stringd = shared();
  const { json, text } = await stringd.ask('/mcp', { headers: ME, json: rpc('tools/list') });
  const { tools } = json['result'] as {
    tools: { name: string; inputSchema: { properties: object; required: string[] } }[];
  };
  expect(tools.map(({ name }) => name)).toEqual(['string']);
  expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual(['topic', 'cmd']);
  expect(tools[0]?.inputSchema.required).toEqual(['topic', 'cmd']);
  expect(Buffer.byteLength(text)).toBeLessThan(1536);
});

verifies('string/mcp/envelope', async () => {
  const stringd = shared();
  expect(await stringd.callTool({ topic: ' docs ', cmd: '/info' })).toMatchObject({
    isError: false,
    text: expect.stringMatching(/^<𝒞=string:docs>\n[^]+\n<\/𝒞>$/),
  });
});

verifies('string/mcp/error', async () => {
  const stringd = shared();
  for (const [args, code] of [
    [{ topic: 'main', cmd: '/nonsense' }, 'COMMAND_UNSUPPORTED'],
    [{ topic: 'bad!', cmd: '/info' }, 'INVALID_TARGET'],
  ] as const)
    expect(await stringd.callTool(args)).toMatchObject({
      isError: true,
      text: expect.stringMatching(new RegExp(`^<𝒞=string:main>\nERROR\\(${code}\\): [^]+\n</𝒞>$`)),
    });
});

verifies('string/mcp/auto-register', async () => {
  const stringd = shared();
  await stringd.callTool({ topic: 'main', cmd: '/info' }, { 'X-Agent-Id': 'walk-in' });
  await stringd.callTool({ topic: 'main', cmd: '/info' }, {});
  const { agents } = (await stringd.ask('/agents')).json as { agents: { id: string; home: string }[] };
  expect(agents.map(({ id }) => id).sort()).toEqual(['default', 'me', 'walk-in']);
  expect(agents.find(({ id }) => id === 'walk-in')?.home).toBe(join(stringd.base, 'string/agents/walk-in'));
  expect(existsSync(join(stringd.base, 'string/agents/walk-in'))).toBe(true);
  expect(
    (await stringd.exec('main', '/info', {}, { headers: { 'X-Agent-Id': 'stranger' }, json: {} })).status,
  ).toBe(401);
});

verifies('string/mcp/stateless', async () => {
  const stringd = shared();
  const first = await stringd.ask('/mcp', {
    json: rpc('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    }),
  });
  expect(first.headers['mcp-session-id']).toBeUndefined();
  expect((await stringd.ask('/mcp', { json: rpc('ping') })).json).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {},
  });
  const note = await stringd.ask('/mcp', { json: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  expect([note.status, note.text]).toEqual([202, '']);
});

verifies('string/mcp/eras', async () => {
  const stringd = shared();
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL(`${stringd.url}/mcp`), {
      requestInit: { headers: ME },
    });
    await client.connect(transport);
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['string']);
      const { content } = await client.callTool({
        name: 'string',
        arguments: { topic: 'main', cmd: '/info' },
      });
      expect(content).toMatchObject([{ type: 'text', text: expect.stringMatching(/^<𝒞=string:main>/) }]);
    } finally {
      await client.close();
    }
  }
});

verifies('string/ext/chanflow', async () => {
  const stringd = shared();
  const body =
    '<𝒞=slack:dev>\nhello\n</𝒞>\n<𝒞=string:file:notes>\n/info\n</𝒞>\n<𝒞=string:main>\nplain\n</𝒞>\n';
  const { status, text } = await stringd.ask('/chanflow', { headers: ME, body });
  expect(status).toBe(200);
  expect(text.match(/^<𝒞=[^ >]+/gmu)).toEqual(['<𝒞=slack:dev', '<𝒞=string:file:notes', '<𝒞=string:main']);
  expect(text.startsWith('<𝒞=slack:dev>\nhello\n</𝒞>\n<𝒞=string:file:notes ')).toBe(true);
  expect(text).toContain('\n✗ COMMAND_UNSUPPORTED: Commands must start with /.');
});

verifies('string/ext/metrics', async () => {
  const stringd = shared();
  await stringd.exec('main', '/info');
  expect((await stringd.ask('/metrics')).text).toMatch(/^stringd_commands_total\{.*\} 1$/m);
});

verifies('string/ext/openapi', async () => {
  const stringd = shared();
  const { json } = await stringd.ask('/openapi.json');
  const paths = Object.keys(json['paths'] as object);
  expect(new Set(Object.values(ROUTES).map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}')))).toEqual(
    new Set(paths),
  );
});
