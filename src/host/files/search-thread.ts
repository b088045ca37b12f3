// Regular expressions run in a thread of their own: some take for ever on a line of thirty letters, and only a thread
// can be stopped.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { deadline, withSignal } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import { Lane } from '../../base/lane.js';
import { InvalidPatternError, PatternTooSlowError } from './errors.js';
import type { Found } from './search-text.js';

/** How long one batch of lines may take, once the thread runs. Honest patterns take milliseconds. */
export const MAX_BATCH_MS = 3000;
/** Searches with a thread at the same time; others wait for their turn. */
export const MAX_SEARCH_THREADS = 2;
/** Searches that wait for a thread; past it they are refused. */
export const MAX_WAITING_SEARCHES = 32;
/** What a thread may use beside what it is given to search. */
const MAX_THREAD_MB = 64;

const lanes = Array.from(
  { length: MAX_SEARCH_THREADS },
  () => new Lane({ maxWaiting: MAX_WAITING_SEARCHES / 2 }),
);

/** Runs `work` with a thread of its own, when there is one to be had. */
export async function withThread<T>(
  pattern: RegExp,
  signal: AbortSignal | undefined,
  work: (thread: SearchThread) => Promise<T>,
): Promise<T> {
  const lane = lanes.reduce((best, next) => (load(next) < load(best) ? next : best));
  return await lane.run(async () => {
    await using thread = new SearchThread(pattern);
    return await work(thread);
  }, signal);
}

function load(lane: Lane): number {
  return lane.waiting + (lane.busy ? 1 : 0);
}

/** Bun's engine tries a million ways and then says "no match", as if there were none. What took so long may be that. */
const GIVEN_UP_MS = 50;
/** The line in which it repeats a group takes it a second for each of these, where Node's refuses at once. */
const MAX_REPEATED_CHARS = 1024 * 1024;

/** A text, not a module: the executables are one file each, and a thread starts from a file or from a text. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { isAscii, isUtf8 } = require('node:buffer');
const SILENT = process.versions.bun !== undefined;
const REPEATS = SILENT && /\\)[*+{]/.test(workerData.source);
const pattern = new RegExp(workerData.source, workerData.flags);
parentPort.on('message', ({ bytes, ranges, most }) => {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  parentPort.postMessage(ranges.map(([from, to]) => find(all.subarray(from, to), most)));
});
function find(content, most) {
  const hits = [];
  let passedBy = 0;
  const whole = isAscii(content) ? content.latin1Slice() : undefined;
  for (let start = 0, line = 1; start < content.length && hits.length < most; line++) {
    const newline = content.indexOf(10, start);
    const next = newline === -1 ? content.length : newline;
    const end = next > start && content[next - 1] === 13 ? next - 1 : next;
    const text = whole === undefined ? content.utf8Slice(start, end) : whole.slice(start, end);
    let found = null;
    if (REPEATS && text.length > ${MAX_REPEATED_CHARS}) {
      passedBy += 1;
      start = next + 1;
      continue;
    }
    const startedMs = SILENT ? performance.now() : 0;
    try {
      found = pattern.exec(text);
      // An engine that gives up and does not say so takes its time before it does.
      if (SILENT && found === null && performance.now() - startedMs > ${GIVEN_UP_MS}) passedBy += 1;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error; // no line is too long for a pattern that is wrong
      passedBy += 1;
    }
    if (found !== null) {
      const ahead = whole === undefined ? bytesAhead(content.subarray(start, end), text, found.index) : found.index;
      hits.push({ line, start, at: Math.min(start + ahead, end) });
    }
    start = next + 1;
  }
  return { hits, passedBy };
}
// Of what is no UTF-8 the text is longer than the bytes, or shorter: the first byte is looked for that adds a character.
function bytesAhead(bytes, text, index) {
  if (isUtf8(bytes)) return Buffer.byteLength(text.slice(0, index));
  let [low, high] = [0, bytes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bytes.utf8Slice(0, middle + 1).length > index) high = middle;
    else low = middle + 1;
  }
  return low;
}
parentPort.postMessage('ready');
`;

export class SearchThread implements AsyncDisposable {
  readonly #pattern: RegExp;
  readonly #worker: Worker;
  readonly #ready: Promise<unknown>;

  constructor(pattern: RegExp) {
    this.#pattern = pattern;
    this.#worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { source: pattern.source, flags: pattern.flags },
      resourceLimits: { maxOldGenerationSizeMb: MAX_THREAD_MB },
      env: {},
      execArgv: [],
    });
    this.#worker.on('error', () => {}); // told to whoever waits for an answer
    this.#ready = once(this.#worker, 'message');
    this.#ready.catch(() => {}); // the same
  }

  /** One call at a time. */
  async find(
    bytes: Uint8Array,
    ranges: readonly (readonly [from: number, to: number])[],
    most: number,
    limits: { readonly ms: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Found[]> {
    const also = limits.signal === undefined ? [] : [limits.signal];
    using whole = deadline(limits.ms, { reason: () => new PatternTooSlowError(limits.ms), also });
    try {
      // A busy machine takes its time to start it, which is no fault of the pattern.
      await withSignal(this.#ready, whole.signal);
      const answer = once(this.#worker, 'message') as Promise<[Found[]]>;
      this.#worker.postMessage({ bytes, ranges, most }, []);
      using batch = deadline(MAX_BATCH_MS, {
        reason: () => new PatternTooSlowError(MAX_BATCH_MS),
        also: [whole.signal],
      });
      const [found] = await withSignal(answer, batch.signal);
      return found;
    } catch (thrown) {
      if (whole.signal.aborted || thrown instanceof PatternTooSlowError) throw thrown;
      // Out of memory, or an expression that only now turns out to be too large.
      throw new InvalidPatternError(this.#pattern.source, toError(thrown).message);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
