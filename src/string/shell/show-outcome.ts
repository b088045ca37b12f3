// What became of a command in a shell, as a result.

import type { CommandResult } from '../result.js';
import type { WaitOutcome } from './wait-for-end.js';

const NO_OUTPUT = '(no output)';

export interface Shown {
  readonly cwd: string;
  readonly output: string;
  readonly timeoutMs: number;
}

/** `exit: N | cwd: /path`, and the output below it. Only an exit of 0 is a success. */
export function showOutcome(outcome: WaitOutcome, { cwd, output, timeoutMs }: Shown): CommandResult {
  const content = output === '' ? NO_OUTPUT : output;
  switch (outcome.kind) {
    case 'ended': {
      const { status, shellEnded } = outcome;
      return showExit(
        status,
        cwd,
        shellEnded ? `${content}\n(the shell has ended; the next command starts a new one)` : content,
      );
    }
    case 'waiting':
      return {
        ok: false,
        code: 'WAITING_FOR_INPUT',
        message: `state: waiting_for_input | cwd: ${cwd}`,
        context: ['Answer with //send TEXT, end it with //interrupt, or let it go on with //wait.'],
        content,
      };
    case 'lost':
      return {
        ok: false,
        code: 'SHELL_LOST',
        message: `The shell cannot tell any more when a command has ended, and was closed | cwd: ${cwd}`,
        context: [
          'The next command starts a new one. What takes descriptors or builtins from the shell itself (ulimit -n, enable -n) belongs in a subshell: (ulimit -n 5; …).',
        ],
        content,
      };
    case 'timeout':
      return {
        ok: false,
        code: 'TIMEOUT',
        message: `state: running | cwd: ${cwd}`,
        context: [
          `Not ended after ${timeoutMs / 1000} s. //wait waits on, //tail shows its output, //interrupt ends it.`,
        ],
        content,
      };
    default:
      return { ok: false, code: 'CANCELLED', message: `Cancelled | cwd: ${cwd}`, content };
  }
}

export function showExit(status: number, cwd: string, content: string): CommandResult {
  const message = `exit: ${status} | cwd: ${cwd}`;
  if (status === 0) return { ok: true, system: message, content };
  return { ok: false, code: `EXIT_${status}`, message, content };
}
