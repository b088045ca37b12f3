// Who may work on what at the same time: several may share a thing, one alone may change it, and nobody is overtaken.

import { HugindError } from './errors.js';

/** Requests that wait for one thing; whoever asks for more of it is told that it is busy. */
export const MAX_WAITING_FOR_TURN = 1024;

export interface Claim {
  /** `config:tiny`, `repo:user/name`. */
  readonly key: string;
  /** Alone, or together with others who share it. */
  readonly alone: boolean;
}

interface Waiter {
  readonly alone: boolean;
  readonly start: () => void;
}

interface Thing {
  sharing: number;
  alone: boolean;
  readonly queue: Waiter[];
}

export class Turns {
  readonly #things = new Map<string, Thing>();

  /** Runs `task` when everything it claims is its turn. Rejects with the signal's reason if that comes first. */
  async run<T>(claims: readonly Claim[], signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const held: Claim[] = [];
    try {
      // In one order for everybody: then no two wait for each other.
      for (const claim of [...claims].sort((a, b) => (a.key < b.key ? -1 : 1))) {
        await this.#take(claim, signal);
        held.push(claim);
      }
      signal.throwIfAborted();
      return await task();
    } finally {
      for (const claim of held) this.#give(claim);
    }
  }

  #take({ key, alone }: Claim, signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    let thing = this.#things.get(key);
    if (thing === undefined) this.#things.set(key, (thing = { sharing: 0, alone: false, queue: [] }));
    if (thing.queue.length === 0 && fits(thing, alone)) {
      enter(thing, alone);
      return undefined;
    }
    const { queue } = thing;
    if (queue.length >= MAX_WAITING_FOR_TURN)
      throw new HugindError('busy', `${MAX_WAITING_FOR_TURN} requests wait for ${key} already`);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal.reason as Error);
        this.#admit(key); // those behind it may have waited for it alone
      };
      const waiter: Waiter = {
        alone,
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      queue.push(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #give({ key, alone }: Claim): void {
    const thing = this.#things.get(key);
    if (thing === undefined) return;
    if (alone) thing.alone = false;
    else thing.sharing -= 1;
    this.#admit(key);
  }

  #admit(key: string): void {
    const thing = this.#things.get(key);
    if (thing === undefined) return;
    for (let [next] = thing.queue; next !== undefined && fits(thing, next.alone); [next] = thing.queue) {
      thing.queue.shift();
      enter(thing, next.alone);
      next.start();
    }
    if (thing.sharing === 0 && !thing.alone && thing.queue.length === 0) this.#things.delete(key);
  }
}

function fits({ sharing, alone }: Thing, wantsAlone: boolean): boolean {
  return !alone && (sharing === 0 || !wantsAlone);
}

function enter(thing: Thing, alone: boolean): void {
  if (alone) thing.alone = true;
  else thing.sharing += 1;
}
