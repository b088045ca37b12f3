// Lines that must wait, in their order: for an id that another client has taken, or for a worker to be ready.

import { type Slab, slabOf } from '../flow/slab.js';

/** Waiting of one client for ids that are taken; past it the client is not read until some have gone. */
export const MAX_HELD_BYTES = 256 * 1024;

export interface HeldLine<From, To> {
  readonly slab: Slab;
  readonly length: number;
  readonly from: From;
  /** The worker it must go to, when a session says so. */
  readonly to: To | undefined;
  readonly pool: string;
  readonly since: number;
}

export class HeldLines<From, To> {
  #lines: HeldLine<From, To>[] = [];
  bytes = 0;

  get length(): number {
    return this.#lines.length;
  }

  get first(): HeldLine<From, To> | undefined {
    return this.#lines[0];
  }

  /** Copies: the block it lies in is used again. */
  add(slab: Slab, start: number, end: number, from: From, to: To | undefined, pool: string): void {
    const copy = slabOf(slab.bytes.subarray(start, end));
    this.#lines.push({ slab: copy, length: end - start, from, to, pool, since: Date.now() });
    this.bytes += end - start;
  }

  some(test: (line: HeldLine<From, To>) => boolean): boolean {
    return this.#lines.some(test);
  }

  /** All of them; what cannot go yet is added again, in the same order, and keeps the time it has waited. */
  takeAll(): HeldLine<From, To>[] {
    const lines = this.#lines;
    this.#lines = [];
    this.bytes = 0;
    return lines;
  }

  putBack(line: HeldLine<From, To>): void {
    this.#lines.push(line);
    this.bytes += line.length;
  }

  takeFirst(): HeldLine<From, To> | undefined {
    const line = this.#lines.shift();
    if (line !== undefined) this.bytes -= line.length;
    return line;
  }
}
