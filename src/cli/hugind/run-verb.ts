// One method of the bridge, called by a person: its params from words and flags, its result in words or as JSON.

import { toError } from '../../base/errors.js';
import { callMethod, type CallContext } from '../../hugind/call.js';
import { type ErrorCode, type HugindError, toFailure } from '../../hugind/errors.js';
import { handlers } from '../../hugind/handlers.js';
import { findHome } from '../../hugind/home.js';
import { Turns } from '../../hugind/turns.js';
import { EarlyOutput } from '../early-output.js';
import { EXIT } from '../exit-codes.js';
import { FailedError } from '../failed-error.js';
import { type Flags, UsageError } from '../flags.js';
import { Interrupts } from '../interrupts.js';
import { showProgress } from './show-progress.js';
import { showResult } from './show-result.js';
import type { VerbRow } from './verbs.js';

/** A token is one line; whoever pipes more has the wrong file. */
export const MAX_TOKEN_INPUT_BYTES = 4096;

const EXITS: Partial<Record<ErrorCode, number>> = {
  invalid_params: EXIT.usage,
  timeout: EXIT.timeout,
};

export async function runVerb(row: VerbRow, words: readonly string[], flags: Flags): Promise<number> {
  const [least, most] = row.count;
  if (words.length < least)
    throw new UsageError(`hugind ${row.noun} ${row.verb} ${row.words}: something is missing`);
  if (words.length > most) throw new UsageError(`unexpected argument "${words[most]}"`);
  using interrupts = new Interrupts();
  const params = {
    ...row.params(words, flags),
    ...(flags.has('hf-token-stdin') && { hf_token: await readToken(interrupts.signal) }),
  };
  const json = flags.has('json');
  const output = new EarlyOutput();
  const print = async (text: string): Promise<void> => await output.write('stdout', Buffer.from(`${text}\n`));
  const progress = showProgress(json);
  const ctx: CallContext = {
    home: findHome(process.env),
    env: process.env,
    turns: new Turns(),
    signal: interrupts.signal,
    emit: progress.emit,
  };
  try {
    const result = await callMethod(handlers, `${row.noun}.${row.verb}`, params, ctx).finally(progress.end);
    await print(json ? JSON.stringify(result) : showResult(`${row.noun}.${row.verb}`, result));
    return result['valid'] === false ? EXIT.failed : EXIT.ok;
  } catch (thrown) {
    interrupts.signal.throwIfAborted();
    const { code, message } = toFailure(thrown);
    if (json) await print(JSON.stringify({ error: { code, message } }));
    // What nobody foresaw is told with where it happened.
    if (code === 'internal_error' && (thrown as HugindError).code !== code) throw toError(thrown);
    throw new FailedError(message, undefined, EXITS[code] ?? EXIT.failed, code);
  }
}

async function readToken(signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (bytes > MAX_TOKEN_INPUT_BYTES)
      throw new UsageError(`--hf-token-stdin: a token has at most ${MAX_TOKEN_INPUT_BYTES} bytes`);
    chunks.push(chunk);
  }
  const token = Buffer.concat(chunks).toString('utf8').trim();
  if (token === '') throw new UsageError('--hf-token-stdin: nothing came on standard input');
  return token;
}
