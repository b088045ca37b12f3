// The policy of one agent: read from its policy.json whenever it is asked for, and every decision noted.

import type { Log } from '../base/log.js';
import { toError } from '../base/errors.js';
import { JsonStore, StoreCorruptError, StoreTooLargeError } from '../host/store/json-store.js';
import { type Capability, Policy, PolicyFile, type Trust } from './policy.js';
import { refuse } from './refused.js';

/** A few switches; a larger file is none of ours. */
export const MAX_POLICY_BYTES = 64 * 1024;

export interface Decision {
  readonly what: Capability | 'shell' | 'install' | 'refused';
  readonly topic: string;
  readonly allowed: boolean;
  readonly trust?: Trust;
  /** The page, the package, the command. */
  readonly about?: string;
  readonly why?: string;
}

/** Where decisions are kept. */
export type NoteDecision = (agentId: string, decision: Decision) => void;

export class AgentPolicy {
  readonly #agentId: string;
  readonly #store: JsonStore<PolicyFile>;
  readonly #note: NoteDecision;
  readonly #log: Log;

  constructor(options: {
    readonly agentId: string;
    /** Not in the agent's home: what binds it is not its own to write. */
    readonly file: string;
    readonly note: NoteDecision;
    readonly log: Log;
  }) {
    this.#agentId = options.agentId;
    this.#note = options.note;
    this.#log = options.log;
    this.#store = new JsonStore({
      path: options.file,
      schema: PolicyFile,
      initial: () => ({}),
      maxBytes: MAX_POLICY_BYTES,
    });
  }

  /** Throws RefusedError when there is a file that cannot be understood: nobody knows what it was to forbid. */
  async read(): Promise<Policy> {
    try {
      return new Policy(await this.#store.read());
    } catch (thrown) {
      const isOfFile = thrown instanceof StoreCorruptError || thrown instanceof StoreTooLargeError;
      this.#log.error('a policy cannot be read', { error: toError(thrown).message });
      return refuse(
        'POLICY_DENIED',
        'The policy of this agent cannot be read.',
        ...(isOfFile ? [thrown.message] : []),
      );
    }
  }

  note(decision: Decision): void {
    this.#note(this.#agentId, decision);
  }
}
