// POSTs to a daemon over connections that are kept: bodies out, answers in, each capped.

import { Agent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { LocalError } from '../../base/errors.js';
import { MAX_LINE_BYTES } from '../../wire/ndjson/line-splitter.js';
import { addressOf, type OnlineOptions, OnlineError } from './online.js';

/** Connections at the same time; more requests wait for one. */
export const MAX_SOCKETS = 64;
/** An answer that is longer than a line may be is none. */
export const MAX_HTTP_ANSWER_BYTES = MAX_LINE_BYTES;

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

export class HttpPoster {
  readonly url: URL;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: OnlineOptions) {
    this.url = addressOf(options, 'http');
    const { token, ca, cert, key } = options;
    const kept = { keepAlive: true, maxSockets: MAX_SOCKETS, scheduling: 'lifo' as const };
    this.#agent =
      this.url.protocol === 'https:'
        ? new SecureAgent({
            ...kept,
            ...(ca !== undefined && { ca }),
            ...(cert !== undefined && { cert }),
            ...(key !== undefined && { key }),
          })
        : new Agent(kept);
    this.#headers = {
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
  }

  /** Rejects with what the system says when no answer comes, or with the signal's reason. */
  post(body: Uint8Array, signal: AbortSignal): Promise<HttpAnswer> {
    const request = this.url.protocol === 'https:' ? secureRequest : plainRequest;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(signal.aborted ? (signal.reason as Error) : error);
      const headers = { ...this.#headers, 'Content-Length': body.length };
      const req = request(this.url, { method: 'POST', agent: this.#agent, headers, signal }, (res) => {
        const parts: Buffer[] = [];
        let held = 0;
        res.on('data', (part: Buffer) => {
          held += part.length;
          parts.push(part);
          if (held > MAX_HTTP_ANSWER_BYTES)
            res.destroy(
              new OnlineError('not_rexd', `an answer has more than ${MAX_HTTP_ANSWER_BYTES} bytes`),
            );
        });
        res.on('error', fail);
        res.on('close', () => {
          if (!res.complete) return fail(new LocalError('cut_off', 'the answer was cut off'));
          const { statusCode: status = 0, headers: given } = res;
          resolve({ status, type: given['content-type'] ?? '', body: Buffer.concat(parts, held) });
        });
      });
      req.on('error', fail);
      req.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
