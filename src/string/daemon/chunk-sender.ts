// Output of a running command on its way to a client that may be slower than the command.

import type { EventStream } from '../../wire/http/event-stream.js';

/** Characters that wait for a slow client; what is more is left out and counted. The `content` event has the output anyway. */
export const MAX_WAITING_CHARS = 256 * 1024;

export class ChunkSender {
  readonly #stream: EventStream;
  #waiting = '';
  #dropped = 0;
  #sending: Promise<void> | undefined;

  constructor(stream: EventStream) {
    this.#stream = stream;
  }

  push(text: string): void {
    const room = Math.max(0, MAX_WAITING_CHARS - this.#waiting.length);
    this.#waiting += text.slice(0, room);
    this.#dropped += Math.max(0, text.length - room);
    this.#sending ??= this.#send();
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#sending;
  }

  /** One event for all that has gathered: a command that writes byte by byte must not make an event of each. */
  async #send(): Promise<void> {
    try {
      await Promise.resolve();
      while (this.#waiting !== '' || this.#dropped > 0) {
        const note =
          this.#dropped === 0 ? '' : `\n[${this.#dropped} characters not shown: read too slowly]\n`;
        const data = JSON.stringify(this.#waiting + note);
        this.#waiting = '';
        this.#dropped = 0;
        await this.#stream.send({ event: 'chunk', data });
      }
    } catch {
      this.#waiting = ''; // the client has left; the command goes on without it
      this.#dropped = 0;
    } finally {
      this.#sending = undefined;
    }
  }
}
