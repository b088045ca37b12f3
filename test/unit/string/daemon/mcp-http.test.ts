import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { MAX_TURN_BLOCKS } from '../../../../src/string/chanflow/answer.js';
import { MAX_MCP_DEFINITIONS } from '../../../../src/string/daemon/mcp-route.js';
import { PROGRESS_BEAT_MS } from '../../../../src/mcp/beat.js';
import { StringTool } from '../../../../src/string/tool.js';
import { describeTool } from '../../../../src/mcp/server.js';
import { ChanFlowDecoder } from '../../../../src/wire/chanflow/decode.js';
import { type DaemonPlace, ME, openDaemon } from './daemon-place.js';

async function call(place: DaemonPlace, args: unknown, headers: Record<string, string> = ME) {
  const { status, json } = await place.ask('/mcp', {
    headers,
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'string', arguments: args } },
  });
  const { content, isError, structuredContent } = (json['result'] ?? {}) as {
    content?: { type: string; text: string }[];
    isError?: boolean;
    structuredContent?: unknown;
  };
  return { status, text: content?.[0]?.text, isError, structuredContent };
}

test('the one tool has both arguments, required, and is described in less than 1.5 KB', () => {
  const row = describeTool(StringTool);
  expect(row).toMatchObject({ name: 'string', inputSchema: { required: ['topic', 'cmd'] } });
  expect(Buffer.byteLength(JSON.stringify(row))).toBeLessThan(1536);
});

test('a command is answered in its envelope, by the canonical topic, and nothing beside it', async () => {
  await using place = await openDaemon();
  expect(await call(place, { topic: 'file:notes', cmd: '/info' })).toEqual({
    status: 200,
    text: expect.stringMatching(/^<𝒞=string:notes>\nSession info\n[^]*\n<\/𝒞>$/),
    isError: false,
    structuredContent: undefined,
  });
  expect(await call(place, { topic: '', cmd: '/info' })).toMatchObject({
    text: expect.stringContaining('string:main>'),
  });
});

test('failures are tool errors with the code in the envelope', async () => {
  await using place = await openDaemon();
  for (const [args, code] of [
    [{ topic: 'main', cmd: 'hello' }, 'COMMAND_UNSUPPORTED'],
    [{ topic: 'bad!name', cmd: '/info' }, 'INVALID_TARGET'],
    [{ topic: 'main', cmd: '' }, 'INVALID_PAYLOAD'],
    [{ topic: 'main' }, 'INVALID_PAYLOAD'],
    [{}, 'INVALID_PAYLOAD'],
  ] as const)
    expect(await call(place, args)).toMatchObject({
      isError: true,
      text: expect.stringMatching(new RegExp(`^<𝒞=string:main>\nERROR\\(${code}\\): [^]*\n</𝒞>$`)),
      structuredContent: undefined,
    });
});

test('unknown agents are registered on first touch, with a home of their own; bad ids are not', async () => {
  await using place = await openDaemon();
  await call(place, { topic: 'main', cmd: '/info' }, {});
  await call(place, { topic: 'main', cmd: '/info' }, { 'X-Agent-Id': 'fresh' });
  const { agents } = (await place.ask('/agents')).json as { agents: { id: string; home: string }[] };
  expect(agents.map(({ id }) => id)).toEqual(['me', 'default', 'fresh']);
  expect(existsSync(join(place.root, 'agents/fresh'))).toBe(true);
  expect((await call(place, {}, { 'X-Agent-Id': '../x' })).status).toBe(400);
  expect(existsSync(join(place.root, 'x'))).toBe(false);
});

test('many agents may come by', async () => {
  await using place = await openDaemon();
  expect(PROGRESS_BEAT_MS).toBe(15_000);
  expect(MAX_MCP_DEFINITIONS).toBeGreaterThanOrEqual(64);
  const ids = Array.from({ length: 5 }, (_, i) => `agent-${i}`);
  for (const id of [...ids, ...ids])
    expect((await call(place, { topic: 'main', cmd: '/info' }, { 'X-Agent-Id': id })).isError).toBe(false);
});

test('GET and DELETE have nothing to give', async () => {
  await using place = await openDaemon();
  for (const method of ['GET', 'DELETE']) expect((await place.ask('/mcp', { method })).status).toBe(405);
});

test('ChanFlow: each block of ours is answered where it stands, in the caller’s spelling; all else stays', async () => {
  await using place = await openDaemon();
  const send = (body: string) => place.ask('/chanflow', { headers: ME, body });
  const { status, text, headers } = await send(
    [
      'Let me look.',
      '<𝒞=string:file:notes>',
      '/info',
      '</𝒞>',
      '<𝒞=slack:dev-team>',
      'hello',
      '</𝒞>',
      '<𝒞=string:bad!>',
      '/info',
      '</𝒞>',
      '<𝒞=string>',
      'plain text',
      '</𝒞>',
    ].join('\n'),
  );
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  const tags = [...text.matchAll(/^<𝒞=string:(\S+) time="([^"]+)">\n(.*)/gmu)].map(([, topic, , first]) => [
    topic,
    first,
  ]);
  expect(tags).toEqual([
    ['file:notes', 'Session info'],
    ['bad!', '✗ INVALID_TARGET: Invalid topic: bad!'],
    ['main', '✗ COMMAND_UNSUPPORTED: Commands must start with /. Use /help for details.'],
  ]);
  expect((await send('<𝒞=string:main>\n/info\n')).text).toContain(
    '✗ INVALID_PAYLOAD: unterminated channel block',
  );
  expect((await send('nothing for us')).text).toBe('nothing for us');
  expect(text).toMatch(
    /^Let me look\.\n<𝒞=string:file:notes .*<\/𝒞>\n<𝒞=slack:dev-team>\nhello\n<\/𝒞>\n<𝒞=string:bad! /su,
  );
  const many = '<𝒞=string:main>\n/info\n</𝒞>\n'.repeat(MAX_TURN_BLOCKS + 1);
  expect((await send(many)).status).toBe(400);
});

test('ChanFlow: a turn is decoded once', async () => {
  await using place = await openDaemon();
  const end = vi.spyOn(ChanFlowDecoder.prototype, 'end');
  try {
    const { text } = await place.ask('/chanflow', { headers: ME, body: '<𝒞=string:a>/info</𝒞>' });
    expect(text).toContain('Session info');
    expect(end).toHaveBeenCalledTimes(1);
  } finally {
    end.mockRestore();
  }
});
