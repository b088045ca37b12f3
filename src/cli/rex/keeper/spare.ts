// One connection of a keeper: a rexd that has been started and a session that is open, waiting to be given to a call.

import { LocalError, toError } from '../../../base/errors.js';
import { deadline, withSignal } from '../../../base/deadline.js';
import { type CommandLink, openCommandLink } from '../../../client/rex/command-link.js';
import { type CompressionOffer, offerCompression } from '../../../client/rex/compression.js';
import { explainFailure } from '../../../client/rex/explain-failure.js';
import type { SessionFacts } from '../../../client/rex/rex-client.js';
import type { Link } from '../../../wire/transport/link.js';
import { LineSplitter } from '../../../wire/ndjson/line-splitter.js';
import type { KeeperSpec } from './spec.js';

const OPEN_MS = 20_000;
/** Whoever has it now did not end well; what it started is ended within the server's own grace. */
const CLOSE_MS = 8000;
const ALIVE_MS = 3000;
/** Calls that one server has served; then a fresh one takes its place. */
export const MAX_USES = 500;

type Answer = { readonly id?: unknown; readonly result?: unknown; readonly error?: { message?: string } };

export class Spare {
  readonly link: Link;
  /** Settles when the way to the server has ended. */
  readonly exited: Promise<unknown>;
  session: SessionFacts;
  idleSince = Date.now();
  readonly #spec: KeeperSpec;
  readonly #offer: CompressionOffer;
  #uses = 0;
  #asked = 0;

  /** Rejects with a ConnectError. */
  static async open(spec: KeeperSpec): Promise<Spare> {
    let link: CommandLink | undefined;
    try {
      link = await openCommandLink(spec.command, { cwd: '/' });
      const spare = new Spare(spec, link);
      await spare.#openSession();
      // What a server loads for its first command, it loads now: a third of what the first command would take.
      await spare.#ask('exec.list', { session_id: spare.session.session_id }, OPEN_MS);
      return spare;
    } catch (thrown) {
      const exit = await link?.close().then(() => link?.exited);
      throw explainFailure({
        alias: spec.alias,
        remote: spec.remote,
        error: toError(thrown),
        stderr: link?.stderr() ?? '',
        noise: link?.noise() ?? '',
        exitCode: exit?.code ?? undefined,
      });
    }
  }

  private constructor(spec: KeeperSpec, link: CommandLink) {
    this.#spec = spec;
    this.#offer = offerCompression(link, spec.compression);
    this.link = this.#offer.link;
    this.exited = link.exited;
    this.session = undefined as unknown as SessionFacts;
  }

  /** A connection over a network can be gone without a word. */
  async isAlive(): Promise<boolean> {
    try {
      await this.#ask('session.info', { session_id: this.session.session_id }, ALIVE_MS);
      return true;
    } catch {
      return false;
    }
  }

  /** Closes the session of the last call with all that it started, and opens the next. False when that cannot be. */
  async renew(): Promise<boolean> {
    this.#uses += 1;
    if (this.#uses >= MAX_USES) return false;
    try {
      // Refused when the call has closed it itself.
      await this.#ask('session.close', { session_id: this.session.session_id }, CLOSE_MS).catch(
        (thrown: unknown) => {
          if (!(thrown instanceof RefusedError)) throw thrown;
        },
      );
      await this.#openSession();
      this.idleSince = Date.now();
      return true;
    } catch {
      return false;
    }
  }

  async #openSession(): Promise<void> {
    const params = { ...this.#spec.open, ...this.#offer.params };
    const opened = (await this.#ask('session.open', params, OPEN_MS)) as SessionFacts;
    const { compression, ...session } = opened; // ours alone: a call speaks with us
    this.#offer.accept(compression);
    this.session = session;
  }

  /** What comes meanwhile and is no answer to this belongs to a call that is over. */
  async #ask(method: string, params: object, timeoutMs: number): Promise<unknown> {
    this.#asked += 1;
    const id = `keeper-${this.#asked}`;
    const { input, output } = this.link;
    let tell: (answer: Answer) => void = () => {};
    const answered = new Promise<Answer>((resolve) => (tell = resolve));
    const splitter = new LineSplitter((bytes, start, end) => {
      const answer = readAnswer(bytes.toString('utf8', start, end), id);
      if (answer !== undefined) tell(answer);
    });
    const onData = (chunk: Buffer): void => splitter.push(chunk);
    const lost = new AbortController();
    const onEnd = (): void => lost.abort(new LocalError('ended', 'the connection ended'));
    using limit = deadline(timeoutMs, { also: [lost.signal] });
    input.on('data', onData);
    input.on('error', onEnd);
    for (const event of ['end', 'close'] as const) input.on(event, onEnd);
    input.resume();
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    try {
      const { error, result } = await withSignal(answered, limit.signal);
      if (error !== undefined) throw new RefusedError(error.message ?? method);
      return result;
    } finally {
      input.off('data', onData);
      input.off('error', onEnd);
      for (const event of ['end', 'close'] as const) input.off(event, onEnd);
      input.pause();
    }
  }
}

class RefusedError extends LocalError {
  override readonly name = 'RefusedError';

  constructor(message: string) {
    super('refused', message);
  }
}

function readAnswer(line: string, id: string): Answer | undefined {
  if (!line.includes(id)) return undefined;
  try {
    const answer = JSON.parse(line) as Answer;
    return answer.id === id ? answer : undefined;
  } catch {
    return undefined;
  }
}
