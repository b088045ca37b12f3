// Whose turn it is to change a file: topics of one agent that edit the same one wait for each other, instead of being refused.

import { Lane } from '../../base/lane.js';

/** Edits that wait for one file; topics run one command each, so that more would be a flood. */
export const MAX_WAITING_EDITS = 100;

export class FileTurns {
  readonly #lanes = new Map<string, Lane>();

  /** Throws LaneFullError, or the reason of `signal`. */
  async inTurn<T>(path: string, task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const lane = this.#lanes.get(path) ?? new Lane({ maxWaiting: MAX_WAITING_EDITS });
    this.#lanes.set(path, lane);
    try {
      return await lane.run(task, signal);
    } finally {
      if (!lane.busy && this.#lanes.get(path) === lane) this.#lanes.delete(path);
    }
  }
}
