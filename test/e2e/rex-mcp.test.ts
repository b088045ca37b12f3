// `rex mcp` as agents use it: the official client, both eras, a real target.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { descendants, killAll } from '../helpers/proc.js';
import { bin, Program, run } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

/** For what takes a moment, on a machine that has much else to do. */
const PATIENCE_MS = 60_000;

const ERAS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const MODERN = '2026-07-28';

let folder: string;
let env: Record<string, string>;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-mcp-')));
  mkdirSync(join(folder, 'work'));
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    HAWSER_MARK: process.env['HAWSER_MARK'] ?? '',
  };
});

afterEach(() => {
  removeFolder(folder);
});

class Agent implements AsyncDisposable {
  readonly client: Client;
  readonly errors: Error[] = [];

  constructor(client: Client) {
    this.client = client;
    Object.assign(client, { onerror: (error: Error) => this.errors.push(error) });
  }

  async call(name: string, args: Record<string, unknown>, signal?: AbortSignal) {
    return (await this.client.callTool(
      { name, arguments: args },
      { ...(signal !== undefined && { signal }), timeout: 60_000 },
    )) as {
      content: { type: string; text: string }[];
      structuredContent?: Record<string, unknown>;
      isError?: boolean;
    };
  }

  async say(name: string, args: Record<string, unknown>): Promise<string> {
    return (await this.call(name, args)).content.map(({ text }) => text).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

async function startAgent(era: string, flags: readonly string[] = []): Promise<Agent> {
  const modern = era === MODERN;
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    modern ? { versionNegotiation: { mode: { pin: era } } } : { supportedProtocolVersions: [era] },
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin('rex'), 'mcp', ...flags],
    env,
    cwd: join(folder, 'work'),
  });
  const agent = new Agent(client);
  await client.connect(transport);
  return agent;
}

const put = (name: string, text: string): void => writeFileSync(join(folder, 'work', name), text);

describe.each(ERAS)('in the era of %s', (era) => {
  test('every tool does its work, and tells in words and in facts', async () => {
    await using agent = await startAgent(era);
    expect(agent.client.getNegotiatedProtocolVersion()).toBe(era);
    expect(agent.client.getServerVersion()).toMatchObject({ name: 'rex' });
    expect(agent.client.getInstructions()).toContain('current target');
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual('bash read write edit list glob search'.split(' '));
    expect(await agent.say('write', { path: 'a.txt', content: 'one\ntwo\n' })).toContain('Created');
    expect(await agent.say('edit', { path: 'a.txt', old_string: 'two', new_string: 'three' })).toContain(
      'once',
    );
    expect(await agent.say('read', { path: 'a.txt' })).toBe('1\tone\n2\tthree');
    expect(await agent.say('list', {})).toBe('a.txt\t10');
    expect(await agent.say('glob', { pattern: '*.txt' })).toBe('a.txt');
    expect(await agent.say('search', { query: 'thr.e' })).toBe('a.txt:2:three');
    const run = await agent.call('bash', { command: 'wc -l < a.txt; exit 7' });
    expect(run).toMatchObject({
      content: [{ type: 'text', text: '2\n[exit code 7]' }],
      structuredContent: { exit_code: 7, stdout: '2\n', stderr: '' },
    });
    expect(await agent.call('read', { path: 'no/such' })).toMatchObject({ isError: true });
    expect(await agent.call('read', {})).toMatchObject({ isError: true });
    await expect(agent.call('nothing', {})).rejects.toThrow('no tool "nothing"');
    expect(agent.errors).toEqual([]);
  });
});

