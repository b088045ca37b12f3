// One command by the daemon, in the words of the command line when there is no answer.

import { LocalError } from '../../base/errors.js';
import { TimeoutError } from '../../base/deadline.js';
import type { ExecResult, StringClient } from '../../client/string/string-client.js';
import { EXIT } from '../exit-codes.js';
import { FailedError } from '../failed-error.js';
import type { StringContext } from './context.js';

/** Verbs of the hub `agent` that are about where the client is. */
const OF_CLIENTS = /^\/(?:use|current|add|set-home)(?:\s|$)/u;

let calls = 0;

/** Rejects with a FailedError that says what can be done, or with the reason of the signal. */
export async function execute(
  context: StringContext,
  client: StringClient,
  topic: string,
  given: string,
  signal: AbortSignal,
): Promise<ExecResult> {
  try {
    let cmd = given;
    if (topic === 'agent' && OF_CLIENTS.test(given)) {
      const { answerHere, withWholePaths } = await import('./agent-here.js');
      const here = /^\/(?:use|current)/u.test(given) ? await answerHere(context, client, given) : undefined;
      if (here !== undefined) return here;
      cmd = withWholePaths(given);
    }
    calls += 1;
    const requestId =
      context.flags.value('request-id') ?? `cli-${process.pid}-${Date.now().toString(36)}-${calls}`;
    const { timeoutMs } = context;
    return await client.exec(topic, cmd, {
      requestId,
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  } catch (thrown) {
    signal.throwIfAborted();
    throw explain(thrown, context);
  }
}

/** What went wrong between us and the daemon, with what to do about it. */
export function explain(thrown: unknown, { config, timeoutMs }: StringContext): unknown {
  if (thrown instanceof TimeoutError && timeoutMs !== undefined)
    return new FailedError(
      `out of time after ${timeoutMs} ms; the command was called off`,
      undefined,
      EXIT.timeout,
      'TIMEOUT',
    );
  if (!(thrown instanceof LocalError) || thrown instanceof FailedError) return thrown;
  const hint = HINTS[thrown.code]?.(config.port);
  return hint === undefined ? thrown : new FailedError(thrown.message, hint, EXIT.failed, thrown.code);
}

const HINTS: Readonly<Record<string, (port: number) => string>> = {
  UNREACHABLE: () => 'Start it with: string daemon start',
  NOT_STRINGD: (port) => `Another program has port ${port}. Choose another one with --port or STRING_PORT.`,
  START_FAILED: () => 'See more with: string daemon foreground',
};
