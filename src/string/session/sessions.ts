// The open topics of one agent.

import { LocalError } from '../../base/errors.js';
import type { Topic } from '../topic.js';
import { Session } from './session.js';
import type { SessionStore } from './session-store.js';

/** Open topics of one agent; each is a file and some memory, and an agent that makes names up has to close some. */
export const MAX_TOPICS = 20_000;

export class TooManyTopicsError extends LocalError {
  override readonly name = 'TooManyTopicsError';

  constructor() {
    super('too_many_topics', `${MAX_TOPICS} topics are open. Close some with /session close <topic>.`);
  }
}

export class Sessions {
  readonly #store: SessionStore;
  readonly #open = new Map<string, Session>();

  /** Begins with what was open when the last daemon ended. */
  constructor(store: SessionStore) {
    this.#store = store;
    for (const session of store.load(MAX_TOPICS)) this.#open.set(session.topic.name, session);
  }

  get size(): number {
    return this.#open.size;
  }

  values(): Iterable<Session> {
    return this.#open.values();
  }

  get(name: string): Session | undefined {
    return this.#open.get(name);
  }

  /** Throws TooManyTopicsError. */
  ensure(topic: Topic): { readonly session: Session; readonly created: boolean } {
    const known = this.#open.get(topic.name);
    if (known !== undefined) return { session: known, created: false };
    if (this.#open.size >= MAX_TOPICS) throw new TooManyTopicsError();
    const session = new Session(topic);
    this.#open.set(topic.name, session);
    this.#store.save(session);
    return { session, created: true };
  }

  /** Writes down what has changed, unless the topic is closed by now. The error, if that cannot be. */
  keep(session: Session): Error | undefined {
    const isOpen = this.#open.get(session.topic.name) === session;
    return session.dirty && isOpen ? this.#store.save(session) : undefined;
  }

  delete(topic: Topic): boolean {
    this.#store.remove(topic);
    return this.#open.delete(topic.name);
  }

  /** Also what is on disk. */
  discard(): void {
    this.#open.clear();
    this.#store.removeAll();
  }
}