describe.each(['2025-11-25', MODERN])('in the era of %s', (era) => {
  test('a long command tells how it goes', async () => {
    await using agent = await startAgent(era);
    const steps: { progress: number; message?: string | undefined }[] = [];
    const command = 'for i in 1 2; do echo step $i; until [ -e seen$i ]; do sleep 0.05; done; done';
    const running = agent.client.callTool(
      { name: 'bash', arguments: { command } },
      { onprogress: (step) => steps.push(step), timeout: PATIENCE_MS },
    );
    for (const n of [1, 2]) {
      await until(() => steps.some(({ message }) => message === `step ${n}`), `step ${n}`, PATIENCE_MS);
      put(`seen${n}`, '');
    }
    await running;
    const grown = steps.every(({ progress }, i) => i === 0 || progress > (steps[i - 1]?.progress ?? 0));
    expect(grown).toBe(true);
  });

  test('calling off kills the whole tree, and the next call works', async () => {
    await using agent = await startAgent(era);
    const abort = new AbortController();
    const running = agent.call('bash', { command: 'sleep 1000 & sleep 1000' }, abort.signal);
    await until(() => sleepers() === 2, 'the tree to run', PATIENCE_MS);
    abort.abort();
    await expect(running).rejects.toThrow('abort');
    await until(() => sleepers() === 0, 'the tree to end', PATIENCE_MS);
    expect(await agent.say('bash', { command: 'echo on' })).toBe('on\n');
  });

  test('a client that leaves takes the tree with it', async () => {
    await using agent = await startAgent(era);
    const running = agent.call('bash', { command: 'sleep 1000 & sleep 1000' });
    running.catch(() => {});
    await until(() => sleepers() === 2, 'the tree to run', PATIENCE_MS);
    await agent.client.close();
    await expect(until(() => sleepers() === 0, 'the tree to end', PATIENCE_MS)).resolves.toBe(true);
  });

  test('fifty calls at once are answered, each with its own', async () => {
    await using agent = await startAgent(era);
    const calls = Array.from({ length: 50 }, (_, i) =>
      agent.say('bash', { command: `sleep 0.05; echo ${i}` }),
    );
    expect(await Promise.all(calls)).toEqual(calls.map((_, i) => `${i}\n`));
  });

  test('a huge output comes short, and a huge file whole', async () => {
    await using agent = await startAgent(era);
    const text = await agent.say('bash', { command: 'seq 1 3000000' });
    expect(text.length).toBeLessThan(32 * 1024);
    expect(text).toMatch(/^1\n[^]*bytes cut; to see them: read [^]*\n3000000\n$/);
    const content = 'x'.repeat(79).concat('\n').repeat(50_000);
    await agent.say('write', { path: 'big', content });
    expect(readFileSync(join(folder, 'work/big'), 'utf8')).toBe(content);
  });
});

function sleepers(): number {
  return descendants(process.pid).filter(({ command }) => command === 'sleep 1000').length;
}

/** A target whose ssh is a stand-in that runs the rexd of this machine in a folder of its own. */
function addTargets(...names: readonly string[]): void {
  const scripts = join(folder, 'bin');
  mkdirSync(scripts, { recursive: true });
  const ssh = `#!/bin/sh\nfor word; do last=$word; done\nexec sh -c "exec $last"\n`;
  writeFileSync(join(scripts, 'ssh'), ssh, { mode: 0o755 });
  env['PATH'] = `${scripts}:${env['PATH']}`;
  const targets = Object.fromEntries(
    names.map((name) => {
      const root = join(folder, name);
      mkdirSync(root);
      const command = `${process.execPath} ${bin('rexd')} --stdio --root ${root}`;
      return [name, { transport: 'ssh', host: `${name}.example`, command, workspaceRoots: [root] }];
    }),
  );
  mkdirSync(join(folder, 'config/rexd'), { recursive: true });
  writeFileSync(join(folder, 'config/rexd/targets.json'), JSON.stringify({ version: 1, targets }));
}

function carry(alias: string): void {
  mkdirSync(join(folder, 'state/rex'), { recursive: true });
  writeFileSync(join(folder, 'state/rex/state.json'), JSON.stringify({ use: alias }), { mode: 0o600 });
}

test('the target is chosen outside, and another choice counts from the next call on', async () => {
  addTargets('one', 'two');
  carry('one');
  await using agent = await startAgent(MODERN);
  const where = (): Promise<string> => agent.say('bash', { command: 'pwd' });
  expect(await where()).toBe(`${join(folder, 'one')}\n`);
  const slow = agent.say('bash', { command: ': > runs; until [ -e go ]; do sleep 0.05; done; pwd' });
  await until(() => existsSync(join(folder, 'one/runs')), 'the slow one to run');
  carry('two');
  expect(await where()).toBe(`[the target is now two]\n${join(folder, 'two')}\n`);
  writeFileSync(join(folder, 'one/go'), '');
  expect(await slow).toBe(`${join(folder, 'one')}\n`);
  await until(() => servers() === 1, 'the first connection to be closed', PATIENCE_MS);
  put('.rexd.json', JSON.stringify({ target: 'one' }));
  expect(await where()).toBe(`[the target is now one]\n${join(folder, 'one')}\n`);
  carry('nowhere');
  rmSync(join(folder, 'work/.rexd.json'));
  expect(await agent.call('list', {})).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('no target "nowhere"') }],
  });
});

function servers(): number {
  return descendants(process.pid).filter(
    ({ command }) => command.includes('rexd') && command.includes('--stdio'),
  ).length;
}

