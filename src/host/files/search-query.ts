// What is looked for: bytes as they are, or a regular expression line by line.

import { toError } from '../../base/errors.js';
import { Needle } from './byte-finder.js';
import { InvalidPatternError, PatternTooSlowError } from './errors.js';
import { encodeName } from './names.js';
import { findLiteral, type Found } from './search-text.js';
import { Turns } from './turns.js';

/** Longer than anybody writes by hand; an expression costs time by its length before it matches anything. */
export const MAX_QUERY_CHARS = 4096;

export interface Query {
  readonly text: string;
  readonly regex?: boolean;
  /** Default true. */
  readonly caseSensitive?: boolean;
}

/** Of each range of the bytes the first `most` lines that match. */
export type Finder = (
  bytes: Buffer,
  ranges: readonly (readonly [from: number, to: number])[],
  most: number,
) => Promise<readonly Found[]>;

export async function withFinder<T>(
  query: Query,
  until: number,
  signal: AbortSignal | undefined,
  work: (finder: Finder) => Promise<T>,
): Promise<T> {
  const { text, regex = false, caseSensitive = true } = query;
  if (text === '') throw new InvalidPatternError(text, 'empty');
  if (text.length > MAX_QUERY_CHARS) {
    throw new InvalidPatternError(text, `longer than ${MAX_QUERY_CHARS} characters`);
  }
  if (!regex && /[\n\r]/.test(text)) throw new InvalidPatternError(text, 'files are searched line by line');
  if (!regex && caseSensitive) {
    return await work(literalFinder(encodeName(text), until, signal));
  }
  const pattern = compile(
    regex ? text : text.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`),
    caseSensitive,
  );
  // Loaded here: threads cost every other call a millisecond of its first.
  const { withThread } = await import('./search-thread.js');
  return await withThread(pattern, signal, (thread) =>
    work((bytes, ranges, most) =>
      thread.find(bytes, ranges, most, { ms: until - performance.now(), signal }),
    ),
  );
}

/** In turns, and until the time is over: a file of one letter and a query of the same take a while. */
function literalFinder(text: Buffer, until: number, signal: AbortSignal | undefined): Finder {
  const needle = new Needle(text);
  const began = performance.now();
  const turns = new Turns(signal);
  const pause = async (): Promise<void> => {
    await turns.pass();
    if (performance.now() >= until) throw new PatternTooSlowError(until - began);
  };
  const pauseIfDue = (): Promise<void> | undefined => (turns.isOver ? pause() : undefined);
  return async (bytes, ranges, most) => {
    const found: Found[] = [];
    for (const [from, to] of ranges) {
      if (turns.isOver) await pause();
      const hits = await findLiteral(bytes.subarray(from, to), needle, most, pauseIfDue);
      found.push({ hits, passedBy: 0 });
    }
    return found;
  };
}

/** With the flag for Unicode where it can be had: without it a needless backslash is no error, and people write them. */
function compile(source: string, caseSensitive: boolean): RegExp {
  const flags = caseSensitive ? '' : 'i';
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    try {
      return new RegExp(source, flags);
    } catch (thrown) {
      throw new InvalidPatternError(source, toError(thrown).message);
    }
  }
}
