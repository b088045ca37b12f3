// `rex mcp` on a target behind a real sshd.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { RESUME_WINDOW_MS } from '../../src/cli/rex/mcp/serve.js';
import type { Target } from '../../src/client/rex/target.js';
import { killAll } from '../helpers/proc.js';
import { bin, Program } from '../helpers/program.js';
import { needsSshd } from '../helpers/needs-sshd.js';
import { startSshd } from '../helpers/sshd.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

/** For what takes a moment, on a machine that has much else to do. */
const PATIENCE_MS = 60_000;

needsSshd();

test('tools work through ssh, calling off kills the tree there, and a command outlives its connection', async () => {
  await using sshd = await startSshd();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-ssh-mcp-')));
  const env = writeTarget(folder, sshd.target());
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const args = [bin('rex'), '--no-keep', 'mcp', '--target', 'box', '--resume-window', '60s'];
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
    await until(() => sleepers() === 2, 'the tree to run', PATIENCE_MS);
    abort.abort();
    await expect(running).rejects.toThrow('abort');
    await until(() => sleepers() === 0, 'the tree to end', PATIENCE_MS);
    const through = call('bash', {
      command: 'echo one; touch begun; until test -e cut; do sleep 0.1; done; echo two',
    });
    await until(() => existsSync(join(sshd.home, 'begun')), 'the command to run', PATIENCE_MS);
    killAll(sshd.connections(), 'SIGKILL');
    writeFileSync(join(sshd.home, 'cut'), '');
    expect(await through).toBe('one\ntwo\n');
    expect(await call('read', { path: 'a.txt' })).toBe('1\tthere');
  } finally {
    await client.close();
    removeFolder(folder);
  }
  await until(() => sshd.started().length === 0, 'all of it to end', PATIENCE_MS);
});

test('nothing is left on the target when rex mcp is killed: RESUME_WINDOW_MS is short', async () => {
  await using sshd = await startSshd();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-ssh-mcp-')));
  try {
    const env = writeTarget(folder, sshd.target());
    await using program = new Program([process.execPath, bin('rex'), '--no-keep', 'mcp', '-t', 'box'], {
      env,
    });
    const params = { name: 'bash', arguments: { command: 'sleep 1000' } };
    program.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
    const sleeps = (): boolean => sshd.started().some(({ command }) => command === 'sleep 1000');
    await until(sleeps, 'the command to run', PATIENCE_MS);
    program.child.kill('SIGKILL');
    await until(() => !sleeps(), 'the command to end', 30_000); // a server waits a minute by itself
    expect(RESUME_WINDOW_MS).toBeLessThan(5000);
    await until(() => sshd.started().length === 0, 'all of it to end', PATIENCE_MS);
  } finally {
    removeFolder(folder);
  }
});

/** The environment in which `box` is a target. */
function writeTarget(folder: string, target: Target): Record<string, string> {
  mkdirSync(join(folder, 'rexd'));
  const file = join(folder, 'rexd/targets.json');
  writeFileSync(file, JSON.stringify({ version: 1, targets: { box: target } }), { mode: 0o600 });
  return { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
}
