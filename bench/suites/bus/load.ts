// Load on a bus: blocks of requests from many clients, each sent again when it is answered, within a budget of bytes in flight.

import type { Ran } from '../../harness/types.js';
import { answerTo, requestBlock } from './messages.js';
import type { Wire } from './stand.js';

/**
 * In flight over all clients: less than a pipe holds. A bus without a queue toward its workers loses what does not fit,
 * and could not be measured otherwise.
 */
export const IN_FLIGHT_BYTES = 48 * 1024;
/** Requests in one block at most: so many lines go out in one write. */
const MAX_BLOCK = 32;
/** Blocks of one client in flight at most. */
const MAX_DEPTH = 4;
/** Blocks with ids of their own: a block is sent again only after all the others, when it has long been answered. */
const BLOCKS = 2 * MAX_DEPTH;
/** Without any answer for so long, what is out is lost. */
const STALL_MS = 3000;

export interface LoadShape {
  readonly bytes: number;
  readonly clients: number;
  readonly colliding: boolean;
}

export interface LoadPlan {
  /** Clients that have something in flight at the same time; when there is not room for all, they take turns. */
  readonly active: number;
  /** Blocks of each in flight, and requests in a block. */
  readonly depth: number;
  readonly block: number;
}

export function planOf({ bytes, clients }: Pick<LoadShape, 'bytes' | 'clients'>): LoadPlan {
  const room = Math.max(1, Math.floor(IN_FLIGHT_BYTES / bytes));
  const active = Math.min(clients, room);
  const each = Math.floor(room / active);
  const depth = Math.min(MAX_DEPTH, each);
  return { active, depth, block: Math.min(MAX_BLOCK, Math.floor(each / depth)) };
}

/** Sends `messages` requests and counts the answers. Gives what came back, in the time it took. */
export async function runLoad(wires: readonly Wire[], shape: LoadShape, messages: number): Promise<Ran> {
  const plan = planOf(shape);
  const turns = Math.max(1, Math.ceil(messages / plan.block));
  const startedAt = performance.now();
  const answered = await new Load(wires, shape, plan).run(turns);
  const wallMs = performance.now() - startedAt;
  const lost = answered < turns * plan.block;
  return { wallMs: lost ? wallMs - STALL_MS : wallMs, done: Math.min(messages, answered) };
}

class Load {
  readonly #wires: readonly Wire[];
  readonly #plan: LoadPlan;
  readonly #blockBytes: number;
  readonly #blocks: readonly (readonly Buffer[])[];
  /** Of each client: blocks in flight, blocks sent in all, and bytes received that are not a whole block yet. */
  readonly #inFlight: number[];
  readonly #sentBy: number[];
  readonly #received: number[];
  #next = 0;
  #sent = 0;
  #done = 0;
  #seenAt = performance.now();

  constructor(wires: readonly Wire[], { bytes, colliding }: LoadShape, plan: LoadPlan) {
    this.#wires = wires;
    this.#plan = plan;
    this.#blockBytes = plan.block * bytes;
    this.#blocks = wires.map((_, client) =>
      Array.from({ length: BLOCKS }, (__, nth) =>
        requestBlock(bytes, { client, first: nth * plan.block, count: plan.block, colliding }),
      ),
    );
    this.#inFlight = wires.map(() => 0);
    this.#sentBy = wires.map(() => 0);
    this.#received = wires.map(() => 0);
  }

  /** Resolves with the number of answers when all are there, or nothing comes any more. */
  async run(turns: number): Promise<number> {
    const { active, depth } = this.#plan;
    const listeners = this.#wires.map((_, client) => (chunk: Buffer) => this.#take(client, chunk, turns));
    for (const [client, { input }] of this.#wires.entries())
      input.on('data', listeners[client] as () => void);
    for (let i = 0; i < Math.min(active * depth, turns); i++) this.#send();
    await new Promise<void>((resolve) => {
      this.#finish = resolve;
      const watch = setInterval(() => {
        if (performance.now() - this.#seenAt > STALL_MS) resolve();
      }, STALL_MS / 4);
      this.#stopWatching = () => clearInterval(watch);
    });
    this.#stopWatching();
    for (const [client, { input }] of this.#wires.entries())
      input.off('data', listeners[client] as () => void);
    return this.#done;
  }

  #finish = (): void => {};
  #stopWatching = (): void => {};

  #take(client: number, chunk: Buffer, turns: number): void {
    this.#seenAt = performance.now();
    let received = (this.#received[client] ?? 0) + chunk.length;
    for (; received >= this.#blockBytes; received -= this.#blockBytes) {
      this.#inFlight[client] = (this.#inFlight[client] ?? 0) - 1;
      this.#done += this.#plan.block;
      if (this.#sent < turns) this.#send();
      else if (this.#done === turns * this.#plan.block) this.#finish();
    }
    this.#received[client] = received;
  }

  /** The next block of the next client that may have one more in flight. */
  #send(): void {
    while ((this.#inFlight[this.#next] ?? 0) >= this.#plan.depth) this.#step();
    const client = this.#next;
    const nth = this.#sentBy[client] ?? 0;
    this.#inFlight[client] = (this.#inFlight[client] ?? 0) + 1;
    this.#sentBy[client] = nth + 1;
    this.#sent += 1;
    this.#wires[client]?.output.write(this.#blocks[client]?.[nth % BLOCKS]);
    this.#step();
  }

  #step(): void {
    this.#next = (this.#next + 1) % this.#wires.length;
  }
}

/** One request of each client by itself: the answer must be the very bytes that were promised. */
export async function checkAnswers(wires: readonly Wire[], shape: LoadShape, asIs: boolean): Promise<void> {
  for (const [client, { input, output }] of wires.entries()) {
    const request = requestBlock(shape.bytes, { client, first: 1, count: 1, colliding: shape.colliding });
    const expected = asIs ? request.toString() : answerTo(request.toString());
    const got = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer')), STALL_MS * 2);
      let text = '';
      const take = (chunk: Buffer): void => {
        text += chunk.toString('utf8');
        if (text.length < expected.length) return;
        clearTimeout(timer);
        input.off('data', take);
        resolve(text);
      };
      input.on('data', take);
      output.write(request);
    });
    if (got !== expected) throw new Error(`client ${client} got ${JSON.stringify(got.slice(0, 200))}`);
  }
}

/** Median of single round trips, in ms. */
export async function medianRoundTripMs(
  { input, output }: Wire,
  bytes: number,
  trips: number,
): Promise<number> {
  const request = requestBlock(bytes, { client: 0, first: 0, count: 1, colliding: false });
  const times: number[] = [];
  await new Promise<void>((resolve) => {
    let sentAt = 0;
    let missing = 0;
    const send = (): void => {
      missing = bytes;
      sentAt = performance.now();
      output.write(request);
    };
    const take = (chunk: Buffer): void => {
      missing -= chunk.length;
      if (missing > 0) return;
      times.push(performance.now() - sentAt);
      if (times.length < trips) return send();
      input.off('data', take);
      resolve();
    };
    input.on('data', take);
    send();
  });
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
