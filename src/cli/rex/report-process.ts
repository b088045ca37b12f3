// A process on the other side for a program: one object when it has ended, or a line for all that happens.

import { isUtf8 } from 'node:buffer';
import type { OutputChunk } from '../../client/rex/remote-output.js';
import type { RemoteExit, RemoteProcess } from '../../client/rex/remote-process.js';
import { EXIT } from '../exit-codes.js';
import type { RexContext } from './context.js';
import type { Flow } from './flow.js';
import { passSignalsOn } from './stream-process.js';

/** Of both streams together, in one object; whoever wants more takes it as it comes. */
export const MAX_REPORT_BYTES = 64 * 1024 * 1024;

export interface ReportOptions {
  readonly flow: Flow;
  /** Lines as it happens, instead of one object at the end. */
  readonly events: boolean;
}

export async function reportProcess(
  context: RexContext,
  running: RemoteProcess,
  { flow, events }: ReportOptions,
): Promise<number> {
  passSignalsOn(context, running);
  if (events) await context.outJson({ event: 'start', process_id: running.id, pid: running.pid });
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  for await (const chunk of running) {
    if (events) {
      flow.hold();
      await context.outJson({ event: chunk.stream, ...encode(chunk.bytes) }).finally(() => flow.release());
      continue;
    }
    bytes += chunk.bytes.length;
    if (bytes > MAX_REPORT_BYTES)
      context.fail(`more than ${MAX_REPORT_BYTES} bytes of output`, 'Use --events, or no --json.');
    keep(kept, chunk);
  }
  const exit = await running.exit;
  await context.outJson(
    events ? { event: 'exit', ...describe(exit) } : { ...describe(exit), ...output(kept) },
  );
  return exit.timedOut ? EXIT.timeout : exit.exitCode;
}

function describe(exit: RemoteExit): object {
  return {
    exit_code: exit.exitCode,
    signal: exit.signal,
    timed_out: exit.timedOut,
    output_limit_exceeded: exit.outputLimitExceeded,
    duration_ms: exit.durationMs,
  };
}

function keep(kept: Readonly<Record<'stdout' | 'stderr', Buffer[]>>, { stream, bytes }: OutputChunk): void {
  kept[stream].push(bytes);
}

function output(kept: Readonly<Record<'stdout' | 'stderr', Buffer[]>>): object {
  const stdout = encode(Buffer.concat(kept.stdout));
  const stderr = encode(Buffer.concat(kept.stderr));
  return {
    stdout: stdout.data,
    stdout_encoding: stdout.encoding,
    stderr: stderr.data,
    stderr_encoding: stderr.encoding,
  };
}

function encode(bytes: Buffer): { data: string; encoding: 'utf8' | 'base64' } {
  return isUtf8(bytes)
    ? { data: bytes.toString('utf8'), encoding: 'utf8' }
    : { data: bytes.toString('base64'), encoding: 'base64' };
}
