// string --mcp as a program that is spoken to in lines.

import { expect } from 'vitest';
import { bin, Program } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { shareStringd, type StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };

interface Message {
  readonly jsonrpc: string;
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: { tools?: { name: string }[]; content?: { text: string }[]; isError?: boolean };
}

class Server extends Program {
  readonly messages: Message[] = [];
  readonly #reading: Promise<void>;
  #lastId = 0;

  constructor({ base, port }: StringdUnderTest, flags: readonly string[] = []) {
    super([process.execPath, bin('string'), '--agent', 'me', ...flags, '--mcp'], {
      env: { HOME: base, STRING_ROOT: `${base}/string`, STRING_PORT: String(port) },
      cwd: base,
    });
    this.#reading = this.#read();
  }

  static async open(stringd: StringdUnderTest, ...flags: string[]): Promise<Server> {
    const server = new Server(stringd, flags);
    await server.ask('initialize', HELLO);
    server.tell({ method: 'notifications/initialized' });
    return server;
  }

  tell(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async ask(method: string, params: object): Promise<Message> {
    const id = ++this.#lastId;
    this.tell({ id, method, params });
    return await until(() => this.messages.find((message) => message.id === id), method, 60_000);
  }

  async call(topic: string, cmd: string): Promise<{ text: string; isError: boolean }> {
    const { result } = await this.ask('tools/call', { name: 'string', arguments: { topic, cmd } });
    return { text: result?.content?.[0]?.text ?? '', isError: result?.isError ?? false };
  }

  /** All that it has written, once it has ended. */
  async finish(): Promise<readonly Message[]> {
    this.endInput();
    await this.ended;
    await this.#reading;
    return this.messages;
  }

  async #read(): Promise<void> {
    for (let line = await this.line(600_000); line !== undefined; line = await this.line(600_000))
      this.messages.push(JSON.parse(line) as Message);
  }
}

verifies(['string/mcp-stdio/tool', 'string/mcp-stdio/answers', 'string/mcp-stdio/end'], async () => {
  await using server = await Server.open(shared());
  const { result } = await server.ask('tools/list', {});
  expect(result?.tools?.map(({ name }) => name)).toEqual(['string']);
  expect(await server.call(' file:notes ', '/info')).toEqual({
    text: expect.stringMatching(/^<𝒞=string:notes>\nSession info\n[^]*\n<\/𝒞>$/u),
    isError: false,
  });
  expect(await server.call('main', 'plain words')).toEqual({
    text: '<𝒞=string:main>\nERROR(COMMAND_UNSUPPORTED): Commands must start with /. Use /help for details.\n</𝒞>',
    isError: true,
  });
  expect((await server.call('my session', '/info')).text).toContain('ERROR(INVALID_TARGET): Invalid topic');
  const messages = await server.finish();
  expect(await server.ended).toMatchObject({ code: 0 });
  expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
});

verifies('string/mcp-stdio/queue', async () => {
  const stringd = shared();
  await using server = await Server.open(stringd);
  const first = server.call('main', '/exec while [ ! -e go ]; do sleep 0.02; done; echo first');
  const states = async () =>
    (
      (await stringd.ask('/sessions?agent_id=me')).json['sessions'] as {
        executing: boolean;
        queue_length: number;
      }[]
    )[0];
  await until(async () => (await states())?.executing, 'the first to run', 60_000);
  const second = server.call('main', '/exec echo second');
  await until(async () => (await states())?.queue_length === 1, 'the second to wait', 60_000);
  await stringd.exec('docs', '/exec touch go');
  expect((await first).text).toContain('\nfirst\n');
  expect((await second).text).toContain('\nsecond\n');
  await server.finish();
});

verifies('string/mcp-stdio/channel', async () => {
  const stringd = shared();
  await using server = await Server.open(stringd);
  await stringd.post('the build is red');
  const told = await until(
    () => server.messages.find(({ method }) => method === 'notifications/claude/channel'),
    'the event',
    60_000,
  );
  expect(told.params).toEqual({
    content: 'the build is red',
    meta: {
      source: 'string',
      agent_id: 'me',
      event_id: expect.stringMatching(/^evt_/),
      received_at: expect.stringMatching(/^\d{4}-/),
      event: 'local-webhook',
    },
  });
  const counts = (await stringd.ask('/events/count', { headers: { 'X-Agent-Id': 'me' } })).json;
  expect(counts).toMatchObject({ ack: 0, unacked: 1 });
  await server.finish();
});

verifies('string/mcp-stdio/ack', async () => {
  const stringd = shared();
  await using server = await Server.open(stringd, '--ack-events');
  await stringd.post('the build is green');
  const counts = async () => (await stringd.ask('/events/count', { headers: { 'X-Agent-Id': 'me' } })).json;
  // Those that the agent had before are told as well.
  await until(async () => (await counts())['unacked'] === 0, 'all events to be acknowledged', 60_000);
  const isTold = (): boolean =>
    server.messages.some(({ params }) => params?.['content'] === 'the build is green');
  await until(isTold, 'the event', 60_000);
  await server.finish();
});
