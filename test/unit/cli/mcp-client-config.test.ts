// What agents are told to start a server of ours.

import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { clientConfig, ownCommand } from '../../../src/cli/mcp-client-config.js';

const entry = { name: 'rex', command: ['/opt/no de', 'a"b\\c', 'mcp'], variables: ['SSH_AUTH_SOCK'] };
const asJson = (client: string): unknown => JSON.parse(clientConfig(client, entry).content);

test('each agent has its own file and its own words', () => {
  const [command, ...args] = entry.command;
  expect(asJson('claude-code')).toEqual({ mcpServers: { rex: { type: 'stdio', command, args } } });
  expect(asJson('claude')).toEqual(asJson('claude-code'));
  expect(asJson('cursor')).toEqual({ mcpServers: { rex: { command, args } } });
  expect(asJson('vscode')).toEqual({ servers: { rex: { type: 'stdio', command, args } } });
  expect(asJson('opencode')).toMatchObject({ mcp: { rex: { type: 'local', command: entry.command } } });
  expect(asJson('opencode-2')).toMatchObject({ mcp: { servers: { rex: { command: entry.command } } } });
  expect(parse(clientConfig('codex', entry).content)).toEqual({
    mcp_servers: { rex: { command, args, env_vars: ['SSH_AUTH_SOCK'], tool_timeout_sec: 600 } },
  });
  expect(
    ['claude-code', 'codex', 'opencode', 'cursor', 'vscode'].map((c) => clientConfig(c, entry).file),
  ).toEqual(['.mcp.json', '~/.codex/config.toml', 'opencode.json', '.cursor/mcp.json', '.vscode/mcp.json']);
});

test('what is set now is handed on, in the words of each', () => {
  const values = { STRING_PORT: '4000' };
  const content = (client: string): string => clientConfig(client, { ...entry, values }).content;
  const [command, ...args] = entry.command;
  for (const client of ['claude', 'cursor', 'vscode']) {
    const { mcpServers, servers } = JSON.parse(content(client)) as Record<string, Record<string, unknown>>;
    expect((mcpServers ?? servers)?.['rex']).toMatchObject({ command, args, env: values });
  }
  expect(JSON.parse(content('opencode'))).toMatchObject({ mcp: { rex: { environment: values } } });
  expect(JSON.parse(content('opencode-2'))).toMatchObject({
    mcp: { servers: { rex: { environment: values } } },
  });
  const variables = ['STRING_PORT', 'STRING_ROOT'];
  expect(parse(clientConfig('codex', { ...entry, variables, values }).content)).toMatchObject({
    mcp_servers: { rex: { env: values, env_vars: ['STRING_ROOT'] } },
  });
});

test('an agent that is not known is refused with those that are, and a name that is none too', () => {
  expect(() => clientConfig('emacs', entry)).toThrow('there are: claude-code, claude, codex, opencode');
  expect(() => clientConfig('constructor', entry)).toThrow('not known');
  for (const name of ['', 'a b', 'a.b', ']'])
    expect(() => clientConfig('codex', { ...entry, name })).toThrow('no name');
});

test('the command names this very program, or leaves it to npx', () => {
  const own = ownCommand('rex', ['mcp', '--target', 'web'], { npx: false });
  expect(own[0]).toBe(process.execPath);
  expect(own.slice(2)).toEqual(['mcp', '--target', 'web']);
  expect(ownCommand('string', ['--mcp'], { npx: true })).toEqual([
    'npx',
    '-y',
    '-p',
    'hawser',
    'string',
    '--mcp',
  ]);
});
