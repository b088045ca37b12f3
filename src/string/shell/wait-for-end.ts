// Waits until a command in a shell has ended, or wants something to be typed, or time is up.

import type { BashShell } from './bash-shell.js';
import type { Completion, Submission } from './submission.js';

/** How often a shell is looked at while a command runs. */
const LOOK_MS = 200;
/** A program that reads the terminal and has printed nothing for so long is waiting for somebody. Reported well before 3 s. */
export const QUIET_BEFORE_WAITING_MS = 1000;
/** The same where the kernel does not say who reads (a password asked for by sudo), if a prompt stands there. */
export const QUIET_PROMPT_MS = 2000;

/** Looks at a shell that is at its prompt without a word, before it is given up: the word may be on its way to us. */
const LOST_LOOKS = 5;

export type WaitOutcome =
  | ({ readonly kind: 'ended' } & Completion)
  | { readonly kind: 'waiting' }
  /** The shell is at its prompt and has not said that the command has ended: it cannot any more. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' };

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** For programs that listen to the terminal while they work (ssh, servers with keys): only the end counts. */
  readonly endOnly?: boolean;
}

export async function waitForEnd(
  shell: BashShell,
  submission: Submission,
  options: WaitOptions,
): Promise<WaitOutcome> {
  const { timeoutMs, signal, endOnly = false } = options;
  let stop = (): void => {};
  const interrupted = new Promise<WaitOutcome>((resolve) => {
    let prompts = 0;
    // Where we were held up ourselves, what the shell has said meanwhile is heard before it is judged by its silence.
    const look = setInterval(() => {
      if (stateOf(shell, submission) === 'busy') prompts = 0;
      else setImmediate(judge);
    }, LOOK_MS);
    const judge = (): void => {
      const state = stateOf(shell, submission);
      prompts = state === 'prompt' ? prompts + 1 : 0;
      if (prompts >= LOST_LOOKS) resolve({ kind: 'lost' });
      if (!endOnly && state === 'waiting') resolve({ kind: 'waiting' });
    };
    const limit = setTimeout(() => setImmediate(() => resolve({ kind: 'timeout' })), timeoutMs);
    const cancel = (): void => resolve({ kind: 'cancelled' });
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    stop = () => {
      clearInterval(look);
      clearTimeout(limit);
      signal.removeEventListener('abort', cancel);
    };
  });
  try {
    const ended = submission.ended.then((completion): WaitOutcome => ({ kind: 'ended', ...completion }));
    return await Promise.race([ended, interrupted]);
  } finally {
    stop();
  }
}

function stateOf(shell: BashShell, submission: Submission): 'busy' | 'waiting' | 'prompt' {
  const quietMs = performance.now() - submission.lastActivityMs;
  if (submission.completed || quietMs < QUIET_BEFORE_WAITING_MS) return 'busy';
  const waits = shell.waitsForInput ?? (quietMs >= QUIET_PROMPT_MS && submission.output.pending !== '');
  if (!waits) return 'busy';
  return shell.isAtPrompt ? 'prompt' : 'waiting';
}
