// One command in a shell, from the line that was typed to the word that it has ended.

import type { Report } from './bash-lines.js';
import { CapturedOutput, type CaptureOptions } from './captured-output.js';
import { MarkFinder } from './mark-finder.js';

export interface Completion {
  readonly status: number;
  /** The shell itself has ended: the next command gets a new one. */
  readonly shellEnded: boolean;
}

export class Submission {
  readonly report: Report;
  readonly #captureOptions: CaptureOptions;
  readonly #finder: MarkFinder;
  readonly #told: (lines: string) => void;
  /** What was printed since it was last shown. */
  output: CapturedOutput;
  emit: ((lines: string) => void) | undefined;
  /** Resolves once, when it has ended and its output is all there. */
  readonly ended: Promise<Completion>;
  #resolveEnded: (completion: Completion) => void = () => {};
  #status: number | undefined;
  #markSeen = false;
  #over = false;
  /** When anything last happened. */
  lastActivityMs = performance.now();

  /** `told` hears every line that is whole, in order. */
  constructor(report: Report, captureOptions: CaptureOptions, told: (lines: string) => void) {
    this.report = report;
    this.#told = told;
    this.#captureOptions = captureOptions;
    this.#finder = new MarkFinder(report.mark);
    this.output = new CapturedOutput(captureOptions);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get over(): boolean {
    return this.#over;
  }

  /** The shell has said that it is done; its output may still be on the way. */
  get completed(): boolean {
    return this.#status !== undefined;
  }

  /** Gives what came behind the end, once that was there. */
  push(chunk: Buffer): Buffer | undefined {
    this.lastActivityMs = performance.now();
    const { before, after } = this.#finder.push(chunk);
    this.#add(before);
    if (after !== undefined) {
      this.#markSeen = true;
      this.#settle();
    }
    return after;
  }

  complete(status: number): void {
    this.#status ??= status;
    this.#settle();
  }

  /** The mark has not come: programs have closed the terminal to us. What is there is all. */
  giveUpOnMark(): void {
    this.#add(this.#finder.end());
    this.#markSeen = true;
    this.#settle();
  }

  /** The shell is gone. */
  shellEnded(status: number): void {
    if (this.#over) return;
    this.#add(this.#finder.end());
    this.#finish({ status: this.#status ?? status, shellEnded: true });
  }

  /** What was printed so far is shown; from here on it is collected anew. */
  takeOutput(): CapturedOutput {
    const taken = this.output;
    if (this.#over) return taken;
    this.#tell(taken.end()); // a prompt, mostly
    this.output = new CapturedOutput(this.#captureOptions);
    return taken;
  }

  #add(bytes: Buffer): void {
    if (bytes.length > 0) this.#tell(this.output.push(bytes));
  }

  #tell(lines: string): void {
    if (lines === '') return;
    this.#told(lines);
    this.emit?.(lines);
  }

  #settle(): void {
    if (this.#status !== undefined && this.#markSeen)
      this.#finish({ status: this.#status, shellEnded: false });
  }

  #finish(completion: Completion): void {
    if (this.#over) return;
    this.#over = true;
    this.#tell(this.output.end());
    this.emit = undefined;
    this.#resolveEnded(completion);
  }
}

/** Two secrets of 32 hexadecimal digits and a number. */
export function newReport(line: number): Report {
  return { line, nonce: randomHex(), mark: randomHex() };
}

function randomHex(): string {
  const bytes = new Uint8Array(16);
  crypto.getRandomValues(bytes);
  return Buffer.from(bytes).toString('hex');
}
