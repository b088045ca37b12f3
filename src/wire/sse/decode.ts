// Server-sent events, in: bytes in any chunking to whole events, within caps.

import { createParser } from 'eventsource-parser';
import { SizeMeter, type SseLimits } from './size-meter.js';
import type { SseEvent } from './encode.js';

export interface SseDecodeOptions extends Partial<SseLimits> {
  readonly onComment?: (comment: string) => void;
}

/**
 * The events of a byte stream, in order. A last event without its closing blank line is dropped, as the format demands.
 * Past a cap the events before it are still delivered, then SseLimitError is thrown. Leaving the loop ends the source.
 */
export async function* decodeEvents(
  source: AsyncIterable<Uint8Array>,
  options: SseDecodeOptions = {},
): AsyncGenerator<SseEvent, void, undefined> {
  const decoder = new SseDecoder(options);
  for await (const chunk of source) {
    yield* decoder.push(chunk);
    if (decoder.failure !== undefined) throw decoder.failure;
  }
}

/** The push form, for callers with no stream of their own. After a `failure` it takes no more bytes. */
export class SseDecoder {
  readonly #utf8 = new TextDecoder('utf-8'); // drops a byte order mark; keeps a character split between chunks
  readonly #meter: SizeMeter;
  readonly #parser;
  #ready: SseEvent[] = [];
  #retry: number | undefined;
  #afterCr = false;
  #failure: Error | undefined;

  constructor(options: SseDecodeOptions = {}) {
    this.#meter = new SizeMeter(options);
    this.#parser = createParser({
      onEvent: ({ event, id, data }) => this.#deliver(event, id, data),
      onRetry: (ms) => {
        this.#retry = ms;
      },
      ...(options.onComment !== undefined && { onComment: options.onComment }),
    });
  }

  /** Set once a line or an event has grown past its cap. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  push(chunk: Uint8Array): SseEvent[] {
    if (this.#failure !== undefined) return [];
    const within = this.#meter.measure(chunk);
    this.#failure = this.#meter.exceeded;
    this.#feed(this.#utf8.decode(chunk.subarray(0, within), { stream: true }));
    const events = this.#ready;
    this.#ready = [];
    return events;
  }

  /**
   * The parser gets `\n` only. Left to itself it holds a line that ends in `\r` back until it has seen the next
   * character, and one stray `\r` at the end of a chunk makes it search the whole chunk again for every line.
   */
  #feed(text: string): void {
    if (text === '') return;
    const rest = this.#afterCr && text.startsWith('\n') ? text.slice(1) : text;
    this.#afterCr = text.endsWith('\r');
    this.#parser.feed(rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest);
  }

  /** `retry` belongs to the stream, not to an event; it travels with the first event that follows it. */
  #deliver(event: string | undefined, id: string | undefined, data: string): void {
    this.#ready.push({
      ...(event !== undefined && { event }),
      ...(id !== undefined && { id }),
      data,
      ...(this.#retry !== undefined && { retry: this.#retry }),
    });
    this.#retry = undefined;
  }
}
