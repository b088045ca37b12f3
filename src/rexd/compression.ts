// Compression of a connection: agreed on by session.open or session.resume, told by session.info.

import type * as z from 'zod/mini';
import type { DeflateLink } from '../wire/transport/deflate-link.js';
import type { CompressionRequest, compressionAnswer, compressionState } from './protocol/compression.js';

type Request = NonNullable<z.output<typeof CompressionRequest>>;
type Answer = NonNullable<z.output<ReturnType<typeof compressionAnswer>>>;
type State = z.output<ReturnType<typeof compressionState>>;

const NONE = { algorithm: 'none', adaptive: false } as const;

export class Compression {
  readonly #link: DeflateLink;
  #answer: Answer = NONE;

  constructor(link: DeflateLink) {
    this.#link = link;
  }

  /** The first who asks decides for the connection; the others are told. */
  agree(request: Request): Answer {
    if (this.#answer === NONE && request.algorithms.includes('deflate')) {
      this.#answer = { algorithm: 'deflate', adaptive: request.adaptive };
      this.#link.expect();
      this.#link.allow(request.adaptive);
    }
    return this.#answer;
  }

  get state(): State {
    const { rawBytes, sentBytes, level } = this.#link.totals;
    return { ...this.#answer, level, bytes_before: rawBytes, bytes_sent: sentBytes };
  }
}

/** What is put into the answer to whoever has asked. Where there is no stream of bytes, nothing can be compressed. */
export function agreeOnCompression(
  request: Request | undefined,
  compression: Compression | undefined,
): { compression?: Answer } {
  if (request === undefined) return {};
  return { compression: compression?.agree(request) ?? NONE };
}
