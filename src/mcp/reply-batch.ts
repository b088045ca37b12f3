// The answers to one batch, sent together when the last of them is there.

import type { McpId, Refusal } from './message-reader.js';

export class ReplyBatch {
  readonly #send: (replies: readonly unknown[]) => void;
  readonly #expected = new Set<McpId>();
  readonly #replies: unknown[] = [];
  #sealed = false;

  constructor(send: (replies: readonly unknown[]) => void) {
    this.#send = send;
  }

  expect(id: McpId): void {
    this.#expected.add(id);
  }

  refuse(refusal: Refusal): void {
    this.#replies.push(refusal);
  }

  /** No more members will come. A batch of nothing but notifications has no answer. */
  seal(): void {
    this.#sealed = true;
    this.#finish();
  }

  answer(id: McpId, reply: unknown): void {
    if (!this.#expected.delete(id)) return;
    this.#replies.push(reply);
    this.#finish();
  }

  /** It was called off, and will not be answered. */
  forget(id: McpId): void {
    if (this.#expected.delete(id)) this.#finish();
  }

  #finish(): void {
    if (this.#sealed && this.#expected.size === 0 && this.#replies.length > 0)
      this.#send(this.#replies.splice(0));
  }
}
