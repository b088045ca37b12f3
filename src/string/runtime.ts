// One agent at work: its topics, and the commands that are run in them.

import { toError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { Resource } from '../base/resource.js';
import { parseCommandLine } from './command-line.js';
import { commandsIn, findCommand } from './commands/table.js';
import { bodyOf, type CommandResult, type EditChange, fail } from './result.js';
import type { AgentPlace, RuntimeServices } from './services.js';
import { Session } from './session/session.js';
import type { Topic, TopicType } from './topic.js';

export interface RuntimeOptions {
  readonly agent: AgentPlace;
  /** Where the daemon keeps its state; the runtime keeps the agent's topics below it. */
  readonly dataDir: string;
  readonly services: RuntimeServices;
  readonly log: Log;
}

export interface RunCall {
  readonly topic: Topic;
  readonly cmd: string;
  readonly signal: AbortSignal;
  readonly emit?: (chunk: string) => void;
}

/** The document after a command, as `head.meta` shows it. */
export interface DocMeta {
  readonly uri: string;
  readonly title: string | null;
  /** With a leading `#`. */
  readonly current_block: string | null;
  readonly block_id: string | null;
  readonly menus: readonly string[];
  readonly actions: readonly string[];
  readonly history_length: number;
  readonly converted: boolean;
  readonly warnings: readonly string[];
}

export interface CommandOutcome {
  readonly ok: boolean;
  readonly code: string | null;
  /** The body; in a failure what follows `ERROR(CODE): `. */
  readonly content: string;
  /** The topic that was really used. */
  readonly topic: Topic;
  readonly meta: DocMeta | null;
  readonly change?: EditChange;
  /** For `renderFeedback`. */
  readonly result: CommandResult;
}

export interface TopicSummary {
  readonly topic: string;
  readonly topic_type: TopicType;
  readonly doc: Pick<DocMeta, 'uri' | 'title' | 'current_block'> | null;
}

export class Runtime extends Resource {
  readonly agent: AgentPlace;
  readonly #services: RuntimeServices;
  readonly #log: Log;
  readonly #sessions = new Map<string, Session>();

  constructor(options: RuntimeOptions) {
    super();
    this.agent = options.agent;
    this.#services = options.services;
    this.#log = options.log.child({ agent: options.agent.id });
  }

  /** One command at a time per topic: whoever calls has seen to that. Never rejects. */
  async run(call: RunCall): Promise<CommandOutcome> {
    const { session } = this.#sessionOf(call.topic);
    let result: CommandResult;
    try {
      result = await this.#dispatch(session, call);
    } catch (thrown) {
      const error = toError(thrown);
      this.#log.error('a command failed unexpectedly', { topic: call.topic.name, error });
      result = fail('INTERNAL_ERROR', error.message);
    }
    return {
      ok: result.ok,
      code: result.ok ? null : result.code,
      content: bodyOf(result),
      topic: call.topic,
      meta: metaOf(session),
      ...(result.ok && result.change !== undefined && { change: result.change }),
      result,
    };
  }

  topics(): TopicSummary[] {
    return [...this.#sessions.values()].map((session) => {
      const meta = metaOf(session);
      return {
        topic: session.topic.name,
        topic_type: session.topic.type,
        doc: meta && { uri: meta.uri, title: meta.title, current_block: meta.current_block },
      };
    });
  }

  open(topic: Topic): { created: boolean } {
    return { created: this.#sessionOf(topic).created };
  }

  /** False when it was not open. */
  closeTopic(topic: Topic): Promise<boolean> {
    return Promise.resolve(this.#sessions.delete(topic.name));
  }

  protected release(): Promise<void> {
    this.#sessions.clear();
    return Promise.resolve();
  }

  #sessionOf(topic: Topic): { session: Session; created: boolean } {
    const known = this.#sessions.get(topic.name);
    if (known !== undefined) return { session: known, created: false };
    const session = new Session(topic);
    this.#sessions.set(topic.name, session);
    return { session, created: true };
  }

  #dispatch(session: Session, call: RunCall): CommandResult | Promise<CommandResult> {
    const line = parseCommandLine(call.cmd);
    if (line === undefined)
      return fail('COMMAND_UNSUPPORTED', 'Commands must start with /. Use /help for details.');
    const command = findCommand(line.verb);
    if (command === undefined || !commandsIn(session).includes(command))
      return fail(
        'COMMAND_UNSUPPORTED',
        `Unknown command: /${line.verb}`,
        'Use /info to see available commands.',
      );
    const runtime = {
      agent: this.agent,
      services: this.#services,
      sessions: this.#sessions,
      log: this.#log,
    };
    return command.run({ line, session, runtime, signal: call.signal, emit: call.emit });
  }
}

function metaOf({ document, history }: Session): DocMeta | null {
  if (document === undefined) return null;
  return {
    uri: document.uri,
    title: document.title,
    current_block: document.block === null ? null : `#${document.block}`,
    block_id: document.block,
    menus: [],
    actions: [],
    history_length: history.length,
    converted: false,
    warnings: [],
  };
}
