// One message, or one batch, answered by itself: for carriers that bring each with a way back of its own, as HTTP does.

import type { Log } from '../../base/log.js';
import { joinPieces, type Line } from '../ndjson/pieces.js';
import { asLine } from './as-line.js';
import { CallServer, type CallHandler } from './call-server.js';
import { IncomingLines } from './incoming-lines.js';
import { OutgoingCalls } from './outgoing-calls.js';
import { MAX_BATCH } from './peer.js';

/** Calls of one batch that run at the same time. */
export const MAX_CALLS_OF_A_BATCH = 64;

export interface AnswerOptions {
  readonly onCall: CallHandler;
  /** Whoever asked is gone: its calls are told, and nothing is answered. */
  readonly signal?: AbortSignal;
  readonly log?: Log;
  readonly maxBatch?: number;
}

/**
 * The whole answer as bytes of JSON; undefined when there is none to give, to a notification, say. What is no JSON is
 * answered as a parse error. Rejects with the signal's reason when that aborts first.
 */
export function answerMessage(message: Buffer, options: AnswerOptions): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let answer: Buffer | undefined;
    const { signal, log } = options;
    const calls = new CallServer({
      onRequest: options.onCall,
      onNotification: options.onCall,
      maxConcurrent: MAX_CALLS_OF_A_BATCH,
      send: (line) => {
        answer = bytesOf(line);
      },
      isCongested: () => false,
      onProgress: () => settle(),
      log,
    });
    const lines = new IncomingLines({
      calls,
      outgoing: nothingAsked(log),
      batches: { send: (line) => (answer = bytesOf(line)), hold: () => {} },
      maxLineBytes: message.length + 1,
      maxBatch: options.maxBatch ?? MAX_BATCH,
      refuseBlankLines: true,
    });
    const leave = (): void => {
      const reason = signal?.reason as Error;
      calls.stop(reason);
      reject(reason);
    };
    const settle = (): void => {
      if (calls.size > 0) return;
      signal?.removeEventListener('abort', leave);
      resolve(answer);
    };
    if (signal?.aborted === true) return leave();
    signal?.addEventListener('abort', leave, { once: true });
    lines.push(asLine(message));
    settle();
  });
}

function bytesOf(line: Line): Buffer {
  if (typeof line === 'string') return Buffer.from(line);
  return line instanceof Uint8Array ? Buffer.from(line) : joinPieces(line);
}

/** Nothing is ever asked of whoever sends single messages, so what looks like an answer of theirs is passed over. */
function nothingAsked(log: Log | undefined): OutgoingCalls {
  return new OutgoingCalls({ send: () => {}, maxBatch: 1, maxPending: 0, log });
}
