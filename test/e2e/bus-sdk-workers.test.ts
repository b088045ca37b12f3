// Agents and servers by the official SDKs behind the bus, unchanged; and the official clients in front of it.

import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { client as acpClient, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { BusUnderTest, fixture } from '../helpers/bus.js';
import { until } from '../helpers/wait.js';

const pool = (file: string, instances: number, more: object = {}): object => ({
  id: file,
  command: process.execPath,
  args: [fixture(file)],
  instances,
  ...more,
});

async function open(bus: BusUnderTest): Promise<Socket & AsyncDisposable> {
  const socket = createConnection(bus.socket);
  await once(socket, 'connect');
  socket.on('error', () => {}); // the SDK ends its streams with an error of its own
  return Object.assign(socket, {
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    },
  });
}

/** Two prompts in each of two sessions; gives what was shown of each. */
async function useAgent(bus: BusUnderTest): Promise<Map<string, string[]>> {
  await using socket = await open(bus);
  const shown = new Map<string, string[]>();
  const stream = ndJsonStream(
    Writable.toWeb(socket) as WritableStream<Uint8Array>,
    Readable.toWeb(socket) as ReadableStream<Uint8Array>,
  );
  await acpClient({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => {
      const { update, sessionId } = params;
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
        shown.set(sessionId, [...(shown.get(sessionId) ?? []), update.content.text]);
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => ({
      outcome: { outcome: 'selected', optionId: `yes-${params.sessionId}` },
    }))
    .connectWith(stream, async (agent) => {
      await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
      const make = async (): Promise<string> =>
        (await agent.request(methods.agent.session.new, { cwd: '/', mcpServers: [] })).sessionId;
      const sessions = await Promise.all([make(), make()]);
      for (let round = 0; round < 2; round++)
        await Promise.all(
          sessions.map(async (sessionId) => {
            const prompt = [{ type: 'text' as const, text: 'hello' }];
            const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
            expect(answer).toMatchObject({ stopReason: 'end_turn' });
          }),
        );
    });
  return shown;
}

/** An agent of the SDK wants to be initialized before all else: the bus does it for each before it gives it work. */
const ready = { method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } };

test.each([
  ['lifted', { ready }],
  ['lifted and stripped', { ready, session: { lift: true, strip: true } }],
])('three ACP agents serve two editors at once, each session by its own agent (%s)', async (_, more) => {
  await using bus = await BusUnderTest.start({ pools: [pool('acp-agent.mjs', 3, more)] });
  await using watcher = await bus.connect();
  await until(async () => {
    const { pools } = (await watcher.ask('bus/stats')) as unknown as { pools: { ready: number }[] };
    return pools[0]?.ready === 3;
  }, 'three agents to be ready');
  const all = await Promise.all([useAgent(bus), useAgent(bus)]);
  const sessions = new Map(all.flatMap((shown) => [...shown]));
  expect(sessions.size).toBe(4);
  for (const [sessionId, texts] of sessions) {
    const [, , pid] = texts;
    const once = ['one', 'two', pid, `chosen yes-${sessionId}`];
    expect(texts).toEqual([...once, ...once]); // in order, nothing missing, both rounds by the same process
  }
  expect(new Set([...sessions.values()].map(([, , pid]) => pid)).size).toBeGreaterThan(1);
});

/** The official MCP client by a socket; with a session it puts one on every message, as a client of the bus does. */
class SocketTransport implements Transport {
  readonly #socket: Socket;
  readonly #sessionId: string | undefined;
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly seen: Record<string, unknown>[] = [];
  #held = '';

  constructor(socket: Socket, sessionId?: string) {
    this.#socket = socket;
    this.#sessionId = sessionId;
  }

  async start(): Promise<void> {
    this.#socket.setEncoding('utf8');
    this.#socket.on('data', (text: string) => {
      const lines = `${this.#held}${text}`.split('\n');
      this.#held = lines.pop() ?? '';
      for (const line of lines) {
        const { sessionId, ...message } = JSON.parse(line) as Record<string, unknown>;
        this.seen.push({ sessionId, ...message });
        this.onmessage?.(message as JSONRPCMessage);
      }
    });
    this.#socket.on('close', () => this.onclose?.());
    await Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const session = this.#sessionId === undefined ? {} : { sessionId: this.#sessionId };
    this.#socket.write(`${JSON.stringify({ ...message, ...session })}\n`);
    await Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.#socket.destroyed) return;
    const closed = once(this.#socket, 'close');
    this.#socket.destroy();
    await closed;
  }
}

async function useTools(
  bus: BusUnderTest,
  sessionId?: string,
): Promise<{ pids: Set<string>; transport: SocketTransport }> {
  const transport = new SocketTransport(await open(bus), sessionId);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['add']);
  const pids = new Set<string>();
  for (let n = 0; n < 5; n++) {
    const { content } = await client.callTool({ name: 'add', arguments: { a: n, b: 40 } });
    const [, sum, pid] = /^(\d+) by (\d+)$/.exec((content as { text: string }[])[0]?.text ?? '') ?? [];
    expect(sum).toBe(String(n + 40));
    pids.add(String(pid));
  }
  await client.close();
  return { pids, transport };
}

test('an MCP server serves several official clients whose ids are all the same', async () => {
  await using bus = await BusUnderTest.start({ pools: [pool('mcp-server.mjs', 1)] });
  const all = await Promise.all([useTools(bus), useTools(bus), useTools(bus)]);
  for (const { pids } of all) expect(pids.size).toBe(1);
});

test('MCP servers behind a pool that strips: sessions keep their server, and the id is back on every answer', async () => {
  await using bus = await BusUnderTest.start({
    pools: [pool('mcp-server.mjs', 2, { session: { strip: true } })],
  });
  const all = await Promise.all([useTools(bus, 'one'), useTools(bus, 'two')]);
  for (const [at, { pids, transport }] of all.entries()) {
    expect(pids.size).toBe(1);
    const answers = transport.seen.filter((message) => 'result' in message);
    expect(answers.length).toBeGreaterThan(5);
    expect(new Set(answers.map(({ sessionId }) => sessionId))).toEqual(new Set([at === 0 ? 'one' : 'two']));
  }
  expect(all[0]?.pids).not.toEqual(all[1]?.pids);
});
