// The output of one command: its beginning and its end to be shown, all of it on disk when that is not all.

import { StringDecoder } from 'node:string_decoder';
import { ReplayBuffer } from '../../base/replay-buffer.js';
import { cutAtCharacter } from '../../base/utf8.js';
import { OutputSpool } from '../../host/process/spool.js';
import { ScreenText } from './screen-text.js';

/** Shown of the beginning of an output. */
export const HEAD_BYTES = 512 * 1024;
/** Shown of its end: mostly that is where the reason stands. */
export const TAIL_BYTES = 512 * 1024;

const NEW_LINE = 10;

export interface CaptureOptions {
  /** Where an output goes that is too long to be shown. */
  readonly spoolDir: string;
  readonly headBytes?: number;
  readonly tailBytes?: number;
  /** Applied to whole lines. */
  readonly rewrite?: (lines: string) => string;
}

export class CapturedOutput {
  readonly #options: CaptureOptions;
  readonly #decoder = new StringDecoder('utf8');
  readonly #screen = new ScreenText();
  readonly #headLimit: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  readonly #tail: ReplayBuffer;
  #lines = 0;
  #spool: OutputSpool | undefined;
  #full: Promise<void> | undefined;

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#headLimit = options.headBytes ?? HEAD_BYTES;
    this.#tail = new ReplayBuffer(options.tailBytes ?? TAIL_BYTES);
  }

  /** All of it, once there is more than can be shown. Its file goes when it is closed. */
  get spool(): OutputSpool | undefined {
    return this.#spool;
  }

  /** The last line, when it has not ended: often a prompt. */
  get pending(): string {
    return this.#screen.pending;
  }

  /** The lines that are whole now. Wait for `caughtUp` before the next piece. */
  push(bytes: Buffer): string {
    return this.#add(this.#screen.push(this.#decoder.write(bytes)));
  }

  /** Undefined unless the disk has to catch up. */
  get caughtUp(): Promise<void> | undefined {
    return this.#full;
  }

  /** Nothing more comes: what was left of a line is one. */
  end(): string {
    return this.#add(this.#screen.push(this.#decoder.end()) + this.#screen.end());
  }

  /** Without blanks at the end. What is left out is counted. */
  async text(): Promise<string> {
    const head = Buffer.concat(this.#head);
    const { data, lost } = this.#tail.since(0);
    if (lost === 0) return Buffer.concat([head, data]).toString('utf8').trimEnd();
    const tail = fromLineStart(data);
    const shown = untilLineEnd(head);
    const bytes = this.#headBytes + this.#tail.end - shown.length - tail.length;
    const lines = this.#lines - countLines(shown) - countLines(tail);
    const notice = `[… ${bytes} bytes (${lines} lines) left out here; ${await this.#describeWhole()} …]`;
    const gap = shown.at(-1) === NEW_LINE ? '' : '\n';
    return `${shown.toString('utf8')}${gap}${notice}\n${tail.toString('utf8')}`.trimEnd();
  }

  async #describeWhole(): Promise<string> {
    const spool = this.#spool;
    const total = this.#headBytes + this.#tail.end;
    if (spool === undefined) return `${total} bytes in all`;
    await spool.read(Math.max(0, spool.size - 1), 1); // to have it all written
    const { loss } = spool;
    if (loss === undefined) return `all ${total} bytes are in ${spool.path}`;
    return `${total} bytes in all, the first ${loss.offset} of them in ${spool.path}`;
  }

  #add(text: string): string {
    const lines = this.#options.rewrite === undefined ? text : this.#options.rewrite(text);
    if (lines === '') return '';
    const bytes = Buffer.from(lines, 'utf8');
    this.#lines += countLines(bytes);
    this.#keepAll(bytes);
    const room = this.#tail.end > 0 ? 0 : this.#headLimit - this.#headBytes;
    const first = room > 0 ? Buffer.from(cutAtCharacter(bytes, room)) : Buffer.alloc(0);
    if (first.length > 0) this.#head.push(first);
    this.#headBytes += first.length;
    this.#tail.append(bytes.subarray(first.length));
    return lines;
  }

  /** From the moment on when the first byte would be lost. */
  #keepAll(bytes: Buffer): void {
    const before = this.#headBytes + this.#tail.end;
    const limit = this.#headLimit + (this.#options.tailBytes ?? TAIL_BYTES);
    if (this.#spool === undefined) {
      if (before + bytes.length <= limit) return;
      this.#spool = new OutputSpool({ dir: this.#options.spoolDir, inlineBytes: 0 });
      void this.#spool.append(Buffer.concat(this.#head));
      void this.#spool.append(this.#tail.since(0).data);
    }
    this.#full = this.#spool.append(bytes);
  }
}

/** To the end of a line, if there is one in the second half; else as it is. */
function untilLineEnd(head: Buffer): Buffer {
  const end = head.lastIndexOf(NEW_LINE) + 1;
  return end > head.length / 2 ? head.subarray(0, end) : head;
}

/** From the beginning of a line on, if there is one in the first half; else from that of a character. */
function fromLineStart(tail: Buffer): Buffer {
  const start = tail.indexOf(NEW_LINE) + 1;
  if (start > 0 && start < tail.length / 2) return tail.subarray(start);
  const character = tail.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return tail.subarray(Math.max(0, character));
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEW_LINE); at !== -1; at = bytes.indexOf(NEW_LINE, at + 1)) count += 1;
  return count;
}