test('a person chooses by the prompt, with names to complete, before what --target says', async () => {
  addTargets('one', 'two');
  await using agent = await startAgent(MODERN, ['--target', 'one']);
  const get = async (name?: string): Promise<unknown> => {
    const { messages } = await agent.client.getPrompt({
      name: 'target',
      arguments: name === undefined ? {} : { name },
    });
    return messages[0]?.content;
  };
  expect((await agent.client.listPrompts()).prompts).toMatchObject([{ name: 'target' }]);
  expect(await get()).toMatchObject({ text: expect.stringContaining('There are: local, one, two.') });
  const { completion } = await agent.client.complete({
    ref: { type: 'ref/prompt', name: 'target' },
    argument: { name: 'name', value: 't' },
  });
  expect(completion.values).toEqual(['two']);
  expect(await get('two')).toMatchObject({ text: expect.stringContaining('target two (two.example)') });
  expect(await agent.say('bash', { command: 'pwd' })).toBe(`${join(folder, 'two')}\n`);
  await expect(get('three')).rejects.toThrow('no target "three"');
  expect(await get('auto')).toMatchObject({ text: expect.stringContaining('target one') });
  expect(await agent.say('bash', { command: 'pwd' })).toContain(join(folder, 'one'));
});

test('a connection that is lost is opened again by the next call', async () => {
  addTargets('one');
  await using agent = await startAgent('2025-11-25', ['--target', 'one']);
  expect(await agent.say('bash', { command: 'echo before' })).toBe('before\n');
  killAll(
    descendants(process.pid).filter(({ command }) => command.includes('--stdio')),
    'SIGKILL',
  );
  expect(await agent.say('glob', { pattern: '*' })).toBe('(nothing found)');
  expect(await agent.say('bash', { command: 'echo after' })).toBe('after\n');
});

test('a target that cannot be reached is told in plain words, and tried again', async () => {
  addTargets('one');
  const ssh = join(folder, 'bin/ssh');
  const works = readFileSync(ssh);
  writeFileSync(ssh, '#!/bin/sh\necho "me@one: Permission denied (publickey)." >&2; exit 255\n');
  await using agent = await startAgent(MODERN, ['--target', 'one']);
  const { isError, content } = await agent.call('bash', { command: 'true' });
  expect(isError).toBe(true);
  expect(content[0]?.text).toContain('cannot connect to one');
  writeFileSync(ssh, works);
  expect(await agent.say('bash', { command: 'echo now' })).toBe('now\n');
});

test('stdout has nothing but protocol, whatever comes in, and requests that were piped in are answered', async () => {
  await using program = new Program([process.execPath, bin('rex'), 'mcp'], {
    env,
    cwd: join(folder, 'work'),
  });
  const message = (id: number, method: string, params: unknown): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  program.write(
    message(1, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'pipe', version: '1' },
    }),
  );
  program.write('not json\n{"jsonrpc":"2.0"}\n\n[1]\n\u0000\n');
  program.write(message(2, 'no/such', {}));
  program.write(message(3, 'tools/call', { name: 'bash', arguments: { command: 'echo piped' } }));
  program.endInput();
  const lines = (await program.rest()).map(
    (line) => JSON.parse(line) as { id?: unknown; error?: { code: number } },
  );
  expect(lines.flat().every((line) => (line as { jsonrpc?: unknown }).jsonrpc === '2.0')).toBe(true);
  expect(lines.find(({ id }) => id === 2)?.error?.code).toBe(-32601);
  expect(JSON.stringify(lines.find(({ id }) => id === 3))).toContain('piped');
  expect(await program.ended).toMatchObject({ code: 0 });
});

test('SIGTERM ends it, and all it has started', async () => {
  await using program = new Program([process.execPath, bin('rex'), 'mcp'], {
    env,
    cwd: join(folder, 'work'),
  });
  const call = { name: 'bash', arguments: { command: 'sleep 1000' } };
  program.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })}\n`);
  await until(() => sleepers() === 1, 'the command to run', PATIENCE_MS);
  program.child.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 143 });
  await until(() => sleepers() === 0, 'the command to end', PATIENCE_MS);
});

test('the printed configuration starts a server that works, from any folder', async () => {
  const printed = await run([process.execPath, bin('rex'), 'mcp', 'config', '--client', 'claude-code'], {
    env,
  });
  expect(printed).toMatchObject({ code: 0, stderr: expect.stringContaining('.mcp.json') });
  const { mcpServers } = JSON.parse(printed.stdout) as {
    mcpServers: { rex: { command: string; args: string[] } };
  };
  const client = new Client({ name: 'test', version: '1.0.0' });
  const { command, args } = mcpServers.rex;
  await client.connect(new StdioClientTransport({ command, args, env, cwd: folder }));
  await using agent = new Agent(client);
  expect(await agent.say('bash', { command: 'pwd' })).toBe(`${folder}\n`);
});

test('what is wrong with the command line is said, and nothing of it on stdout', async () => {
  const wrong = await run([process.execPath, bin('rex'), 'mcp', 'config', '--client', 'emacs'], { env });
  expect(wrong).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('there are: claude-code'),
  });
  const word = await run([process.execPath, bin('rex'), 'mcp', 'serve'], { env });
  expect(word).toMatchObject({ code: 2, stdout: '' });
});
