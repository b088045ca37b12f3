// What must end when an agent is deleted: each agent has a signal that aborts then.

import { newAbort } from '../../base/abort.js';
import { HttpError } from '../../wire/http/errors.js';

export class UnknownAgentError extends HttpError {
  override readonly name = 'UnknownAgentError';

  constructor(id: string, status: 401 | 404 = 401) {
    super(status, 'unknown_agent', `Unknown agent: ${id}`);
  }
}

export class AgentLives {
  readonly #lives = new Map<string, AbortController>();

  signalOf(agentId: string): AbortSignal {
    let life = this.#lives.get(agentId);
    if (life === undefined) {
      life = newAbort();
      this.#lives.set(agentId, life);
    }
    return life.signal;
  }

  end(agentId: string): void {
    const life = this.#lives.get(agentId);
    this.#lives.delete(agentId);
    life?.abort(new UnknownAgentError(agentId));
  }
}
