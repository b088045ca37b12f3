// One agent at work: its topics, and the commands that are run in them.

import { join } from 'node:path';
import { toError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { Resource } from '../base/resource.js';
import { AgentPolicy, type NoteDecision } from './agent-policy.js';
import { parseCommandLine } from './command-line.js';
import { actByName } from './commands/act.js';
import type { CommandCall, RuntimeParts } from './command.js';
import { findCommand } from './commands/table.js';
import { PageCache } from './document/page-cache.js';
import { FileTurns } from './edit/file-turns.js';
import { UndoStore } from './edit/undo-store.js';
import { AgentFiles } from './files/agent-files.js';
import { opensShell, targetOf } from './redirect.js';
import { RefusedError, refuse } from './refused.js';
import { bodyOf, type CommandResult, type EditChange, fail } from './result.js';
import type { AgentPlace, RuntimeServices } from './services.js';
import type { Session } from './session/session.js';
import { SessionStore } from './session/session-store.js';
import { Sessions } from './session/sessions.js';
import { openShell, runInShell } from './bash/shell-command.js';
import { Shells } from './shell/shells.js';
import type { Topic, TopicOptions, TopicType } from './topic.js';

export interface RuntimeOptions {
  readonly agent: AgentPlace;
  /** Where the daemon keeps its state; the runtime keeps the agent's topics below it. */
  readonly dataDir: string;
  readonly services: RuntimeServices;
  readonly log: Log;
  readonly topics?: TopicOptions;
  /** Tools for every agent of this machine. */
  readonly toolsDir?: string;
  /** Every file that the daemon can reach, not only home and allowed paths. */
  readonly fullAccess?: boolean;
  /** Told of every decision of the policy. */
  readonly note?: NoteDecision;
  /** MAX_SHELLS unless said. */
  readonly maxShells?: number;
}

export interface RunCall {
  readonly topic: Topic;
  readonly cmd: string;
  readonly signal: AbortSignal;
  /** Lines that are whole, while the command runs. */
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
  readonly #topicOptions: TopicOptions;
  readonly #sessions: Sessions;
  readonly #parts: RuntimeParts;
  readonly #undo: UndoStore;

  /** Begins with the topics that were open when the last daemon ended. Shells are not among them: those have ended with it. */
  constructor(options: RuntimeOptions) {
    super();
    const { agent, dataDir, services, maxShells } = options;
    this.agent = agent;
    this.#topicOptions = options.topics ?? {};
    const log = options.log.child({ agent: agent.id });
    this.#sessions = new Sessions(new SessionStore(join(dataDir, 'sessions', agent.id), log));
    this.#undo = new UndoStore(join(dataDir, 'undo', agent.id), log);
    const spoolDir = join(dataDir, 'spool', agent.id);
    this.#parts = {
      agent,
      services,
      log,
      spoolDir,
      toolsDir: options.toolsDir,
      policy: new AgentPolicy({
        agentId: agent.id,
        file: join(dataDir, 'policies', agent.id, 'policy.json'),
        note: options.note ?? (() => {}),
        log,
      }),
      sessions: this.#sessions,
      files: new AgentFiles(agent, { full: options.fullAccess === true }),
      pages: new PageCache(),
      undo: this.#undo,
      turns: new FileTurns(),
      shells: new Shells({
        agent,
        spoolDir,
        folder: join(dataDir, 'shells', agent.id),
        ...(maxShells !== undefined && { maxShells }),
      }),
      closeTopic: (topic) => this.closeTopic(topic),
    };
  }

  /**
   * One command at a time per topic (the one that `targetOf` gives), but for those that `skipsTheQueue`: whoever calls
   * has seen to that. Never rejects.
   */
  async run(call: RunCall): Promise<CommandOutcome> {
    const topic = targetOf(call.topic, call.cmd, this.#topicOptions);
    let session: Session | undefined;
    let result: CommandResult;
    let unsaved: Error | undefined;
    try {
      this.#throwIfClosing();
      session = this.#sessions.ensure(topic).session;
      result = await this.#attempt(session, call);
      unsaved = this.#sessions.keep(session);
    } catch (thrown) {
      const error = toError(thrown);
      this.#parts.log.error('a command failed unexpectedly', { topic: topic.name, error });
      result = fail('INTERNAL_ERROR', error.message);
    }
    return {
      ok: result.ok,
      code: result.ok ? null : result.code,
      content: unsaved === undefined ? bodyOf(result) : `${bodyOf(result)}\n\n${warnOf(unsaved)}`,
      topic,
      meta: session === undefined || this.#sessions.get(topic.name) !== session ? null : metaOf(session),
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

  get topicCount(): number {
    return this.#sessions.size;
  }

  /** Throws TooManyTopicsError. */
  open(topic: Topic): { created: boolean } {
    return { created: this.#sessions.ensure(topic).created };
  }

  /** Ends its shell, too. False when it was not open. */
  async closeTopic(topic: Topic): Promise<boolean> {
    const deleted = this.#sessions.delete(topic);
    this.#undo.forget(topic.name);
    await this.#parts.shells.stop(topic.name);
    return deleted;
  }

  /** For an agent that is deleted: closes, and forgets what is on disk. */
  async discard(): Promise<void> {
    await this.close();
    this.#sessions.discard();
    this.#undo.forgetAll();
  }

  /** Topics stay on disk for the next one. */
  protected async release(): Promise<void> {
    await this.#parts.shells.close();
  }

  #throwIfClosing(): void {
    if (this.closing) throw new Error('The agent is being closed.');
  }

  /** What was refused is noted, whoever refused it. */
  async #attempt(session: Session, call: RunCall): Promise<CommandResult> {
    const result = await this.#dispatch(session, call).catch((thrown: unknown) => {
      if (thrown instanceof RefusedError) return thrown.failure;
      throw thrown;
    });
    if (!result.ok && (result.code === 'POLICY_DENIED' || result.code === 'FILE_NOT_ALLOWED')) {
      const [about = ''] = /^\S*/u.exec(call.cmd.trim()) ?? [];
      const topic = session.topic.name;
      this.#parts.policy.note({ what: 'refused', topic, allowed: false, about, why: result.message });
    }
    return result;
  }

  /** `/exec` and `bash:` topics. Throws RefusedError. */
  async #assertShell({ topic }: Session): Promise<void> {
    const { policy } = this.#parts;
    if (!(await policy.read()).shell)
      refuse(
        'POLICY_DENIED',
        'The policy of this agent does not allow shells: /exec and bash: are switched off.',
      );
    policy.note({ what: 'shell', topic: topic.name, allowed: true });
  }

  async #dispatch(session: Session, { topic: asked, cmd, signal, emit }: RunCall): Promise<CommandResult> {
    const from = asked.name === session.topic.name ? undefined : this.#sessions.get(asked.name);
    const call: Omit<CommandCall, 'line'> = { session, from, runtime: this.#parts, signal, emit };
    if (session.topic.type === 'bash') {
      const opens = asked.type !== 'bash' || opensShell(session.topic, cmd);
      // Commands of String may be said to a shell that is switched off, but none that starts it or types into it.
      if (opens || !/^\s*\/\/(?!send\b)/iu.test(cmd)) await this.#assertShell(session);
      return await (opens ? openShell(call) : runInShell(call, cmd));
    }
    // Nothing said to a hub shows it.
    const line = parseCommandLine(session.topic.type === 'hub' && cmd.trim() === '' ? '/open' : cmd);
    if (line === undefined)
      return fail('COMMAND_UNSUPPORTED', 'Commands must start with /. Use /help for details.');
    const command = findCommand(session.topic, line.verb);
    if (command?.name === 'exec') await this.#assertShell(session);
    if (command !== undefined) return await command.run({ ...call, line });
    // Not a command: it may be one of the actions of the page.
    return (
      (await actByName({ ...call, line })) ??
      fail('COMMAND_UNSUPPORTED', `Unknown command: /${line.word}`, 'Use /info to see available commands.')
    );
  }
}

function metaOf({ document, history, facts }: Session): DocMeta | null {
  if (document === undefined) return null;
  return {
    uri: document.uri,
    title: document.title,
    current_block: document.block === null ? null : `#${document.block}`,
    block_id: document.block,
    menus: facts?.menus ?? [],
    actions: facts?.actions ?? [],
    history_length: history.length,
    converted: facts?.converted ?? false,
    warnings: facts?.warnings ?? [],
  };
}

/** What was acknowledged would else be gone without a word. */
function warnOf(error: Error): string {
  return `Warning: this topic could not be saved and is lost when the daemon ends: ${error.message}`;
}
