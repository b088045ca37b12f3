// A process on the other side as if it ran here: its output on our streams, our signals to it, its end as our exit code.

import type { RemoteExit, RemoteProcess } from '../../client/rex/remote-process.js';
import { EXIT } from '../exit-codes.js';
import type { RexContext } from './context.js';
import type { Flow } from './flow.js';
import type { Interrupt } from '../interrupts.js';
import { ReaderGoneError, writeTo } from '../standard-output.js';

/** After SIGTERM or SIGHUP: how long the other side has to end what runs there before we go without its word. */
export const LEAVE_MS = 5000;
/** As a shell reports a program that was ended by SIGPIPE. */
export const READER_GONE = 141;

/** Its exit code; 124 when its time was up. */
export async function streamProcess(
  context: RexContext,
  running: RemoteProcess,
  flow: Flow,
): Promise<number> {
  passSignalsOn(context, running);
  try {
    for await (const { stream, bytes } of running) await writeHeld(process[stream], bytes, flow);
  } catch (thrown) {
    if (!(thrown instanceof ReaderGoneError)) throw thrown;
    await running.kill('KILL').catch(() => {});
    return READER_GONE;
  }
  return sayEnd(context, await running.exit);
}

/** What the exit code alone would not tell is said. */
export function sayEnd(context: Pick<RexContext, 'say'>, exit: RemoteExit): number {
  if (exit.outputLimitExceeded)
    context.say('rex: ended: it wrote more than the target allows (max_output_bytes in its configuration)');
  if (!exit.timedOut) return exit.exitCode;
  context.say(`rex: ended: its time was up after ${Math.round(exit.durationMs)} ms`);
  return EXIT.timeout;
}

/** Ctrl-C is passed on, and a second one kills. Whoever wants us gone wants what we started gone. */
export function passSignalsOn(
  context: Pick<RexContext, 'onInterrupt'>,
  running: Pick<RemoteProcess, 'kill'>,
): void {
  const asked = new Set<Interrupt>();
  let times = 0;
  context.onInterrupt((signal) => {
    times += 1;
    if (times > 2) process.exit(EXIT.interrupted);
    const how = times > 1 ? 'KILL' : signal.slice('SIG'.length);
    running.kill(how).catch(() => {});
    if (signal === 'SIGINT' || asked.has(signal)) return;
    asked.add(signal);
    setTimeout(() => process.exit(signal === 'SIGTERM' ? 143 : 129), LEAVE_MS).unref();
  });
}

/** A reader that does not keep up stops the other side; it is not read ahead of. */
async function writeHeld(stream: NodeJS.WriteStream, bytes: Uint8Array, flow: Flow): Promise<void> {
  const written = writeTo(stream, bytes);
  if (stream.writableLength === 0) return await written;
  flow.hold();
  try {
    await written;
  } finally {
    flow.release();
  }
}
