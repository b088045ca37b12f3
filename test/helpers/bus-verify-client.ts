// A client that knows what must come: every answer is checked against what was asked, every notification against the one before.

import { createConnection, type NetConnectOpts, type Socket } from 'node:net';

/** What was wrong, in words. One is one too many. */
export type Fault = string;

export interface VerifyCounts {
  /** Lines that went through the bus and were checked, either way. */
  messages: number;
  requests: number;
  results: number;
  /** Requests the bus answered itself, because their worker died or none was there. */
  errors: number;
  notifications: number;
  questions: number;
  /** Requests whose client went away before their answer. */
  abandoned: number;
  disconnects: number;
  halfCloses: number;
}

export const newCounts = (): VerifyCounts => ({
  messages: 0,
  requests: 0,
  results: 0,
  errors: 0,
  notifications: 0,
  questions: 0,
  abandoned: 0,
  disconnects: 0,
  halfCloses: 0,
});

interface Stream {
  readonly name: string;
  readonly sessionId: string | undefined;
  /** The number of the last message sent. */
  sent: number;
  /** The number of the last result: they come in order where there is a session. */
  answered: number;
  worker: string;
  told: number;
}

interface Open {
  readonly stream: Stream;
  readonly m: number;
  readonly pad: string;
}

interface Line {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly c: string; readonly k: number; readonly w: string };
  readonly result?: {
    readonly c: string;
    readonly m: number;
    readonly b: number;
    readonly k: number;
    readonly w: string;
    readonly x: number;
    readonly p: string;
  };
  readonly error?: { readonly code: number };
}

/** Worker unavailable, worker exited: what a killed worker may cost. */
const ALLOWED_ERRORS = new Set([-32_000, -32_002]);
const PADS = ['', 'x', 'y'.repeat(60), '{\\"id\\":7,\\"result\\":1}', 'z'.repeat(1500)];
const NOTIFY_SHARE = 0.1;
const SESSIONS = 3;
const BIG_SHARE = 0.0005;
const BIG_PAD = 'B'.repeat(120_000);

export interface VerifyClientOptions {
  readonly where: NetConnectOpts;
  readonly window: number;
  readonly counts: VerifyCounts;
  readonly random: () => number;
  readonly fault: (what: Fault) => void;
}

let incarnations = 0;

/** One connection, from its first request to its end. */
export class VerifyClient {
  readonly #options: VerifyClientOptions;
  readonly #socket: Socket;
  readonly #streams: Stream[];
  readonly #open = new Map<number, Open>();
  readonly #freeIds: number[];
  #held = '';
  #sending = true;
  #full = false;
  #closing = false;
  readonly closed: Promise<void>;

