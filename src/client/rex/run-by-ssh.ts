// One command on a host by the user's own ssh, without a rexd: to look at the host, and to bring a rexd there.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { deadline, TimeoutError } from '../../base/deadline.js';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import { quoteWord } from './quote-word.js';
import { sshCommand } from './ssh-command.js';
import type { SshTarget } from './target.js';

/** Of what it prints, on each stream; the rest is left out. */
export const MAX_PRINTED_CHARS = 256 * 1024;

/** An ssh that is stopped, or waits for a dead agent, does not heed a request to end. */
const KILL_AFTER_MS = 1000;

export interface SshRun {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SshRunOptions {
  readonly input?: Buffer;
  /** Bytes of the input that ssh has taken. */
  readonly onSent?: (bytes: number) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** See SshOptions. */
  readonly controlFolder?: string | false | undefined;
}

/** `script` for sh, with `words` as $1, $2, …. Rejects with a LocalError `cannot_start` when there is no ssh. */
export async function runBySsh(
  target: SshTarget,
  script: string,
  words: readonly string[],
  options: SshRunOptions,
): Promise<SshRun> {
  const command = ['sh', '-c', script, 'rex', ...words].map(quoteWord).join(' ');
  const [program = 'ssh', ...args] = sshCommand(target, { command, controlFolder: options.controlFolder });
  const child = spawn(program, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {}); // told by the exit code
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      if (printed[stream].length < MAX_PRINTED_CHARS) printed[stream] += text;
    });
  using limit = deadline(options.timeoutMs, { also: [options.signal] });
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    child.kill('SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  };
  limit.signal.addEventListener('abort', stop, { once: true });
  try {
    await once(child, 'spawn');
    const ended = once(child, 'close');
    await send(child.stdin, options);
    const [code] = (await ended) as [number | null];
    limit.signal.throwIfAborted();
    return { code: code ?? undefined, ...printed };
  } catch (thrown) {
    options.signal.throwIfAborted();
    if (thrown instanceof TimeoutError)
      throw new LocalError('too_slow', `no answer within ${options.timeoutMs / 1000} s`, { cause: thrown });
    if (errnoOf(thrown) === undefined) throw thrown;
    const why = errnoOf(thrown) === 'ENOENT' ? 'there is no such program' : toError(thrown).message;
    throw new LocalError('cannot_start', `${program} cannot be started: ${why}`, { cause: thrown });
  } finally {
    clearTimeout(timer);
    limit.signal.removeEventListener('abort', stop);
  }
}

const PIECE_BYTES = 64 * 1024;

/** At the pace of ssh; who does not read any more has ended, and tells why by its exit. */
async function send(stdin: NodeJS.WritableStream, options: SshRunOptions): Promise<void> {
  const { input = Buffer.alloc(0), onSent } = options;
  for (let at = 0; at < input.length; at += PIECE_BYTES) {
    const piece = input.subarray(at, at + PIECE_BYTES);
    const failed = await new Promise<boolean>((resolve) => {
      stdin.write(piece, (error) => resolve(error !== undefined && error !== null));
    });
    if (failed) break;
    onSent?.(at + piece.length);
  }
  stdin.end();
}
