// Runs commands on a rexd and counts what really came back: a peer that loses output or exits is noticed, not waited for.

import { LineSplitter } from '../../../src/wire/ndjson/line-splitter.js';
import type { LineClient, Talk } from '../../harness/line-client.js';

/** When nothing has come for this long, what is still missing is lost. None of it is counted as time. */
export const SILENCE_MS = 500;
/** By looks and not by the clock: whoever was not given the processor for a second has not heard a second of silence. */
const LOOK_MS = 50;
const MAX_EVENT_BYTES = 4 * 1024 * 1024;
/** Where the method of an event is looked for. */
const HEAD_BYTES = 100;
const DATA = Buffer.from('"data":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export interface CommandPlan {
  readonly argv: readonly string[];
  readonly times: number;
  readonly atOnce: number;
  /** Instead of SILENCE_MS, for one that is not expected to lose anything. */
  readonly patienceMs?: number;
}

export interface CommandCount {
  /** From the first request to the last thing that came, silences taken off. */
  readonly wallMs: number;
  /** Commands whose end was told. */
  readonly exits: number;
  /** Bytes of stdout that arrived. */
  readonly bytes: number;
}

interface Message {
  readonly method?: string;
  readonly params?: { readonly process_id?: string };
  readonly result?: { readonly process_id?: string };
  readonly error?: unknown;
}

export function runCommands(client: LineClient, sessionId: string, plan: CommandPlan): Promise<CommandCount> {
  return client.converse('no end of some commands', (talk) => {
    const run = new CommandRun(talk, sessionId, plan);
    return (chunk) => run.take(chunk);
  });
}

class CommandRun {
  readonly #talk: Talk<CommandCount>;
  readonly #plan: CommandPlan;
  readonly #sessionId: string;
  readonly #splitter: LineSplitter;
  readonly #watch: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #lastAt = this.#startedAt;
  #silentMs = 0;
  #silentLooks = 0;
  #started = 0;
  #over = 0;
  #exits = 0;
  #bytes = 0;
  /** Answered, and not ended as far as we know. */
  readonly #running = new Set<string>();
  /** Ended before the answer told that they had begun. */
  readonly #early = new Set<string>();

  constructor(talk: Talk<CommandCount>, sessionId: string, plan: CommandPlan) {
    this.#talk = talk;
    this.#sessionId = sessionId;
    this.#plan = plan;
    this.#splitter = new LineSplitter((bytes, start, end) => this.#line(bytes, start, end), {
      maxLineBytes: MAX_EVENT_BYTES,
      onOversize: () => this.#fail(new Error('an event is too long')),
    });
    this.#watch = setInterval(() => this.#look(), LOOK_MS).unref();
    for (let i = 0; i < Math.min(plan.atOnce, plan.times); i++) this.#start();
  }

  take(chunk: Buffer): void {
    this.#lastAt = performance.now();
    this.#silentLooks = 0;
    this.#splitter.push(chunk);
  }

  #start(): void {
    this.#started += 1;
    const params = { session_id: this.#sessionId, argv: this.#plan.argv, stdin: '' };
    this.#talk.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: this.#started, method: 'exec.start', params })}\n`,
    );
  }

  #line(bytes: Buffer, start: number, end: number): void {
    const head = bytes.toString('latin1', start, Math.min(end, start + HEAD_BYTES));
    if (head.includes('"exec.stdout"')) this.#bytes += dataBytes(bytes, start, end);
    else if (!head.includes('"exec.stderr"')) this.#message(bytes.toString('utf8', start, end));
  }

  #message(text: string): void {
    const message = JSON.parse(text) as Message;
    if (message.error !== undefined) return this.#fail(new Error(`a command was refused: ${text}`));
    const ended = message.method === 'exec.exit' ? message.params?.process_id : undefined;
    const begun = message.result?.process_id;
    if (ended !== undefined) {
      if (this.#running.delete(ended)) this.#finish();
      else this.#early.add(ended);
    } else if (begun !== undefined) {
      if (this.#early.delete(begun)) this.#finish();
      else this.#running.add(begun);
    }
  }

  #finish(): void {
    this.#exits += 1;
    this.#next();
  }

  #next(): void {
    this.#over += 1;
    if (this.#started < this.#plan.times) this.#start();
    else if (this.#over === this.#plan.times) this.#end();
  }

  /** Everything that runs and says nothing any more has been lost. */
  #look(): void {
    this.#silentLooks += 1;
    const patienceMs = this.#plan.patienceMs ?? SILENCE_MS;
    if (this.#silentLooks * LOOK_MS < patienceMs || this.#running.size === 0) return;
    const now = performance.now();
    this.#silentLooks = 0;
    this.#silentMs += now - this.#lastAt;
    this.#lastAt = now;
    const lost = this.#running.size;
    this.#running.clear();
    for (let i = 0; i < lost; i++) this.#next();
  }

  #end(): void {
    clearInterval(this.#watch);
    const wallMs = this.#lastAt - this.#startedAt - this.#silentMs;
    this.#talk.resolve({ wallMs, exits: this.#exits, bytes: this.#bytes });
  }

  #fail(error: Error): void {
    clearInterval(this.#watch);
    this.#talk.reject(error);
  }
}

/** How many bytes the `data` of an event stands for, where only newlines are escaped. */
export function dataBytes(bytes: Buffer, start: number, end: number): number {
  const key = bytes.indexOf(DATA, start);
  if (key === -1 || key >= end) return 0;
  const from = key + DATA.length;
  const to = bytes.indexOf(QUOTE, from);
  let escapes = 0;
  for (let at = bytes.indexOf(BACKSLASH, from); at !== -1 && at < to; at = bytes.indexOf(BACKSLASH, at + 2)) {
    escapes += 1;
  }
  return to - from - escapes;
}
