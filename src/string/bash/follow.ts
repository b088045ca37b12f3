// A command in a shell that somebody waits for: until it has ended, wants input, or has used up its time.

import type { CommandCall } from '../command.js';
import type { CommandResult } from '../result.js';
import { type BashShell, CTRL_C } from '../shell/bash-shell.js';
import { type Foreground, isUntold } from '../shell/foreground.js';
import { showOutcome } from '../shell/show-outcome.js';
import type { Submission } from '../shell/submission.js';
import { waitForEnd, type WaitOptions } from '../shell/wait-for-end.js';

/** A command that takes longer goes on, but is no longer waited for. */
export const SUBMISSION_TIMEOUT_MS = 120_000;
/** After a Ctrl-C, before a command is said to go on all the same. */
export const INTERRUPT_WAIT_MS = 2000;

/** What there is to say of a command once it has ended, waits for input, or has used up its time. */
export async function follow(
  { runtime, session }: Pick<CommandCall, 'runtime' | 'session'>,
  shell: BashShell,
  submission: Submission,
  options: { readonly signal: AbortSignal } & Partial<WaitOptions>,
): Promise<CommandResult> {
  const { timeoutMs = SUBMISSION_TIMEOUT_MS } = options;
  const outcome = await waitForEnd(shell, submission, { ...options, timeoutMs });
  if (outcome.kind === 'cancelled') await breakOff(shell, submission);
  if (outcome.kind === 'lost') await shell.close();
  submission.emit = undefined;
  const output = submission.takeOutput();
  if (output.spool !== undefined) await runtime.shells.keepSpool(session.topic.name, output.spool);
  return showOutcome(outcome, { cwd: shell.cwd, output: await output.text(), timeoutMs });
}

/**
 * A Ctrl-C that comes while the shell is about to start its program reaches neither of them: so it is pressed once more.
 * But not for a program that has heard it: a second one would break off what it does to put things in order.
 */
async function breakOff(shell: BashShell, submission: Submission): Promise<void> {
  let pressed: Foreground | undefined;
  for (let turn = 0; turn < 2 && !submission.over; turn++) {
    const now = shell.foreground;
    if (turn === 0 || isUntold(pressed, now)) await shell.type(CTRL_C).catch(() => {}); // a shell that is gone has nothing to interrupt
    pressed = now;
    await waitForEnd(shell, submission, {
      timeoutMs: INTERRUPT_WAIT_MS / 2,
      signal: new AbortController().signal,
      endOnly: true,
    });
  }
}

/** Ctrl-C. What a command comes to that was told to end is no failure. */
export async function interrupt(
  call: CommandCall,
  shell: BashShell,
  submission: Submission,
): Promise<CommandResult> {
  await shell.type(CTRL_C);
  const result = await follow(call, shell, submission, {
    signal: call.signal,
    timeoutMs: INTERRUPT_WAIT_MS,
  });
  if (result.ok || !result.code.startsWith('EXIT_')) return result;
  return { ok: true, system: `Interrupted. ${result.message}`, content: result.content ?? '', done: true };
}
