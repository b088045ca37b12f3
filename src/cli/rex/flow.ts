// Back-pressure from our own reader to the other side: while it is held, nothing is read from the link.
//
// A client that serves several readers keeps what a slow one has not taken and fetches the rest again later. With one
// reader there is a simpler way that loses nothing however long it takes: not to read.

import type { ByteSource, Link } from '../../wire/transport/link.js';

export class Flow {
  #held = false;
  #wanted = true;
  #source: ByteSource | undefined;

  /** The same link, whose input heeds `hold`. A client that connects again wraps its next link, and the last one counts. */
  wrap<L extends Link>(link: L): L {
    const source = link.input;
    this.#source = source;
    this.#wanted = true;
    const input: ByteSource = {
      get destroyed() {
        return source.destroyed;
      },
      get readableEnded() {
        return source.readableEnded;
      },
      on: source.on.bind(source),
      once: source.once.bind(source),
      off: source.off.bind(source),
      isPaused: () => !this.#wanted,
      pause: () => {
        this.#wanted = false;
        return source.pause();
      },
      resume: () => {
        this.#wanted = true;
        return this.#held ? undefined : source.resume();
      },
    };
    return { ...link, input };
  }

  hold(): void {
    this.#held = true;
    this.#source?.pause();
  }

  release(): void {
    this.#held = false;
    if (this.#wanted) this.#source?.resume();
  }
}
