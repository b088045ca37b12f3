// Sessions whose connection is lost: they wait for their client to come back, each for its own time.

import { Sessions, type Session, type SessionPlaces } from '../sessions.js';

export interface WaitingOptions {
  readonly places: SessionPlaces;
  /** Nobody came back in time; the session is to be ended. */
  readonly end: (sessions: Sessions, session: Session) => Promise<void>;
  /** One has left, either way. */
  readonly onLeft: () => void;
}

export class WaitingSessions {
  readonly sessions: Sessions;
  readonly #options: WaitingOptions;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: WaitingOptions) {
    this.#options = options;
    this.sessions = new Sessions(options.places, { onTaken: (session) => this.#leave(session) });
  }

  /** How many wait, or are being ended because they have waited too long. */
  get size(): number {
    return this.#timers.size;
  }

  take(session: Session, windowMs: number): void {
    this.sessions.adopt(session);
    this.#timers.set(
      session.id,
      setTimeout(() => void this.#expire(session), windowMs),
    );
  }

  async close(): Promise<void> {
    await this.sessions.close();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#options.onLeft();
  }

  async #expire(session: Session): Promise<void> {
    await this.#options.end(this.sessions, session);
    this.#leave(session);
  }

  #leave(session: Session): void {
    clearTimeout(this.#timers.get(session.id));
    this.#timers.delete(session.id);
    this.#options.onLeft();
  }
}