  constructor(options: VerifyClientOptions) {
    this.#options = options;
    incarnations += 1;
    const name = `c${incarnations}`;
    this.#streams = Array.from({ length: SESSIONS + 1 }, (_, n) => ({
      name: `${name}-${n}`,
      sessionId: n === 0 ? undefined : `${name}-${n}`,
      sent: 0,
      answered: 0,
      worker: '',
      told: 0,
    }));
    // The same ids as every other client has: 1, 2, 3, … That is the point.
    this.#freeIds = Array.from({ length: options.window }, (_, n) => options.window - n);
    this.#socket = createConnection({ ...options.where, allowHalfOpen: true } as NetConnectOpts);
    this.#socket.setEncoding('latin1');
    this.#socket.on('connect', () => this.#topUp());
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('drain', () => {
      this.#full = false;
      this.#topUp();
    });
    this.#socket.on('error', (error) => {
      if (!this.#closing) options.fault(`${name}: ${error.message}`);
    });
    this.#socket.on('end', () => this.#ended());
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()));
  }

  get open(): number {
    return this.#open.size;
  }

  /** No more requests; resolves when every open one is answered. Then the bus must close, having lost nothing. */
  async finish(): Promise<void> {
    this.#sending = false;
    this.#closing = true;
    this.#options.counts.halfCloses += 1;
    this.#socket.resume();
    this.#socket.end();
    await this.closed;
  }

  /** Gone in the middle of everything. */
  async vanish(): Promise<void> {
    this.#sending = false;
    this.#closing = true;
    this.#options.counts.disconnects += 1;
    this.#options.counts.abandoned += this.#open.size;
    this.#open.clear();
    this.#socket.destroy();
    await this.closed;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #ended(): void {
    if (this.#open.size > 0)
      this.#options.fault(
        `the bus closed with ${this.#open.size} requests unanswered, ids ${[...this.#open.keys()].slice(0, 5).join(', ')}`,
      );
    if (this.#held !== '')
      this.#options.fault(`the connection ended inside a line: ${this.#held.slice(0, 100)}`);
    if (!this.#closing) this.#options.fault('the bus closed a connection that did nothing wrong');
    this.#closing = true;
    this.#socket.destroy();
  }

  #topUp(): void {
    const { random, counts } = this.#options;
    let lines = '';
    while (this.#sending && !this.#full && this.#freeIds.length > 0) {
      const stream = this.#streams[Math.floor(random() * this.#streams.length)] as Stream;
      const session = stream.sessionId === undefined ? '' : `,"sessionId":"${stream.sessionId}"`;
      stream.sent += 1;
      counts.messages += 1;
      if (stream.sessionId !== undefined && random() < NOTIFY_SHARE) {
        counts.notifications += 1;
        lines += `{"jsonrpc":"2.0","method":"n"${session},"params":{"c":"${stream.name}","m":${stream.sent}}}\n`;
        continue;
      }
      const id = this.#freeIds.pop() as number;
      const pad = random() < BIG_SHARE ? BIG_PAD : (PADS[Math.floor(random() * PADS.length)] as string);
      this.#open.set(id, { stream, m: stream.sent, pad });
      counts.requests += 1;
      lines += `{"jsonrpc":"2.0","id":${id},"method":"v"${session},"params":{"c":"${stream.name}","m":${stream.sent},"p":"${pad}"}}\n`;
    }
    if (lines !== '') this.#full = !this.#socket.write(lines, 'latin1');
  }

  #read(chunk: string): void {
    const text = this.#held + chunk;
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      this.#check(text.slice(from, at));
      from = at + 1;
    }
    this.#held = text.slice(from);
    this.#topUp();
  }

  #check(text: string): void {
    this.#options.counts.messages += 1;
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      return this.#options.fault(`no JSON came: ${text.slice(0, 200)}`);
    }
    if (line.method !== undefined) this.#checkTold(line, text);
    else this.#checkAnswer(line, text);
  }

  #checkAnswer(line: Line, text: string): void {
    const { fault, counts } = this.#options;
    const open = this.#open.get(line.id as number);
    if (open === undefined) return fault(`an answer nobody here waits for: ${text.slice(0, 200)}`);
    this.#open.delete(line.id as number);
    this.#freeIds.unshift(line.id as number);
    if (line.result === undefined) {
      counts.errors += 1;
      if (!ALLOWED_ERRORS.has(line.error?.code ?? 0))
        fault(`an error that must not be: ${text.slice(0, 300)}`);
      return;
    }
    counts.results += 1;
    const { stream, m, pad } = open;
    const { c, k, w, x, p } = line.result;
    if (c !== stream.name) return fault(`CROSSED: ${stream.name} got an answer of ${c}`);
    if (line.result.m !== m || p !== pad.replaceAll('\\"', '"'))
      return fault(`${c}: answer ${line.result.m} for request ${m}`);
    if (x !== 0) fault(`${c}: the worker has seen messages lost, doubled or out of order before ${m}`);
    if (stream.sessionId === undefined) return;
    if (m <= stream.answered) fault(`${c}: answer ${m} after answer ${stream.answered}`);
    stream.answered = m;
    if (stream.worker !== w) this.#newWorker(stream, w);
    if (k !== stream.told) fault(`${c}: ${k} notifications were sent, ${stream.told} came`);
  }

  #checkTold(line: Line, text: string): void {
    const { fault, counts } = this.#options;
    const { c, k, w } = line.params ?? { c: '', k: 0, w: '' };
    const stream = this.#streams.find(({ name }) => name === c);
    if (stream === undefined)
      return fault(`CROSSED: a message for ${c} came to ${this.#streams[0]?.name}: ${text}`);
    if (line.id !== undefined) {
      counts.questions += 1;
      if (!this.#closing)
        this.#socket.write(`{"jsonrpc":"2.0","id":${line.id},"result":{"c":"${c}","w":"${w}"}}\n`);
      return;
    }
    counts.notifications += 1;
    if (stream.worker !== w) this.#newWorker(stream, w);
    stream.told += 1;
    if (k !== stream.told) fault(`${c}: notification ${k} came where ${stream.told} was due`);
  }

  /** The session is with another process now, which counts from the start. */
  #newWorker(stream: Stream, worker: string): void {
    stream.worker = worker;
    stream.told = 0;
  }
}
