// A call with --json that has no answer to print: what went wrong, in the same shape.

import { LocalError, toError } from '../../base/errors.js';
import { parseTopic } from '../../string/topic.js';
import { FailedError } from '../failed-error.js';
import { InterruptedError } from '../interrupts.js';
import { ReaderGoneError } from '../standard-output.js';
import { splitArguments } from './usage.js';

/** One line, or undefined for what is no failure of the call. `topic` is null where none was named. */
export function describeFailure(thrown: unknown, topic: string | null): string | undefined {
  const error = toError(thrown);
  if (
    [error, error.cause].some((each) => each instanceof InterruptedError || each instanceof ReaderGoneError)
  )
    return undefined;
  const code = error instanceof LocalError ? error.code.toUpperCase() : 'INTERNAL_ERROR';
  const hint = error instanceof FailedError && error.hint !== undefined ? { hint: error.hint } : {};
  return `${JSON.stringify({ ok: false, topic, code, content: error.message, ...hint })}\n`;
}

/** Whether standard output is for JSON, also when not all of the arguments make sense. */
export function wantsJson(args: readonly string[]): boolean {
  const { flags, words } = splitArguments(args);
  const [first, second] = words;
  // Of these standard output is spoken for.
  if (flags.includes('--mcp') || flags.includes('--chanflow') || (first === 'mcp' && second === undefined))
    return false;
  const isDaemon = flags.includes('--daemon') || first === 'daemon';
  return flags.includes('--json') || (isDaemon && words.includes('--json'));
}

/** The topic that a call is for, as far as it can be told. */
export function topicOf(args: readonly string[]): string | null {
  const [first] = splitArguments(args).words;
  if (first === undefined || first === 'daemon') return null;
  return first.startsWith('/') || first === '-' ? 'main' : (parseTopic(first)?.name ?? null);
}
