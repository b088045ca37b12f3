// One command from any surface to its outcome: its topic, its turn, its runtime.

import { skipsTheQueue, targetOf } from '../redirect.js';
import type { CommandOutcome } from '../runtime.js';
import { fail, bodyOf } from '../result.js';
import type { AgentPlace } from '../services.js';
import { parseTopic, type Topic, type TopicOptions } from '../topic.js';
import type { AgentLives } from './agent-lives.js';
import { joinSignals } from './join-signals.js';
import { CancelledError, type Running } from './running.js';
import type { Runtimes } from './runtimes.js';
import type { Stats } from './stats.js';
import type { TopicLanes } from './topic-lanes.js';

export type Surface = 'exec' | 'mcp' | 'chanflow';

export interface Execution {
  readonly surface: Surface;
  readonly agent: AgentPlace;
  readonly topic: Topic;
  readonly cmd: string;
  /** Wait for a turn, or be refused when the topic is busy. */
  readonly whenBusy: 'wait' | 'refuse';
  /** Given, the command can be cancelled by it. */
  readonly requestId?: string | undefined;
  /** Aborts when the caller does not want it any more while it waits. Asked for only then. */
  readonly gone?: () => AbortSignal;
  /** Aborts the command itself. */
  readonly signal?: AbortSignal;
  readonly emit?: (chunk: string) => void;
  /** Its turn has come. */
  readonly onStart?: () => void;
}

export interface ExecutorParts {
  readonly lanes: TopicLanes;
  readonly runtimes: Runtimes;
  readonly lives: AgentLives;
  readonly running: Running;
  readonly stats: Stats;
  readonly strictTopics: boolean;
}

export class Executor {
  readonly #parts: ExecutorParts;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  get topicOptions(): TopicOptions {
    return { strict: this.#parts.strictTopics };
  }

  /** Undefined for what is no topic. */
  parseTopic(raw: string | undefined): Topic | undefined {
    return parseTopic(raw, { strict: this.#parts.strictTopics });
  }

  /** Rejects when it never began: the queue is full, the wait was too long, the caller or the agent has gone. */
  async execute(call: Execution): Promise<CommandOutcome> {
    const { agent, requestId } = call;
    if (requestId === undefined) return await this.#inTurn(call, undefined);
    using cancel = this.#parts.running.begin(agent.id, requestId);
    return await this.#inTurn(call, cancel.signal);
  }

  async #inTurn(call: Execution, cancel: AbortSignal | undefined): Promise<CommandOutcome> {
    const { lanes, lives, stats, strictTopics } = this.#parts;
    const { agent, cmd } = call;
    const topic = targetOf(call.topic, cmd, { strict: strictTopics });
    const life = lives.signalOf(agent.id);
    const started = performance.now();
    const task = (): Promise<CommandOutcome> => {
      call.onStart?.();
      return this.#run(call, present([life, cancel, call.signal]));
    };
    try {
      const leave = (): AbortSignal[] => present([life, cancel, call.gone?.()]);
      const outcome = skipsTheQueue(topic, cmd)
        ? await task()
        : call.whenBusy === 'refuse'
          ? await lanes.atOnce(agent.id, topic.name, task)
          : await lanes.inTurn(agent.id, topic.name, task, leave);
      stats.onCommand(call.surface, outcome.ok ? 'ok' : 'failed', performance.now() - started);
      return outcome;
    } catch (thrown) {
      if (thrown instanceof CancelledError) return cancelled(topic);
      stats.onCommand(call.surface, 'refused', performance.now() - started);
      throw thrown;
    }
  }

  async #run(call: Execution, ends: readonly AbortSignal[]): Promise<CommandOutcome> {
    // Joining costs more than a short command does, and most calls have but one signal.
    if (ends.length <= 1) return await this.#start(call, ends[0] ?? NEVER);
    using joined = joinSignals(ends);
    return await this.#start(call, joined.signal);
  }

  /** With the topic in which it was said: the runtime finds the same target, and knows where it came from. */
  #start({ agent, topic, cmd, emit }: Execution, signal: AbortSignal): Promise<CommandOutcome> {
    return this.#parts.runtimes.use(agent, (runtime) =>
      runtime.run({ topic, cmd, signal, ...(emit !== undefined && { emit }) }),
    );
  }
}

function cancelled(topic: Topic): CommandOutcome {
  const result = fail('CANCELLED', new CancelledError().message);
  return { ok: false, code: result.code, content: bodyOf(result), topic, meta: null, result };
}

const NEVER = new AbortController().signal;

function present(signals: readonly (AbortSignal | undefined)[]): AbortSignal[] {
  return signals.filter((signal) => signal !== undefined);
}
