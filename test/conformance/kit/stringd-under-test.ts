// A stringd as a client of another make would meet it: a program on a port, spoken to by plain HTTP.

import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { freePort } from '../../helpers/free-port.js';
import { type Ask, ask, OpenStream, type Reply } from '../../helpers/http-ask.js';
import { bin, Program } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { TARGET_VARIABLE } from './target.js';
import { removeFolder } from '../../helpers/remove-folder.js';

export const ME = { 'X-Agent-Id': 'me' };
export const EXEC_EVENTS = ['head', 'content', 'done'];

export interface StringdStart {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** A folder from before; the caller clears it away. */
  readonly base?: string;
  readonly port?: number;
}

export class StringdUnderTest extends Program {
  readonly base: string;
  readonly url: string;
  readonly port: number;
  readonly #ownsBase: boolean;

  /** Ready, with the agent `me`. */
  static async start(start: StringdStart = {}): Promise<StringdUnderTest> {
    const daemon = new StringdUnderTest(start.port ?? (await freePort()), start);
    try {
      await daemon.ready();
      await daemon.ask('/agents', { json: { agent_id: 'me' } });
      return daemon;
    } catch (thrown) {
      await daemon[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  constructor(port: number, { env, args = [], base }: StringdStart = {}) {
    const folder = base ?? makeBase();
    super(stringdCommand(port, folder, args), {
      env: {
        HOME: folder,
        STRING_PORT: String(port),
        STRING_ROOT: join(folder, 'string'),
        STRING_DATA_DIR: join(folder, 'string/daemon'),
        ...env,
      },
      cwd: folder,
    });
    this.base = folder;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#ownsBase = base === undefined;
  }

  get home(): string {
    return join(this.base, 'string/agents/me');
  }

  /** Resolves when it answers; rejects when it ends instead. */
  async ready(): Promise<void> {
    await until(async () => {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`stringd has ended: ${this.stderr}`);
      return await this.ask('/health').then(
        ({ status }) => status === 200,
        () => false,
      );
    }, 'stringd to be ready');
  }

  ask(path: string, options?: Ask): Promise<Reply> {
    return ask(this.url, path, options);
  }

  exec(topic: string, cmd: string, more: Record<string, unknown> = {}, options: Ask = {}): Promise<Reply> {
    return this.ask('/exec', { headers: ME, json: { topic, cmd, ...more }, ...options });
  }

  stream(path: string, options?: Ask): OpenStream {
    return new OpenStream(this.url, path, options);
  }

  /** The path of the webhook of `me`. */
  async webhook(agent = 'me'): Promise<string> {
    const { json } = await this.ask(`/agents/${agent}/webhook`);
    return new URL(String(json['webhook_url'])).pathname;
  }

  async post(text: string): Promise<Reply> {
    return await this.ask(await this.webhook(), { method: 'POST', body: text });
  }

  async callTool(args: unknown, headers: Record<string, string> = ME): Promise<ToolAnswer> {
    const { status, json } = await this.ask('/mcp', {
      headers: { Accept: 'application/json', ...headers },
      json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'string', arguments: args } },
    });
    const result = (json['result'] ?? {}) as { content?: { text: string }[]; isError?: boolean };
    return { status, text: result.content?.[0]?.text ?? '', isError: result.isError };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    if (this.#ownsBase) removeFolder(this.base);
  }
}

/** One daemon for all tests of a file, and for each of them the agent `me` as if it were new. */
export function shareStringd(start: StringdStart = {}): () => StringdUnderTest {
  let shared: StringdUnderTest | undefined;
  const get = (): StringdUnderTest => {
    if (shared === undefined) throw new Error('it has not been started');
    return shared;
  };
  beforeAll(async () => {
    shared = await StringdUnderTest.start(start);
  });
  beforeEach(async () => {
    const { agents } = (await get().ask('/agents')).json as { agents: { id: string }[] };
    for (const { id } of agents) await get().ask(`/agents/${id}`, { method: 'DELETE' });
    await get().ask('/agents', { json: { agent_id: 'me' } });
  });
  afterAll(async () => await shared?.[Symbol.asyncDispose]());
  return get;
}

export interface ToolAnswer {
  readonly status: number;
  readonly text: string;
  readonly isError: boolean | undefined;
}

export function makeBase(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-stringd-')));
  mkdirSync(join(base, 'string'));
  return base;
}

/** `{port}` and `{root}` in a foreign command stand for what the environment says too. */
function stringdCommand(port: number, base: string, args: readonly string[]): [string, ...string[]] {
  const foreign = process.env[TARGET_VARIABLE];
  if (foreign === undefined) return [process.execPath, bin('stringd'), ...args];
  const words = JSON.parse(foreign) as [string, ...string[]];
  return words.map((word) => word.replaceAll('{port}', String(port)).replaceAll('{root}', base)) as [
    string,
    ...string[],
  ];
}
