// `string --chanflow`: text in, text out. Blocks for String are executed, in order; everything else passes as it is.

import { LocalError } from '../../base/errors.js';
import { TimeoutError, withSignal } from '../../base/deadline.js';
import type { StringClient } from '../../client/string/string-client.js';
import { answerSegment, CHANNEL } from '../../string/chanflow/answer.js';
import { type CommandResult, fail } from '../../string/result.js';
import { ChanFlowDecoder, type Segment } from '../../wire/chanflow/decode.js';
import { printableLines } from '../colours.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import type { StringContext } from './context.js';
import { explain } from './execute.js';

/** As long as a command may wait for its turn and run, and then some. */
const ANSWER_TIMEOUT_MS = 600_000;

export async function filterChanFlow(context: StringContext, words: readonly string[]): Promise<number> {
  if (words[0] !== undefined)
    throw new UsageError(`--chanflow takes no argument "${words[0]}": it reads standard input`);
  const filter = new Filter(context, await context.client());
  const decoder = new ChanFlowDecoder(CHANNEL);
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const input = (process.stdin as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  for (;;) {
    const step = await withSignal(input.next(), context.signal);
    const text = decode(utf8, step.done === true ? undefined : step.value);
    for (const segment of decoder.push(text)) await filter.take(segment);
    if (step.done === true) break;
  }
  for (const segment of decoder.end()) await filter.take(segment);
  if (filter.isOutOfTime) return EXIT.timeout;
  return filter.isCut ? EXIT.failed : EXIT.ok;
}

class Filter {
  /** Whether an answer did not come. */
  isCut = false;
  /** Whether a block took too long: those after it may need what it has not done, and are not begun. */
  isOutOfTime = false;
  readonly #context: StringContext;
  readonly #client: StringClient;
  #isLineStart = true;

  constructor(context: StringContext, client: StringClient) {
    this.#context = context;
    this.#client = client;
  }

  async take(segment: Segment): Promise<void> {
    if (segment.kind === 'outside') return await this.#out(segment.raw);
    const written = await this.#answer(segment);
    const answer = process.stdout.isTTY ? printableLines(written) : written; // much of it is a stranger's
    await this.#out(this.#isLineStart ? answer : `\n${answer}`); // a tag begins its line
  }

  async #out(text: string): Promise<void> {
    await this.#context.out(text);
    if (text !== '') this.#isLineStart = text.endsWith('\n');
  }

  async #answer(segment: Exclude<Segment, { kind: 'outside' }>): Promise<string> {
    if (segment.kind === 'block') return await this.#ask(segment);
    return await answerSegment(segment, { run: () => Promise.reject(new Error('it is not to be executed')) });
  }

  /** In the words of the daemon, whose feedback this is. */
  async #ask(segment: Extract<Segment, { kind: 'block' }>): Promise<string> {
    const { signal, timeoutMs = ANSWER_TIMEOUT_MS } = this.#context;
    if (this.isOutOfTime)
      return await instead(segment, fail('CANCELLED', 'not begun: a block before it ran out of time'));
    await this.#client.ready().catch((thrown: unknown) => {
      throw explain(thrown, this.#context);
    });
    try {
      return await this.#client.chanflow(segment.raw, { signal, timeoutMs });
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof LocalError)) throw thrown;
      this.isCut = true;
      if (!(thrown instanceof TimeoutError))
        return await instead(segment, fail('TRANSPORT_ERROR', thrown.message));
      // We have hung up, and by that the daemon calls it off.
      this.isOutOfTime = true;
      const message = `out of time after ${timeoutMs} ms; the command was called off`;
      return await instead(segment, fail('TIMEOUT', message));
    }
  }
}

/** The answer to a block for which the daemon has none. */
async function instead(segment: Segment, result: CommandResult): Promise<string> {
  return await answerSegment(segment, { run: (topic) => Promise.resolve({ topic, result }) });
}

function decode(utf8: InstanceType<typeof TextDecoder>, bytes: Buffer | undefined): string {
  try {
    return bytes === undefined ? utf8.decode() : utf8.decode(bytes, { stream: true });
  } catch {
    throw new UsageError('standard input is not valid UTF-8');
  }
}
