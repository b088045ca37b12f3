// The pipe on which a shell tells what it has done, apart from anything it prints.

import { closeSync } from 'node:fs';
import { LocalError } from '../../base/errors.js';
import { readFifo } from '../../host/process/fifo-reader.js';
import type { PipeSource } from '../../host/process/pipe-source.js';
import { openFifos } from '../../host/process/station.js';

/** Of one message: a path is the longest part of it. */
export const MAX_MESSAGE_BYTES = 16 * 1024;

export type ControlMessage =
  | { readonly kind: 'completed'; readonly nonce: string; readonly status: number; readonly cwd: string }
  /** The line of that number is over, one way or another. */
  | { readonly kind: 'prompt'; readonly line: number };

export class NoControlPipeError extends LocalError {
  override readonly name = 'NoControlPipeError';

  constructor() {
    super('no_control_pipe', 'shells need a place for pipes, and this host gives us none');
  }
}

export class ControlPipe {
  /** The shell's end, until it has been handed over. */
  readonly writeFd: number;
  readonly #source: PipeSource;
  readonly #told: (message: ControlMessage) => void;
  #held: Buffer = Buffer.alloc(0);
  #handedOver = false;

  static async open(told: (message: ControlMessage) => void): Promise<ControlPipe> {
    const [fifo] = await openFifos(['output']);
    if (fifo === undefined) throw new NoControlPipeError();
    return new ControlPipe(fifo, told);
  }

  private constructor(fifo: { readFd: number; writeFd: number }, told: (message: ControlMessage) => void) {
    this.writeFd = fifo.writeFd;
    this.#told = told;
    this.#source = readFifo(fifo.readFd, { data: (chunk) => this.#push(chunk), end: () => {} });
  }

  /** Our copy of the shell's end: while we had it there would be no end. */
  handOver(): void {
    if (!this.#handedOver) closeSync(this.writeFd);
    this.#handedOver = true;
  }

  close(): void {
    this.handOver();
    this.#source.destroy();
  }

  #push(chunk: Buffer): boolean {
    let rest = Buffer.concat([this.#held, chunk]);
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      const message = parseMessage(rest.toString('utf8', 0, end));
      rest = rest.subarray(end + 1);
      if (message !== undefined) this.#told(message);
    }
    // What nobody ends is nobody's message.
    this.#held = rest.length > MAX_MESSAGE_BYTES ? Buffer.alloc(0) : Buffer.from(rest);
    return true;
  }
}

/** Undefined for what makes no sense: whoever wrote it is not heard. */
export function parseMessage(text: string): ControlMessage | undefined {
  const prompt = /^p (\d{1,15})$/u.exec(text);
  if (prompt !== null) return { kind: 'prompt', line: Number(prompt[1]) };
  const [, nonce, status, cwd] = /^c ([0-9a-f]{32}) (\d{1,3}) (.*)$/su.exec(text) ?? [];
  if (nonce === undefined || status === undefined || cwd === undefined) return undefined;
  return { kind: 'completed', nonce, status: Number(status), cwd };
}
