// Brings the events of a connection to the processes they belong to.

import type { JsonRpcParams } from '../../wire/jsonrpc/message.js';
import type { OutputTotals, StreamName } from './remote-output.js';
import type { RemoteExit } from './remote-process.js';

export interface ProcessListener {
  readonly onOutput: (stream: StreamName, bytes: Buffer) => void;
  /** Without totals, as a terminal's end comes, what has arrived is all there is. */
  readonly onExit: (exit: RemoteExit, totals: OutputTotals | undefined) => void;
  readonly onLost: (reason: Error) => void;
}

/**
 * The answer that names a process comes before its first event, but both may come in one read, and whoever asked learns
 * of the answer a moment later. Events of processes nobody listens to yet are kept for that moment.
 */
export const MAX_EARLY_EVENTS = 1024;

type Event = (listener: ProcessListener) => void;

export class ProcessEvents {
  readonly #listeners = new Map<string, ProcessListener>();
  readonly #early = new Map<string, Event[]>();
  #earlyCount = 0;
  #starting = 0;

  /**
   * A process is being started, and its events may come before its answer: after a lost connection all of them at once.
   * Until this is disposed of none is dropped. For sessions whose server keeps a bounded number that we have not taken.
   */
  expectStart(): Disposable {
    this.#starting += 1;
    let over = false;
    return {
      [Symbol.dispose]: () => {
        if (!over) this.#starting -= 1;
        over = true;
      },
    };
  }

  /** Whether events are kept for a process that nobody knows of yet, beyond the cap if need be. */
  get withheld(): boolean {
    return this.#starting > 0 && this.#earlyCount > 0;
  }

  /** Events from now on, and those that were quicker than the caller. */
  listen(processId: string, listener: ProcessListener): void {
    this.#listeners.set(processId, listener);
    const early = this.#early.get(processId) ?? [];
    this.#early.delete(processId);
    this.#earlyCount -= early.length;
    for (const event of early) event(listener);
  }

  forget(processId: string): void {
    this.#listeners.delete(processId);
  }

  receive(method: string, params: JsonRpcParams | undefined): void {
    const event = readEvent(method, params);
    if (event === undefined) return;
    const listener = this.#listeners.get(event.processId);
    if (listener !== undefined) event.deliver(listener);
    else if (this.#starting > 0 || this.#earlyCount < MAX_EARLY_EVENTS) {
      const early = this.#early.get(event.processId);
      if (early === undefined) this.#early.set(event.processId, [event.deliver]);
      else early.push(event.deliver);
      this.#earlyCount += 1;
    }
  }

  /** The connection is gone for good. */
  lose(reason: Error): void {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    this.#early.clear();
    this.#earlyCount = 0;
    for (const listener of listeners) listener.onLost(reason);
  }
}

interface Unread {
  readonly process_id?: unknown;
  readonly data?: unknown;
  readonly encoding?: unknown;
  readonly exit_code?: unknown;
  readonly signal?: unknown;
  readonly timed_out?: unknown;
  readonly output_limit_exceeded?: unknown;
  readonly duration_ms?: unknown;
  readonly bytes_stdout?: unknown;
  readonly bytes_stderr?: unknown;
}

/** A server that sends something else is not worth ending the connection for: what cannot be read is passed over. */
function readEvent(
  method: string,
  params: JsonRpcParams | undefined,
): { processId: string; deliver: Event } | undefined {
  const unread: Unread = Array.isArray(params) || params === undefined ? {} : (params as Unread);
  const { process_id: processId } = unread;
  if (typeof processId !== 'string') return undefined;
  switch (method) {
    case 'exec.stdout':
    case 'pty.output':
      return { processId, deliver: outputEvent('stdout', unread) };
    case 'exec.stderr':
      return { processId, deliver: outputEvent('stderr', unread) };
    case 'exec.exit':
    case 'pty.exit':
      return { processId, deliver: exitEvent(unread) };
    default:
      return undefined;
  }
}

function outputEvent(stream: StreamName, { data, encoding }: Unread): Event {
  const bytes = Buffer.from(typeof data === 'string' ? data : '', encoding === 'base64' ? 'base64' : 'utf8');
  return (listener) => listener.onOutput(stream, bytes);
}

function exitEvent(unread: Unread): Event {
  const exit: RemoteExit = {
    exitCode: numberOr(unread.exit_code, -1),
    signal: typeof unread.signal === 'string' ? unread.signal : null,
    timedOut: unread.timed_out === true,
    outputLimitExceeded: unread.output_limit_exceeded === true,
    durationMs: numberOr(unread.duration_ms, 0),
  };
  const { bytes_stdout: stdout, bytes_stderr: stderr } = unread;
  const totals = typeof stdout === 'number' && typeof stderr === 'number' ? { stdout, stderr } : undefined;
  return (listener) => listener.onExit(exit, totals);
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
