// When gathered output is written: at once while a destination has one source, else when every source had its turn.
//
// A write costs the same for one message as for a hundred, and wakes whoever reads. Where many feed one, waiting for the
// end of the turn makes one write of all of theirs, and looking once more for those who were about to send makes it a
// larger one; where one feeds one, there is nothing to wait for. A look that finds nobody was for nothing, and costs about
// what a write does: after one that did, the next ones are left out, twice as many each time.

export interface Flushable {
  flush(): void;
}

/** Looks left out in a row, at most. */
const MOST_LEFT_OUT = 15;

export class Flusher {
  #dirty: Flushable[] = [];
  #spare: Flushable[] = [];
  #planned = false;
  readonly #flushed: () => void;
  /** A source has brought something since the last look. */
  #stirred = false;
  #looking = false;
  /** Looks to leave out after the next one that is for nothing, and how many of the last such are still to be left out. */
  #leaveOut = 1;
  #leftOut = 0;
  readonly #flushPlanned = (): void => {
    if (this.#looking) this.#judgeLook();
    else if (this.#stirred && this.#mayLook()) {
      this.#looking = true;
      this.#stirred = false;
      setImmediate(this.#flushPlanned);
      return;
    }
    this.#stirred = false;
    this.#planned = false;
    this.#flushAll();
  };

  /** `flushed` is called whenever something was written. */
  constructor(flushed: () => void = () => {}) {
    this.#flushed = flushed;
  }

  /** Called once for each destination that has something to write, until it is flushed. */
  mark(destination: Flushable, alone: boolean): void {
    this.#dirty.push(destination);
    if (!alone) this.plan();
  }

  /** At the end of this turn, whatever is marked by then. */
  plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(this.#flushPlanned);
  }

  /** A source has handed over all that it had. */
  sourceDone(): void {
    this.#stirred = true;
    if (!this.#planned && this.#dirty.length > 0) this.#flushAll();
  }

  #mayLook(): boolean {
    if (this.#leftOut === 0) return true;
    this.#leftOut -= 1;
    return false;
  }

  #judgeLook(): void {
    this.#looking = false;
    if (this.#stirred) this.#leaveOut = 1;
    else {
      this.#leftOut = this.#leaveOut;
      this.#leaveOut = Math.min(this.#leaveOut * 2, MOST_LEFT_OUT);
    }
  }

  #flushAll(): void {
    const batch = this.#dirty;
    this.#dirty = this.#spare;
    for (const destination of batch) destination.flush();
    batch.length = 0;
    this.#spare = batch;
    this.#flushed();
  }
}
