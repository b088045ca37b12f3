// Bytes in, an HTTP/1.1 answer out: its status as soon as it is known, its body piece by piece. Pure.

import { LocalError } from '../../base/errors.js';

/** Of status line and headers; also of the line before a chunk. */
export const MAX_HEAD_BYTES = 64 * 1024;

export class BadReplyError extends LocalError {
  override readonly name = 'BadReplyError';

  constructor(what: string) {
    super('bad_reply', `an answer that is no HTTP: ${what}`);
  }
}

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |$)/;
const EMPTY = Buffer.alloc(0);

/** How the end of the body is known. */
type Framing =
  | { readonly kind: 'chunked'; left: number; state: 'size' | 'data' | 'data-end' | 'trailer' }
  | { readonly kind: 'length'; left: number }
  | { readonly kind: 'close' };

export class HttpReplyReader {
  #status: number | undefined;
  #framing: Framing = { kind: 'length', left: 0 };
  /** What came and is not understood yet. */
  #held: Buffer = EMPTY;
  #body: Buffer[] = [];
  #isComplete = false;

  /** Undefined until the headers are there. */
  get status(): number | undefined {
    return this.#status;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Throws a BadReplyError. */
  push(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (this.#status === undefined) if (!this.#readHead()) return;
    this.#readBody();
  }

  /** What there is of the body since the last time. */
  take(): Buffer[] {
    return this.#body.splice(0);
  }

  /** The connection has ended. Throws a BadReplyError when the answer had not. */
  end(): void {
    if (this.#status !== undefined && this.#framing.kind === 'close') this.#isComplete = true;
    if (!this.#isComplete) throw new BadReplyError('the connection ended in the middle of it');
  }

  /** False when more is needed. */
  #readHead(): boolean {
    const end = this.#held.indexOf('\r\n\r\n');
    if (end === -1) {
      if (this.#held.length > MAX_HEAD_BYTES) throw new BadReplyError('headers without an end');
      return false;
    }
    const [first = '', ...lines] = this.#held.toString('latin1', 0, end).split('\r\n');
    const status = Number(STATUS_LINE.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new BadReplyError('it does not begin with a status');
    this.#held = this.#held.subarray(end + 4);
    if (status >= 200) {
      this.#status = status;
      this.#framing = framingOf(status, lines);
    } // else: only a word in between, the answer follows
    return true;
  }

  #readBody(): void {
    const framing = this.#framing;
    if (framing.kind === 'close') this.#give(this.#held.length);
    else if (framing.kind === 'length') {
      framing.left -= this.#give(Math.min(framing.left, this.#held.length));
      this.#isComplete = framing.left === 0;
    } else while (!this.#isComplete && this.#readChunked(framing));
  }

  /** False when more is needed. */
  #readChunked(framing: Extract<Framing, { kind: 'chunked' }>): boolean {
    if (framing.state === 'data') {
      framing.left -= this.#give(Math.min(framing.left, this.#held.length));
      if (framing.left > 0) return false;
      framing.state = 'data-end';
    }
    const line = this.#takeLine();
    if (line === undefined) return false;
    if (framing.state === 'trailer') this.#isComplete = line === '';
    else if (framing.state === 'data-end') framing.state = 'size';
    else {
      const size = /^([0-9a-f]{1,8})\s*(?:;.*)?$/i.exec(line)?.[1];
      if (size === undefined) throw new BadReplyError('a chunk without a size');
      framing.left = Number.parseInt(size, 16);
      framing.state = framing.left === 0 ? 'trailer' : 'data';
    }
    return true;
  }

  #takeLine(): string | undefined {
    const end = this.#held.indexOf('\r\n');
    if (end === -1) {
      if (this.#held.length > MAX_HEAD_BYTES) throw new BadReplyError('a line without an end');
      return undefined;
    }
    const line = this.#held.toString('latin1', 0, end);
    this.#held = this.#held.subarray(end + 2);
    return line;
  }

  #give(bytes: number): number {
    if (bytes > 0) this.#body.push(this.#held.subarray(0, bytes));
    this.#held = this.#held.subarray(bytes);
    return bytes;
  }
}

function framingOf(status: number, lines: readonly string[]): Framing {
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  if (status === 204 || status === 304) return { kind: 'length', left: 0 };
  if (/\bchunked$/i.test(headers.get('transfer-encoding') ?? ''))
    return { kind: 'chunked', left: 0, state: 'size' };
  const length = headers.get('content-length');
  if (length === undefined) return { kind: 'close' };
  if (!/^\d{1,15}$/.test(length)) throw new BadReplyError(`a length of "${length}"`);
  return { kind: 'length', left: Number(length) };
}
