import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'vitest';
import { FakeHub } from '../../helpers/hub.js';
import { bin } from '../../helpers/program.js';
import { makeScratch } from '../../helpers/scratch.js';
import { startHugind } from '../kit/hugind-under-test.js';
import { verifies } from '../kit/verifies.js';

verifies(['hugind/mcp/initialize', 'hugind/ours/mcp-ping', 'hugind/mcp/mixed'], async () => {
  await using bridge = startHugind();
  const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  expect(await bridge.next()).toMatchObject({
    jsonrpc: '2.0',
    id: 1,
    result: { protocolVersion: '2024-11-05', serverInfo: { name: 'hugind' }, capabilities: { tools: {} } },
  });
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  bridge.send({ id: 1, method: 'model.list' });
  expect(await bridge.next()).toMatchObject({ id: 1, ok: true, schema_version: '1' });
  bridge.send({ jsonrpc: '2.0', id: 'p', method: 'ping' });
  expect(await bridge.next()).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
  bridge.send({ jsonrpc: '2.0', id: 2, method: 'no/such' });
  expect(await bridge.next()).toMatchObject({ id: 2, error: { code: -32_601 } });
});

verifies(['hugind/mcp/tools', 'hugind/ours/mcp-errors'], async () => {
  await using bridge = startHugind();
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const { result } = (await bridge.next()) as { result: { tools: { name: string; inputSchema: object }[] } };
  expect(result.tools).toHaveLength(17);
  expect(result).not.toHaveProperty('nextCursor');
  expect(result.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['model.list', 'agent.run', 'server.start']),
  );
  const call = async (name: string, args?: object): Promise<Record<string, unknown>> => {
    bridge.send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name, arguments: args } });
    return await bridge.next();
  };
  expect(await call('model.list', {})).toEqual({
    jsonrpc: '2.0',
    id: 3,
    result: {
      content: [{ type: 'text', text: '{"repos":[]}' }],
      structuredContent: { repos: [] },
      isError: false,
    },
  });
  expect(await call('model_list')).toMatchObject({ result: { structuredContent: { repos: [] } } });
  const failed = (await call('model.show', { repo: 'u/none' })) as {
    result: { content: { text: string }[] };
  };
  expect(failed.result).toMatchObject({ isError: true });
  expect(JSON.parse(failed.result.content[0]?.text ?? '')).toMatchObject({ error: { code: 'not_found' } });
  expect(await call('no.tool', {})).toMatchObject({ error: { code: -32_602 } });
});

verifies('hugind/mcp/notifications', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': Buffer.alloc(10, 1) });
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  const args = { repo: 'u/r', files: ['a.gguf'] };
  bridge.send({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'model.add', arguments: args },
  });
  const seen: Record<string, unknown>[] = [];
  for (let message = await bridge.next(); message['id'] !== 7; message = await bridge.next())
    seen.push(message);
  expect(seen[0]).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/hugind.status',
    params: { message: 'download.start repo=u/r file=a.gguf', id: 7 },
  });
  expect(seen.find(({ method }) => method === 'notifications/hugind.progress')?.['params']).toEqual({
    repo: 'u/r',
    file: 'a.gguf',
    downloaded: 0,
    total: 10,
    id: 7,
  });
});

verifies('hugind/ours/mcp-eras', async () => {
  for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [bin('hugind'), 'stdio'],
      env: { ...(process.env as Record<string, string>), HUGIND_HOME: makeScratch() },
    });
    await client.connect(transport);
    try {
      expect((await client.listTools()).tools).toHaveLength(17);
      const result = await client.callTool({ name: 'config.list', arguments: {} });
      expect(result.structuredContent).toEqual({ configs: [] });
      const failed = await client.callTool({ name: 'config.remove', arguments: { name: '..' } });
      expect(failed.isError).toBe(true);
    } finally {
      await client.close();
    }
  }
});
