// A client of exec.*: answers by id, events by process, and the order in which all of them came.

import { expect } from 'vitest';
import { until } from '../../helpers/wait.js';
import { expectDeclared } from './declared-errors.js';
import { type Answer, RexdUnderTest } from './rexd-under-test.js';
import { makeGrounds, type MoreConfig } from './target.js';

export interface Event {
  readonly method: string;
  readonly params: Record<string, unknown> & { readonly process_id: string };
}

export interface ClientOptions {
  readonly limits?: Readonly<Record<string, number>>;
  readonly allowShell?: boolean;
  readonly config?: MoreConfig;
  /** What the server's own environment has beside the usual. `{base}` in it stands for the folder that holds all of the grounds. */
  readonly env?: Readonly<Record<string, string>>;
  /** A further server on the grounds of another client, which clears them away. */
  readonly beside?: ExecClient;
}

/** What came of one command. */
export interface Run {
  readonly id: string;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly events: readonly Event[];
  readonly exit: Record<string, unknown>;
}

const WAIT_MS = 60_000;

export class ExecClient implements AsyncDisposable {
  readonly rexd: RexdUnderTest;
  /** Every message, in order. */
  readonly log: (Answer | Event)[] = [];
  longestLine = 0;
  sessionId = '';
  readonly #answers = new Map<unknown, Answer>();
  readonly #events = new Map<string, Event[]>();
  readonly #reading: Promise<void>;
  #lastId = 0;

  static async open(options: ClientOptions = {}): Promise<ExecClient> {
    const more = options.allowShell === false ? { security: ['allow_shell = false'] } : options.config;
    const grounds =
      options.beside === undefined
        ? makeGrounds(options.limits, more)
        : { ...options.beside.rexd.grounds, [Symbol.dispose]: () => {} };
    const env = Object.entries(options.env ?? {}).map(([name, value]) => [
      name,
      value.replaceAll('{base}', grounds.base),
    ]);
    const client = new ExecClient(
      new RexdUnderTest(grounds, Object.fromEntries(env) as Record<string, string>),
    );
    client.sessionId = await client.openSession();
    return client;
  }

  private constructor(rexd: RexdUnderTest) {
    this.rexd = rexd;
    this.#reading = this.#readAll().catch(() => {}); // what is missing is told of by whoever waits for it
  }

  get root(): string {
    return this.rexd.grounds.root;
  }

  async openSession(): Promise<string> {
    return String((await this.ask('session.open', { client_name: 'exec' }))['session_id']);
  }

  /** The answer, whichever it is; `session_id` is added unless it is given. */
  async call(method: string, params: Record<string, unknown> = {}): Promise<Answer> {
    const id = this.send(method, params);
    const answer = await until(() => this.#answers.get(id), `the answer of ${method}`, WAIT_MS);
    expectDeclared(method, answer.error?.code);
    return answer;
  }

  async ask(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const answer = await this.call(method, params);
    expect(answer.error, method).toBeUndefined();
    return answer.result ?? {};
  }

  /** The error of a call that must fail. */
  async refused(method: string, params: Record<string, unknown> = {}): Promise<Answer['error']> {
    const answer = await this.call(method, params);
    expect(answer.result, method).toBeUndefined();
    return answer.error;
  }

  send(method: string, params: Record<string, unknown> = {}): number {
    const id = ++this.#lastId;
    const all = { ...(this.sessionId !== '' && { session_id: this.sessionId }), ...params };
    this.rexd.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: all })}\n`);
    return id;
  }

  /** Starts a command; gives its process_id. */
  async start(params: Record<string, unknown>): Promise<string> {
    return String((await this.ask('exec.start', params))['process_id']);
  }

  async run(params: Record<string, unknown>): Promise<Run> {
    return await this.finish(await this.start({ stdin: '', ...params }));
  }

  async sh(command: string, params: Record<string, unknown> = {}): Promise<Run> {
    return await this.run({ shell: true, command, ...params });
  }

  /** All of a process, once its exec.exit has come. */
  async finish(id: string): Promise<Run> {
    const exit = await this.event(id, 'exec.exit');
    const events = this.events(id);
    return {
      id,
      stdout: dataOf(events, 'exec.stdout'),
      stderr: dataOf(events, 'exec.stderr'),
      events,
      exit: exit.params,
    };
  }

  events(id: string): readonly Event[] {
    return this.#events.get(id) ?? [];
  }

  async event(id: string, method: string): Promise<Event> {
    return await until(() => this.events(id).find((event) => event.method === method), method, WAIT_MS);
  }

  /** Resolves when the process has written `text` to its stdout; gives all it has written so far. */
  async output(id: string, text: string): Promise<string> {
    return await until(
      () => {
        const all = dataOf(this.events(id), 'exec.stdout').toString('utf8');
        return all.includes(text) && all;
      },
      `${JSON.stringify(text)} on stdout`,
    );
  }

  /** What `read` makes of its output so far, once that is something; undefined when the process ends before. */
  async said<T>(id: string, read: (text: string) => T | undefined): Promise<T | undefined> {
    const { found } = await until(() => {
      const isOver = this.events(id).some(({ method }) => method === 'exec.exit');
      const found = read(dataOf(this.events(id), 'exec.stdout').toString('utf8'));
      return (isOver || found !== undefined) && { found };
    }, `${id} to say it`);
    return found;
  }

  /** Resolves when the server has ended and its last word is in the log: nothing comes after that. */
  async hearAll(): Promise<void> {
    this.rexd.endInput();
    await this.rexd.ended;
    await this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.rexd.child.stdout.resume();
    this.rexd.endInput();
    await this.rexd.ended;
    await this.rexd[Symbol.asyncDispose]();
  }

  async #readAll(): Promise<void> {
    for (let line = await this.#line(); line !== undefined; line = await this.#line()) {
      this.longestLine = Math.max(this.longestLine, Buffer.byteLength(line));
      const message = JSON.parse(line) as Answer | Event;
      this.log.push(message);
      if ('method' in message) this.#sort(message);
      else this.#answers.set(message.id, message);
    }
  }

  #line(): Promise<string | undefined> {
    return this.rexd.line(10 * WAIT_MS);
  }

  #sort(event: Event): void {
    const id = event.params.process_id;
    const known = this.#events.get(id);
    if (known === undefined) this.#events.set(id, [event]);
    else known.push(event);
  }
}

export function dataOf(events: readonly Event[], method: string): Buffer {
  const pieces = events.filter((event) => event.method === method);
  return Buffer.concat(
    pieces.map(({ params }) => Buffer.from(String(params['data']), params['encoding'] as 'utf8' | 'base64')),
  );
}
