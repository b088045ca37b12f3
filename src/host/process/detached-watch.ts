// Learns at once when a detached process has written something or has ended.

import { type FSWatcher, watch } from 'node:fs';
import { Resource } from '../../base/resource.js';
import type { DetachedEnd, DetachedRun } from './detached-run.js';

/** How often we look ourselves: a death that nobody wrote down makes no event. */
const LOOK_MS = 1000;
/** Where the system does not tell of changes (no more watches, a file system that cannot). */
const LOOK_ALONE_MS = 50;

export class DetachedWatch extends Resource {
  readonly #run: DetachedRun;
  readonly #watcher: FSWatcher | undefined;
  readonly #timer: NodeJS.Timeout;
  #waiting = new Set<() => void>();
  #end: DetachedEnd | undefined;

  constructor(run: DetachedRun) {
    super();
    this.#run = run;
    this.#watcher = this.#listen();
    const everyMs = this.#watcher === undefined ? LOOK_ALONE_MS : LOOK_MS;
    this.#timer = setInterval(() => this.look(), everyMs).unref();
  }

  /** How it ended, as far as we have looked. Output that was written before the end is there by then. */
  get end(): DetachedEnd | undefined {
    return this.#end;
  }

  /** Resolves at the next change, also when this is closed. Ask before looking: a change in between is not missed then. */
  next(): Promise<void> {
    if (this.closing || this.#end !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
    });
  }

  /** Resolves with the end; rejects never, and stays when this is closed first. */
  async ended(): Promise<DetachedEnd> {
    for (;;) {
      if (this.#end === undefined) this.look();
      if (this.#end !== undefined) return this.#end;
      if (this.closing) return await new Promise<never>(() => {});
      await this.next();
    }
  }

  look(): void {
    this.#end ??= this.#run.end();
    this.#wake();
  }

  protected override release(): Promise<void> {
    this.#watcher?.close();
    clearInterval(this.#timer);
    this.#wake();
    return Promise.resolve();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const resolve of waiting) resolve();
  }

  #listen(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#run.folder, { persistent: false }, () => this.look());
      watcher.on('error', () => {}); // the folder was removed: the timer goes on
      return watcher;
    } catch {
      return undefined;
    }
  }
}
