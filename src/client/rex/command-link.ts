// A link to a rexd that a command starts: here, or at the other end of ssh.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import { type StreamLink, LINGER_MS } from '../../wire/transport/link.js';
import { childLink } from '../../wire/transport/stdio.js';
import { SkipNoise } from './skip-noise.js';

/** Of what the command says on stderr, the end is kept: that is where ssh tells why it gave up. */
export const MAX_STDERR_CHARS = 8 * 1024;
/** How long its stderr is listened to after its end. */
const LAST_WORDS_MS = 250;

export interface CommandLink extends StreamLink {
  readonly pid: number;
  /** What was printed before the protocol began. */
  noise(): string;
  /** The end of what it has said on stderr. */
  stderr(): string;
  /** Settles when the command has ended. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** It may have to stay when the link is gone: it is not told to end, and not waited for any longer than the link is. */
  readonly lingers?: boolean;
}

/** Resolves when the command runs, which is not to say that a server answers. Rejects with a LocalError if it cannot. */
export async function openCommandLink(
  command: readonly string[],
  { lingers = false, ...options }: CommandOptions = {},
): Promise<CommandLink> {
  const [program = '', ...args] = command;
  // In a session of its own: Ctrl-C at the terminal is ours to hear and to pass on, and nobody can ask questions there.
  const child = spawn(program, args, { ...options, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  await started(child, program);
  const exited = ended(child);
  const filter = new SkipNoise();
  child.stdout.pipe(filter);
  child.stdout.once('error', (error) => filter.destroy(error));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
  });
  const link = childLink({ stdin: child.stdin, stdout: filter }, program);
  return {
    ...link,
    pid: child.pid ?? 0,
    noise: () => filter.noise,
    stderr: () => stderr.trim(),
    exited,
    close: async () => {
      await link.close();
      await (lingers ? letGo(child, exited) : end(child, exited));
    },
  };
}

/** Its last words may come a moment after its end; somebody who has inherited stderr may keep it for good. */
async function ended(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
): Promise<Awaited<CommandLink['exited']>> {
  const said = once(child.stderr, 'close').catch(() => {});
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    // A turn later: who was kept from the processor for so long finds the time over before it has read what is there.
    timer = setTimeout(() => setImmediate(resolve), LAST_WORDS_MS);
  });
  await Promise.race([said, late]);
  clearTimeout(timer);
  child.stderr.destroy(); // an ssh that stays for the next connection may have kept it, and us
  return { code, signal };
}

/** It ends with its input if it has nothing to stay for. */
async function letGo(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  exited: Promise<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([exited, new Promise((resolve) => (timer = setTimeout(resolve, LINGER_MS)))]);
  clearTimeout(timer);
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
}

/** The end of its input ends it. One that does not heed that is told twice. */
async function end(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  exited: Promise<unknown>,
): Promise<void> {
  const timers = [
    setTimeout(() => child.kill('SIGTERM'), LINGER_MS),
    setTimeout(() => child.kill('SIGKILL'), 3 * LINGER_MS),
  ];
  await exited;
  for (const timer of timers) clearTimeout(timer);
}

async function started(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  program: string,
): Promise<void> {
  child.stdin.on('error', () => {}); // told by the link
  try {
    await once(child, 'spawn');
  } catch (thrown) {
    const missing = errnoOf(thrown) === 'ENOENT';
    const why = missing ? 'there is no such program' : toError(thrown).message;
    throw new LocalError('cannot_start', `${program} cannot be started: ${why}`, { cause: thrown });
  }
}
