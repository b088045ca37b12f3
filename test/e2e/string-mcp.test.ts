// `string --mcp` as agents use it: the official client and the Inspector, both eras, a daemon that is started when needed.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { findInspector } from '../helpers/inspector.js';
import { bin, run } from '../helpers/program.js';
import { StringPlace } from '../helpers/string-place.js';
import { until } from '../helpers/wait.js';

const PATIENCE_MS = 60_000;
const MODERN = '2026-07-28';

class Agent implements AsyncDisposable {
  readonly client: Client;
  readonly told: { method: string; params?: unknown }[] = [];

  constructor(era: string) {
    this.client = new Client(
      { name: 'test', version: '1.0.0' },
      era === MODERN ? { versionNegotiation: { mode: { pin: era } } } : { supportedProtocolVersions: [era] },
    );
    this.client.fallbackNotificationHandler = async (notification) => void this.told.push(notification);
  }

  static async start(place: StringPlace, era: string): Promise<Agent> {
    const agent = new Agent(era);
    const args = [bin('string'), '--agent', 'me', '--mcp'];
    await agent.client.connect(
      new StdioClientTransport({ command: process.execPath, args, env: { ...place.env }, cwd: place.folder }),
    );
    return agent;
  }

  async call(topic: string, cmd: string, signal?: AbortSignal) {
    return (await this.client.callTool(
      { name: 'string', arguments: { topic, cmd } },
      { timeout: PATIENCE_MS, ...(signal !== undefined && { signal }) },
    )) as { content: { text: string }[]; isError?: boolean };
  }

  async say(topic: string, cmd: string): Promise<string> {
    return (await this.call(topic, cmd)).content[0]?.text ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

describe.each(['2025-11-25', MODERN])('in the era of %s', (era) => {
  test('the daemon is started, commands are executed and called off, and a daemon that has ended is started again', async () => {
    await using place = await StringPlace.make();
    await using agent = await Agent.start(place, era);
    expect(agent.client.getNegotiatedProtocolVersion()).toBe(era);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['string']);
    expect(await agent.say('main', '/info')).toMatch(/^<𝒞=string:main>\nSession info\n---\n[^]*\n<\/𝒞>$/);
    expect(await agent.say('bash:dev', 'cd /; echo hi')).toBe(
      '<𝒞=string:bash:dev>\nexit: 0 | cwd: /\n---\nhi\n</𝒞>',
    );
    const failed = await agent.call('main', '/open nothing.md');
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('ERROR(NOT_FOUND)') }],
    });

    const wish = new AbortController();
    const running = agent.call('bash:dev', 'touch ~/begun; sleep 300', wish.signal);
    running.catch(() => {});
    const begun = join(place.folder, 'string/agents/me/begun');
    await until(() => existsSync(begun), 'the command to run', PATIENCE_MS);
    wish.abort();
    await expect(running).rejects.toThrow('abort');
    expect(await agent.say('bash:dev', 'echo on')).toContain('\non\n');

    await place.stop();
    expect(await agent.say('main', '/info')).toContain('Session info');
  });
});

test('events reach a client that listens to channels; two servers at once start one daemon', async () => {
  await using place = await StringPlace.make();
  await using one = await Agent.start(place, '2025-11-25');
  await using two = await Agent.start(place, '2025-11-25');
  expect(one.client.getServerCapabilities()?.experimental).toEqual({ 'claude/channel': {} });
  await Promise.all([one.say('main', '/info'), two.say('main', '/info')]);
  await until(() => place.daemons().length === 1, 'the other to be gone', PATIENCE_MS);
  const client = place.client();
  const hook = await client.webhookUrl();
  await fetch(hook, { method: 'POST', body: 'the build is red' });
  for (const agent of [one, two]) {
    const told = await until(() => agent.told[0], 'the event', PATIENCE_MS);
    expect(told).toMatchObject({
      method: 'notifications/claude/channel',
      params: {
        content: 'the build is red',
        meta: { source: 'string', agent_id: 'me', event: 'local-webhook' },
      },
    });
  }
  expect(await client.countEvents()).toMatchObject({ ack: 0, unacked: 1 });
});

const inspector = findInspector();

describe.skipIf(inspector === undefined).each(['legacy', 'modern'])('the Inspector, %s era', (era) => {
  test('finds the tool portable, and its answer where it belongs', async () => {
    await using place = await StringPlace.make();
    const inspect = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
      const options = ['--protocol-era', era, '--format', 'json', '--quiet'];
      // It passes next to none of its variables on, and without them the daemon would be the one of this machine.
      const variables = Object.entries(place.env).map(([name, value]) => `${name}=${value}`);
      const server = ['/usr/bin/env', ...variables, process.execPath, bin('string'), '--mcp'];
      const { stdout, stderr, code } = await run(
        [process.execPath, inspector ?? '', ...options, ...server, ...args],
        { cwd: place.folder, env: place.env },
      );
      expect(code, stderr).toBe(0);
      return (JSON.parse(stdout) as { result: Record<string, unknown> }).result;
    };
    expect(await inspect('--method', 'tools/list', '--strict')).toMatchObject({
      tools: [{ name: 'string' }],
    });
    const args = ['--tool-arg', 'topic=docs', 'cmd=/help'];
    const result = await inspect('--method', 'tools/call', '--tool-name', 'string', ...args);
    expect(result).toMatchObject({
      content: [{ text: expect.stringMatching(/^<𝒞=string:docs>\nString Commands/) }],
    });
  });
});
