// `rex mcp` on a target behind a real sshd.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { bin } from '../helpers/program.js';
import { needsSshd, startSshd } from '../helpers/sshd.js';
import { until } from '../helpers/wait.js';

needsSshd();

test('tools work through ssh, calling off kills the tree there, and a lost connection is opened again', async () => {
  await using sshd = await startSshd();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-ssh-mcp-')));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_STATE_HOME: folder,
  };
  mkdirSync(join(folder, 'rexd'));
  writeFileSync(
    join(folder, 'rexd/targets.json'),
    JSON.stringify({ version: 1, targets: { box: sshd.target() } }),
    { mode: 0o600 },
  );
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const args = [bin('rex'), '--no-keep', 'mcp', '--target', 'box'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: folder }));
  const call = async (
    name: string,
    given: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<string> => {
    const { content } = await client.callTool(
      { name, arguments: given },
      signal === undefined ? {} : { signal },
    );
    return (content as { text: string }[]).map(({ text }) => text).join('\n');
  };
  const sleepers = (): number => sshd.started().filter(({ command }) => command === 'sleep 1000').length;
  try {
    expect(await call('write', { path: 'a.txt', content: 'there\n' })).toContain('Created');
    expect(await call('bash', { command: 'cat a.txt; pwd' })).toBe(`there\n${sshd.home}\n`);
    const abort = new AbortController();
    const running = call('bash', { command: 'sleep 1000 & sleep 1000' }, abort.signal);
    await until(() => sleepers() === 2, 'the tree to run');
    abort.abort();
    await expect(running).rejects.toThrow('abort');
    await until(() => sleepers() === 0, 'the tree to end');
    for (const { pid } of sshd.connections()) process.kill(pid, 'SIGKILL');
    expect(await call('read', { path: 'a.txt' })).toBe('1\tthere');
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
  await until(() => sshd.started().length === 0, 'all of it to end');
});
