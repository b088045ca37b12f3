// /exec: one command line by bash, from start to end, with nothing left behind.

import { deadline } from '../../base/deadline.js';
import { LaunchError } from '../../host/process/launch-error.js';
import { spawnProcess } from '../../host/process/spawn.js';
import { type CommandResult, fail } from '../result.js';
import { CapturedOutput } from '../shell/captured-output.js';
import { exitStatusOf } from '../shell/exit-status.js';
import { showExit } from '../shell/show-outcome.js';
import { environmentOf } from '../shell/shells.js';
import type { Command, CommandCall } from '../command.js';

/** A command that takes longer is ended, with all it has started. */
export const EXEC_TIMEOUT_MS = 120_000;

/** Both outputs are one, so that lines come in the order in which they were written. */
const MERGED = 'exec /bin/bash -c "$1" 2>&1';

export const execCommand: Command = {
  name: 'exec',
  group: 'state',
  usage: '/exec COMMAND',
  summary: 'run a command line by bash, for two minutes at most',
  run: (call) => exec(call),
};

export async function exec(call: CommandCall, timeoutMs = EXEC_TIMEOUT_MS): Promise<CommandResult> {
  const { line, session, runtime, signal, emit } = call;
  const command = [line.args, ...(line.body === undefined ? [] : [line.body])].join('\n').trim();
  if (command === '') return fail('COMMAND_UNSUPPORTED', 'Usage: /exec <command>');
  if (command.includes('\0')) return fail('INVALID_PAYLOAD', 'A command cannot contain a NUL character.');
  const cwd = runtime.files.workingDirectory(session);
  if (signal.aborted) return fail('CANCELLED', `Cancelled | cwd: ${cwd}`);
  using limit = deadline(timeoutMs, { also: [signal] });
  const output = new CapturedOutput({ spoolDir: runtime.spoolDir });
  const tell = (lines: string): void => {
    if (lines !== '') emit?.(lines);
  };
  try {
    await using child = await spawnProcess({
      argv: ['/bin/bash', '-c', MERGED, 'bash', command],
      cwd,
      env: environmentOf(runtime.agent, session.variables),
      stderr: 'none',
    });
    const stop = (): void => void child.close();
    limit.signal.addEventListener('abort', stop, { once: true });
    if (limit.signal.aborted) stop(); // while it was started
    for await (const chunk of child.stdout ?? []) {
      tell(output.push(chunk));
      await output.caughtUp;
    }
    const exit = await child.exited;
    limit.signal.removeEventListener('abort', stop);
    tell(output.end());
    if (output.spool !== undefined) await runtime.shells.keepSpool(session.topic.name, output.spool);
    const text = await output.text();
    const content = text === '' ? '(no output)' : text;
    if (signal.aborted) return { ok: false, code: 'CANCELLED', message: `Cancelled | cwd: ${cwd}`, content };
    if (limit.signal.aborted)
      return {
        ok: false,
        code: 'TIMEOUT',
        message: `Timed out after ${timeoutMs / 1000} s | cwd: ${cwd}`,
        content,
      };
    return showExit(exitStatusOf(exit), cwd, content);
  } catch (thrown) {
    if (!(thrown instanceof LaunchError)) throw thrown;
    if (thrown.code.startsWith('cwd_')) return fail('NOT_FOUND', `Cannot run in ${cwd}: ${thrown.message}`);
    return fail(thrown.code === 'arguments_too_long' ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR', thrown.message);
  }
}
