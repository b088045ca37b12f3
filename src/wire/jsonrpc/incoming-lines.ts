// Bytes of the other side, taken apart into messages, each given to whoever serves or awaits its kind.

import { isAscii } from 'node:buffer';
import { LineSplitter } from '../ndjson/line-splitter.js';
import type { CallServer } from './call-server.js';
import { decodeLine } from './decode.js';
import { encodeError } from './encode.js';
import { findBadUtf8, findJsonError, type ParseFailure } from './explain-parse-error.js';
import { ReplyBatch, ServedCall, type BatchSink, type BatchSlot } from './incoming-call.js';
import { INVALID_REQUEST, PARSE_ERROR, type IncomingMessage, type RawId } from './message.js';
import type { OutgoingCalls } from './outgoing-calls.js';

export interface IncomingLinesOptions {
  /** Serves requests and notifications, and sends the refusals in turn with their answers. */
  readonly calls: CallServer;
  /** Takes the answers to our own requests. */
  readonly outgoing: OutgoingCalls;
  /** Where the replies of a batch go. */
  readonly batches: BatchSink;
  readonly maxLineBytes: number;
  readonly maxBatch: number;
  readonly refuseBlankLines: boolean;
}

export class IncomingLines {
  readonly #options: IncomingLinesOptions;
  readonly #splitter: LineSplitter;

  constructor(options: IncomingLinesOptions) {
    const { maxLineBytes } = options;
    this.#options = options;
    this.#splitter = new LineSplitter((bytes, start, end) => this.#onLine(bytes, start, end), {
      maxLineBytes,
      readAtOnce: true, // what becomes of a line is made from a text of it
      onOversize: (_size, beginning) =>
        this.#refuse(`a line must not be longer than ${maxLineBytes} bytes`, readLeadingId(beginning)),
    });
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** No more bytes will come: what is left is a line too. */
  end(): void {
    this.#splitter.end();
  }

  #onLine(bytes: Buffer, start: number, end: number): void {
    const { maxBatch, refuseBlankLines } = this.#options;
    const size = end - start;
    const text = readText(bytes, start, end);
    const line = decodeLine(text, maxBatch);
    // A name or a content with other characters in it would be another one. An answer is worth having all the same.
    const mayBeGarbled = text.includes(REPLACEMENT) && !isAnswer(line.kind);
    const garbled = mayBeGarbled ? findBadUtf8(bytes.subarray(start, end), text) : undefined;
    if (garbled !== undefined) {
      this.#refuseText(garbled, size);
      return;
    }
    switch (line.kind) {
      case 'blank':
        if (refuseBlankLines) this.#refuseText({ offset: 0, reason: 'an empty line' }, size);
        return;
      case 'parse-error':
        this.#refuseText(findJsonError(text) ?? { offset: 0, reason: 'not JSON' }, size);
        return;
      case 'batch-too-long':
        this.#refuse(`a batch must not have more than ${maxBatch} members`);
        return;
      case 'batch':
        this.#onBatch(line.members, size);
        return;
      default:
        this.#onMessage(line, size, undefined);
    }
  }

  #onBatch(members: readonly IncomingMessage[], bytes: number): void {
    const batch = new ReplyBatch(this.#options.batches);
    const slots = members.map(({ kind }) =>
      kind === 'request' || kind === 'bad-request' ? batch.reserve() : undefined,
    );
    for (const [i, member] of members.entries()) {
      this.#onMessage(member, Math.ceil(bytes / members.length), slots[i]);
    }
  }

  #onMessage(message: IncomingMessage, bytes: number, slot: BatchSlot | undefined): void {
    const { calls, outgoing } = this.#options;
    switch (message.kind) {
      case 'request':
        calls.offer(new ServedCall(message, bytes, slot));
        return;
      case 'notification':
        calls.offer(new ServedCall(message, bytes, undefined));
        return;
      case 'cancel':
        calls.cancel(message.id, message.rawId);
        return;
      case 'response':
        outgoing.onResponse(message.body);
        return;
      case 'bad-response':
        outgoing.onBadResponse(message.body);
        return;
      case 'bad-request':
        this.#refuse(message.reason, message.rawId, bytes, slot);
    }
  }

  #refuseText({ offset, reason }: ParseFailure, bytes: number): void {
    const message = `Parse error at byte ${offset}: ${reason}`;
    const error = { code: PARSE_ERROR, message, data: { offset, reason } };
    this.#options.calls.offer({ reply: encodeError('null', error), bytes });
  }

  #refuse(reason: string, rawId: RawId = 'null', bytes = 0, slot?: BatchSlot): void {
    const error = { code: INVALID_REQUEST, message: 'Invalid Request', data: { reason } };
    this.#options.calls.offer({ reply: encodeError(rawId, error), bytes, slot });
  }
}

/**
 * The id of a request that was too long to be read, if it stands at its beginning as most programs write it: whoever
 * asked should be told, and not wait for an answer to nobody.
 */
function readLeadingId(beginning: Buffer): RawId {
  return LEADING_ID.exec(beginning.toString('utf8'))?.[1] ?? 'null';
}

const LEADING_ID =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?(?:0|[1-9]\d*)|"[\w.:+/-]*")\s*,/;

/** What reading puts for bytes that are no text. */
const REPLACEMENT = '\uFFFD';

/** From here on it pays to ask first whether a line has nothing but ASCII: then it is copied and not decoded. */
const ASK_FIRST_BYTES = 16 * 1024;

function readText(bytes: Buffer, start: number, end: number): string {
  const plain = end - start >= ASK_FIRST_BYTES && isAscii(bytes.subarray(start, end));
  return bytes.toString(plain ? 'latin1' : 'utf8', start, end);
}

function isAnswer(kind: string): boolean {
  return kind === 'response' || kind === 'bad-response';
}
