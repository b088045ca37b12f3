// A prompt in a topic: commands typed, or read line by line from a pipe, each executed before the next.

import { join } from 'node:path';
import { newAbort } from '../../base/abort.js';
import { LocalError, toError } from '../../base/errors.js';
import type { StringClient } from '../../client/string/string-client.js';
import { parseTopic } from '../../string/topic.js';
import { printableLines } from '../colours.js';
import { EXIT } from '../exit-codes.js';
import { FailedError } from '../failed-error.js';
import { ReaderGoneError } from '../standard-output.js';
import type { StringContext } from './context.js';
import { execute } from './execute.js';
import { describeFailure } from './json-failure.js';
import { CommandLines } from './repl-input.js';
import { showResult } from './show-result.js';

/** Ends what runs, not the prompt. */
class CalledOffError extends LocalError {
  override readonly name = 'CalledOffError';

  constructor() {
    super('called_off', 'called off');
  }
}

export async function repl(context: StringContext, topic: string): Promise<number> {
  const prompt = new Prompt(context, await context.client(), topic);
  if (!process.stdin.isTTY) return await (await import('./repl-pipe.js')).runPiped(context, prompt);
  const { History } = await import('./repl-history.js');
  const history = await History.open(join(context.config.root, 'history'));
  return await (await import('./repl-terminal.js')).runTyped(context, prompt, history);
}

export class Prompt {
  /** As it was written. */
  topic: string;
  /** Whether a command that failed was among those executed. */
  hasFailed = false;
  readonly lines = new CommandLines();
  readonly #context: StringContext;
  readonly #client: StringClient;
  #running: AbortController | undefined;

  constructor(context: StringContext, client: StringClient, topic: string) {
    this.#context = context;
    this.#client = client;
    this.topic = topic;
  }

  /** False when it was the last. Rejects only when nobody reads the answers, or the whole call is interrupted. */
  async take(line: string): Promise<boolean> {
    const isFirst = !this.lines.isOpen;
    const word = line.trim();
    if (isFirst && word === '') return true;
    if (isFirst && (word === '/exit' || word === '/quit')) return false;
    const [, asked] = /^\/topic(?:\s+(\S+))?$/u.exec(word) ?? [word, word];
    if (isFirst && asked !== word) {
      await this.#move(asked);
      return true;
    }
    const pushed = this.lines.push(line, this.#isShell);
    if (pushed.kind === 'too-large')
      await this.#fail(new LocalError('INVALID_PAYLOAD', 'the command is too large'));
    if (pushed.kind === 'command') await this.#execute(pushed.text);
    return true;
  }

  /** What was begun when the input ended. */
  async end(): Promise<void> {
    const { awaited } = this.lines;
    const rest = this.lines.end();
    // Half of a text may have come, as when the other end of the pipe has failed.
    if (awaited !== undefined) {
      const message = `the input ended before the line ${awaited}: the command was not executed`;
      return await this.#fail(new LocalError('INVALID_PAYLOAD', message));
    }
    if (rest !== undefined) await this.#execute(rest);
  }

  /** False when nothing runs. */
  callOff(): boolean {
    this.#running?.abort(new CalledOffError());
    return this.#running !== undefined;
  }

  get #isShell(): boolean {
    return parseTopic(this.topic)?.type === 'bash';
  }

  async #move(asked: string | undefined): Promise<void> {
    if (asked === undefined) this.#context.say(`This is ${this.topic}; /topic NAME goes to another.`);
    else if (parseTopic(asked) === undefined)
      await this.#fail(new LocalError('INVALID_TARGET', `invalid topic: ${asked}`));
    else this.topic = asked;
  }

  async #execute(cmd: string): Promise<void> {
    const context = this.#context;
    const abort = newAbort();
    const stop = (): void => abort.abort(context.signal.reason);
    context.signal.addEventListener('abort', stop, { once: true });
    if (context.signal.aborted) stop();
    this.#running = abort;
    try {
      const result = await execute(context, this.#client, this.topic, cmd, abort.signal);
      if ((await showResult(context, this.topic, result)) !== EXIT.ok) this.hasFailed = true;
    } catch (thrown) {
      context.signal.throwIfAborted();
      if (thrown instanceof ReaderGoneError) throw thrown;
      await this.#fail(toError(thrown));
    } finally {
      this.#running = undefined;
      context.signal.removeEventListener('abort', stop);
    }
  }

  async #fail(error: Error): Promise<void> {
    this.hasFailed = true;
    const line = this.#context.json
      ? describeFailure(error, parseTopic(this.topic)?.name ?? null)
      : undefined;
    if (line !== undefined) await this.#context.out(line);
    this.#context.say(printableLines(`string: ${explain(error)}`));
  }
}

function explain(error: Error): string {
  const hint = error instanceof FailedError && error.hint !== undefined ? `\n${error.hint}` : '';
  return `${error instanceof LocalError ? error.message : (error.stack ?? error.message)}${hint}`;
}
