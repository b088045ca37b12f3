// What is sent to a bash topic: text for its shell, or `//…` for us.

import { TimeoutError } from '../../base/deadline.js';
import { LocalError, toError } from '../../base/errors.js';
import { parseCommandLine } from '../command-line.js';
import type { CommandCall } from '../command.js';
import { type CommandResult, fail, succeed } from '../result.js';
import type { BashShell } from '../shell/bash-shell.js';
import { follow } from './follow.js';
import { META_COMMANDS } from './meta-commands.js';

export async function runInShell(call: Omit<CommandCall, 'line'>, text: string): Promise<CommandResult> {
  const line = text.trimStart().startsWith('//') ? parseCommandLine(text) : undefined;
  if (line !== undefined) {
    const meta = META_COMMANDS.get(line.verb);
    if (meta === undefined)
      return fail('COMMAND_UNSUPPORTED', `Unknown bash meta-command: //${line.word}`, 'Use //help.');
    return await guarded(() => meta.run({ ...call, line }));
  }
  return await guarded(() => submit(call, text.trim()));
}

/** `/open bash:x` from elsewhere: the shell is there, and where it is. */
export async function openShell(call: Omit<CommandCall, 'line'>): Promise<CommandResult> {
  const { runtime, session } = call;
  return await guarded(async () => {
    const shell = await runtime.shells.ensure(session);
    return succeed(`Opened ${session.topic.name}`, `cwd: ${shell.cwd}\npid: running (${shell.pid ?? 0})`);
  });
}

async function submit(call: Omit<CommandCall, 'line'>, text: string): Promise<CommandResult> {
  const { runtime, session, signal, emit } = call;
  if (text.includes('\0')) return fail('INVALID_PAYLOAD', 'A command cannot contain a NUL character.');
  const shell = await runtime.shells.ensure(session);
  if (shell.current !== undefined) return busy(shell);
  const submission = await shell.submit(text, emit);
  return await follow(call, shell, submission, { signal });
}

function busy(shell: BashShell): CommandResult {
  const waits = shell.waitsForInput === true;
  return fail(
    'BUSY',
    `The shell is still busy with another command (state: ${waits ? 'waiting_for_input' : 'running'}).`,
    waits
      ? 'Answer it with //send TEXT, or end it with //interrupt.'
      : '//tail shows its output, //interrupt ends it.',
  );
}

/** A shell that cannot be had is told as such. */
async function guarded(run: () => CommandResult | Promise<CommandResult>): Promise<CommandResult> {
  try {
    return await run();
  } catch (thrown) {
    const error = toError(thrown);
    if (error instanceof LocalError && error.code === 'shell_busy') return fail('BUSY', error.message);
    if (error instanceof LocalError && error.code === 'too_many_shells')
      return fail('POLICY_DENIED', error.message);
    if (error instanceof LocalError && error.code === 'too_many_variables')
      return fail('INVALID_PAYLOAD', error.message);
    if (error instanceof TimeoutError) return fail('INTERNAL_ERROR', 'The shell did not start in time.');
    if (error instanceof LocalError) return fail('INTERNAL_ERROR', `No shell: ${error.message}`);
    throw error;
  }
}
