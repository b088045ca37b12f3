// Whose turn it is in a topic: one command at a time, a few that wait, the rest are told to come later.

import { deadline } from '../../base/deadline.js';
import { Lane, LaneFullError } from '../../base/lane.js';
import { HttpError } from '../../wire/http/errors.js';
import { MAX_QUEUE_SIZE, QUEUE_WAIT_TIMEOUT_MS } from '../protocol.js';

/** A topic that executes something and lets nobody wait. */
export class TopicBusyError extends HttpError {
  override readonly name = 'TopicBusyError';

  constructor(topic: string) {
    super(409, 'BUSY', `Topic ${topic} is executing another command. Retry shortly.`);
  }
}

export interface LaneState {
  readonly executing: boolean;
  readonly queue_length: number;
}

const IDLE: LaneState = { executing: false, queue_length: 0 };

export class TopicLanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #waitMs: number;

  constructor(waitMs: number = QUEUE_WAIT_TIMEOUT_MS) {
    this.#waitMs = waitMs;
  }

  /** How many topics execute something now. */
  get busy(): number {
    return this.#lanes.size;
  }

  /**
   * Runs `task` when it is its turn. Rejects with HttpError 429 or 504, or with the reason of one of `leave`, which are
   * asked for only when there is something to wait for.
   */
  async inTurn<T>(
    agentId: string,
    topic: string,
    task: () => Promise<T>,
    leave: () => readonly AbortSignal[],
  ): Promise<T> {
    const key = keyOf(agentId, topic);
    const lane = this.#laneOf(key);
    try {
      if (!lane.busy) return await lane.run(task);
      using limit = deadline(this.#waitMs, { reason: timedOut, also: leave() });
      return await lane.run(task, limit.signal);
    } catch (thrown) {
      throw thrown instanceof LaneFullError ? queueFull(agentId, topic) : thrown;
    } finally {
      this.#forget(key, lane);
    }
  }

  /** Runs `task` now; rejects with TopicBusyError when the topic executes something. */
  async atOnce<T>(agentId: string, topic: string, task: () => Promise<T>): Promise<T> {
    const key = keyOf(agentId, topic);
    const lane = this.#laneOf(key);
    if (lane.busy) throw new TopicBusyError(topic);
    try {
      return await lane.run(task);
    } finally {
      this.#forget(key, lane);
    }
  }

  stateOf(agentId: string, topic: string): LaneState {
    const lane = this.#lanes.get(keyOf(agentId, topic));
    return lane === undefined ? IDLE : { executing: lane.busy, queue_length: lane.waiting };
  }

  #laneOf(key: string): Lane {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new Lane({ maxWaiting: MAX_QUEUE_SIZE });
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  /** A topic where nothing happens costs nothing. */
  #forget(key: string, lane: Lane): void {
    if (!lane.busy && this.#lanes.get(key) === lane) this.#lanes.delete(key);
  }
}

/** No id has a space in it. */
function keyOf(agentId: string, topic: string): string {
  return `${agentId} ${topic}`;
}

function queueFull(agentId: string, topic: string): HttpError {
  const message = `Topic ${agentId}:${topic} has ${MAX_QUEUE_SIZE} commands queued. Try again later.`;
  return new HttpError(429, 'QUEUE_FULL', message, { body: { error: 'QUEUE_FULL', message } });
}

function timedOut(): HttpError {
  const message = 'Timed out waiting in queue.';
  return new HttpError(504, 'QUEUE_TIMEOUT', message, { body: { error: 'QUEUE_TIMEOUT', message } });
}
