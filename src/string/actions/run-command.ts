// A command of an action, by bash: from its start to its end, with nothing left behind, and what it has printed.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deadline } from '../../base/deadline.js';
import { makeFolders } from '../../host/make-folders.js';
import type { OutputPipe } from '../../host/process/output-pipe.js';
import { spawnProcess } from '../../host/process/spawn.js';
import { CapturedOutput } from '../shell/captured-output.js';
import { exitStatusOf } from '../shell/exit-status.js';
import { quoteForShell } from './fill-command.js';

/** Of what a template is given; what comes after that is read, and left out. */
export const MAX_COMMAND_OUTPUT_BYTES = 5 * 1024 * 1024;

/** Both outputs are one, also when bash has something to say about the script itself. */
const MERGED = 'exec /bin/bash -c "$0" bash "$@" 2>&1';

export interface CommandToRun {
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly large: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly spoolDir: string;
  readonly emit: ((chunk: string) => void) | undefined;
  /** Both outputs by themselves, for a template; else they are one, in the order in which they were written. */
  readonly apart: boolean;
}

export interface CommandRun {
  readonly ended: 'exit' | 'timeout' | 'cancelled';
  readonly status: number;
  /** As it is shown. */
  readonly output: CapturedOutput;
  readonly stdout: string;
  readonly stderr: string;
}

/** Rejects with LaunchError. */
export async function runCommand(command: CommandToRun): Promise<CommandRun> {
  const { signal, timeoutMs, spoolDir, emit, apart } = command;
  using limit = deadline(timeoutMs, { also: [signal] });
  using files = keepLarge(command);
  const output = new CapturedOutput({ spoolDir });
  const tell = (lines: string): void => {
    if (lines !== '') emit?.(lines);
  };
  const script = files.prelude + command.script;
  await using child = await spawnProcess({
    argv: [
      '/bin/bash',
      '-c',
      ...(apart ? [] : [MERGED]),
      script,
      ...(apart ? ['bash'] : []),
      ...command.args,
    ],
    cwd: command.cwd,
    env: { ...command.env },
    stderr: apart ? 'pipe' : 'none',
  });
  const stop = (): void => void child.close();
  if (limit.signal.aborted) stop();
  limit.signal.addEventListener('abort', stop, { once: true });
  const readAll = async (pipe: OutputPipe | undefined, kept: Buffer[]): Promise<void> => {
    let bytes = 0;
    for await (const chunk of pipe ?? []) {
      tell(output.push(chunk));
      const room = MAX_COMMAND_OUTPUT_BYTES - bytes;
      if (apart && room > 0) kept.push(Buffer.from(chunk.subarray(0, room)));
      bytes += chunk.length;
      await output.caughtUp;
    }
  };
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  await Promise.all([readAll(child.stdout, stdout), readAll(apart ? child.stderr : undefined, stderr)]);
  const exit = await child.exited;
  limit.signal.removeEventListener('abort', stop);
  tell(output.end());
  return {
    ended: signal.aborted ? 'cancelled' : limit.signal.aborted ? 'timeout' : 'exit',
    status: exitStatusOf(exit),
    output,
    stdout: Buffer.concat(stdout).toString('utf8'),
    stderr: Buffer.concat(stderr).toString('utf8'),
  };
}

/** Values that no environment can hold are read by bash from files of their own, which are gone when it has ended. */
function keepLarge({ large, spoolDir }: CommandToRun): Disposable & { readonly prelude: string } {
  const values = Object.entries(large);
  if (values.length === 0) return { prelude: '', [Symbol.dispose]: () => undefined };
  makeFolders(spoolDir);
  const folder = mkdtempSync(join(spoolDir, 'values-'));
  const lines = values.map(([name, value]) => {
    const file = join(folder, name);
    writeFileSync(file, value, { mode: 0o600 });
    return `IFS= read -r -d '' ${name} <${quoteForShell(file)}; `;
  });
  return {
    prelude: lines.join(''),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
