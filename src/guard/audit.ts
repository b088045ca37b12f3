// The audit log: one line a request, appended to a file that rotates by size. Recording is cheap, nothing is dropped.

import { fsync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { LocalError, toError } from '../base/errors.js';
import { ClosedError, Resource } from '../base/resource.js';
import { type AuditEntry, toAuditLine } from './audit-entry.js';
import { AuditFile, pause } from './audit-file.js';

/** Size of a file before it is rotated, when the options do not say. */
export const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const DEFAULT_KEEP = 5;
/** Entries waiting for the disk, when the options do not say: thousands of them, and yet little memory if it stalls. */
export const DEFAULT_MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** One write call; other processes wait for it, so it should be over soon. */
const MAX_BATCH_BYTES = 256 * 1024;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
/**
 * How long `flushSync` waits for a write that another thread has in hand; then it writes that itself, and it may be there
 * twice. Long, because on a busy machine that thread waits for the processor, and short for a disk that hangs.
 */
const IN_FLIGHT_WAIT_MS = 2000;
const IN_FLIGHT_POLL_MS = 1;
const MAX_TAIL_BYTES = 8 * 1024 * 1024;

const writeAsync = promisify(write);
const fsyncAsync = promisify(fsync);

export interface AuditLogOptions {
  readonly path: string;
  readonly maxBytes?: number;
  readonly keep?: number;
  /**
   * What may wait to be written. Above it `ready` waits; at twice as much `record` writes by itself, so that a caller
   * who does not ask `ready` is slowed down instead of losing entries or filling the memory.
   */
  readonly maxQueuedBytes?: number;
  /** Told of every write that failed. The log keeps trying; the service goes on. */
  readonly onError?: (error: Error) => void;
}

interface Line {
  readonly text: string;
  readonly bytes: number;
}

/** Bytes as they are being written, where to, and the size the file had before. */
interface Flight {
  readonly fd: number;
  readonly data: Buffer;
  readonly from: number;
}

interface Batch {
  readonly lines: readonly Line[];
  readonly bytes: number;
  flight?: Flight;
  /** `flushSync` could not see it arrive and wrote it itself. */
  taken?: true;
}

/**
 * While the disk takes what it is given, no entry is lost: not by closing, not by an exit that calls `flushSync`, not
 * by a slow disk (callers are slowed down). When writing fails, entries are kept up to `maxQueuedBytes` and written
 * once it works again; what came beyond that is counted, and the log says so in an `audit.gap` entry.
 */
export class AuditLog extends Resource {
  readonly #options: Required<AuditLogOptions>;
  readonly #file: AuditFile;
  #queue: Line[] = [];
  #queuedBytes = 0;
  #batch: Batch | undefined;
  #pumping: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #failing = false;
  #failures = 0;
  #lost = 0;
  #lostSaid = 0;
  #closed = false;
  readonly #waiting: (() => void)[] = [];

  /** Opens the file, so that one that cannot be used is found out at once: throws an AuditFileError. */
  constructor(options: AuditLogOptions) {
    super();
    this.#options = {
      maxBytes: DEFAULT_MAX_BYTES,
      keep: DEFAULT_KEEP,
      maxQueuedBytes: DEFAULT_MAX_QUEUED_BYTES,
      onError: () => {},
      ...options,
    };
    this.#file = new AuditFile(this.#options, (error) => this.#report(error));
    this.#file.prepare(0);
  }

  /** Bytes not yet handed to the operating system. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Writes that failed. */
  get failures(): number {
    return this.#failures;
  }

  /** Entries that were not written and never will be. */
  get lost(): number {
    return this.#lost;
  }

  /** Takes microseconds and does not throw; the writing is done later, in batches. */
  record(entry: AuditEntry): void {
    const text = toAuditLine(entry);
    const line = { text, bytes: Buffer.byteLength(text) };
    const isFull = this.#failing && this.#queuedBytes + line.bytes > this.#options.maxQueuedBytes;
    if (this.#closed || isFull) {
      this.#lost += 1;
      if (this.#closed) this.#report(new ClosedError('the audit log'));
      return;
    }
    this.#enqueue(line);
    if (!this.#failing && this.#queuedBytes > 2 * this.#options.maxQueuedBytes) this.#writeQueueSync();
    else this.#start();
  }

  /** Resolves when there is room for more. A log that cannot be written does not hold up the service. */
  ready(): Promise<void> {
    if (this.#hasRoom()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when everything recorded so far is in the file; rejects when it cannot be written. */
  async flush(): Promise<void> {
    if (this.#retry !== undefined) this.#endPause();
    this.#start();
    await this.#pumping;
    if (this.#failing) throw new LocalError('audit_unwritten', 'the audit log cannot be written');
  }

  /**
   * For an exit handler, where nothing can be awaited. A batch that is being written is waited for by looking into
   * the file; should it not arrive in time it is written here, and may be there twice. Never throws.
   */
  flushSync(): void {
    const batch = this.#batch;
    if (batch?.flight !== undefined && batch.taken === undefined && !this.#arrived(batch.flight)) {
      batch.taken = true;
      this.#queue = [...batch.lines, ...this.#queue];
      this.#queuedBytes += batch.bytes;
    }
    this.#writeQueueSync();
  }

  protected override async release(): Promise<void> {
    await this.flush().catch(() => {}); // it was reported
    this.#closed = true;
    await this.#pumping; // the file must not be closed under a write
    this.#writeQueueSync();
    if (this.#queue.length > 0) {
      this.#lost += this.#queue.length;
      this.#report(
        new LocalError('audit_lost', `${this.#queue.length} entries of the audit log could not be written`),
      );
    }
    this.#wake();
    await this.#synchronize();
    this.#file.close();
  }

  #enqueue(line: Line): void {
    this.#queue.push(line);
    this.#queuedBytes += line.bytes;
  }

  #start(): void {
    if (this.#pumping !== undefined || this.#retry !== undefined || this.#queue.length === 0) return;
    this.#pumping = this.#pump();
  }

  async #pump(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what is recorded in the same turn goes in one write
    try {
      while (this.#queue.length > 0) await this.#writeBatch();
    } catch (thrown) {
      this.#failed(thrown);
    } finally {
      this.#pumping = undefined;
      this.#wake();
    }
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#take();
    this.#batch = batch;
    let written = 0;
    try {
      const { fd, data, prefix, size } = this.#prepare(batch);
      batch.flight = { fd, data, from: size };
      using _ = this.#file.hold(fd); // a write that cannot wait may rotate the file before this one is over
      const { bytesWritten } = await writeAsync(fd, data);
      written = bytesWritten - prefix;
    } finally {
      this.#batch = undefined;
      if (batch.taken === undefined) this.#settle(batch, written);
      else this.#queuedBytes -= batch.bytes;
    }
    this.#worked();
  }

  /** Never throws: for the moments in which there is no later. */
  #writeQueueSync(): void {
    try {
      while (this.#queue.length > 0) {
        const batch = this.#take();
        let written = 0;
        try {
          const { fd, data, prefix } = this.#prepare(batch);
          written = writeSync(fd, data) - prefix;
        } finally {
          this.#settle(batch, written);
        }
        this.#worked();
      }
    } catch (thrown) {
      this.#failed(thrown);
    }
    this.#wake();
  }

  #prepare(batch: Batch): { fd: number; data: Buffer; prefix: number; size: number } {
    const { fd, needsNewLine, size } = this.#file.prepare(batch.bytes);
    const text = batch.lines.map((line) => line.text).join('');
    return { fd, data: Buffer.from(needsNewLine ? `\n${text}` : text), prefix: needsNewLine ? 1 : 0, size };
  }

  /** As many lines as go in one write and in one file, one at least. */
  #take(): Batch {
    const limit = Math.min(MAX_BATCH_BYTES, this.#options.maxBytes);
    let [count, bytes] = [0, 0];
    for (const line of this.#queue) {
      if (count > 0 && bytes + line.bytes > limit) break;
      count += 1;
      bytes += line.bytes;
    }
    return { lines: this.#queue.splice(0, count), bytes };
  }

  /** Of a write that came to a stop half way, the lines that are not whole are written again, on a line of their own. */
  #settle(batch: Batch, written: number): void {
    let [whole, bytes] = [0, 0];
    for (const line of batch.lines) {
      if (bytes + line.bytes > written) break;
      whole += 1;
      bytes += line.bytes;
    }
    this.#queuedBytes -= bytes;
    if (whole < batch.lines.length) this.#queue = [...batch.lines.slice(whole), ...this.#queue];
  }

  #worked(): void {
    this.#failing = false;
    this.#retryMs = FIRST_RETRY_MS;
    this.#endPause();
    if (this.#lost > this.#lostSaid) {
      const text = toAuditLine({ method: 'audit.gap', result: { lost: this.#lost - this.#lostSaid } });
      this.#lostSaid = this.#lost;
      this.#enqueue({ text, bytes: Buffer.byteLength(text) });
    }
    this.#wake();
  }

  #failed(thrown: unknown): void {
    this.#failing = true;
    this.#failures += 1;
    this.#report(toError(thrown));
    this.#wake();
    if (this.closing || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#start();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }

  #endPause(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  #arrived({ fd, data, from }: Flight): boolean {
    for (let waited = 0; waited <= IN_FLIGHT_WAIT_MS; waited += IN_FLIGHT_POLL_MS) {
      try {
        if (this.#file.readTail(fd, from, MAX_TAIL_BYTES).includes(data)) return true;
      } catch {
        return false; // what cannot be read cannot be vouched for
      }
      pause(IN_FLIGHT_POLL_MS);
    }
    return false;
  }

  async #synchronize(): Promise<void> {
    if (this.#file.fd === undefined) return;
    await fsyncAsync(this.#file.fd).catch(() => {}); // a device has nothing to synchronise
  }

  #hasRoom(): boolean {
    return this.#failing || this.#closed || this.#queuedBytes < this.#options.maxQueuedBytes;
  }

  #wake(): void {
    if (this.#hasRoom()) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #report(error: Error): void {
    try {
      this.#options.onError(error);
    } catch {
      // whoever listens must not be able to stop the log
    }
  }
}
