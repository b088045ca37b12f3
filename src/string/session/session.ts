// What a topic remembers between commands.

import { LocalError } from '../../base/errors.js';
import { byteLengthOf } from '../byte-length.js';
import type { Topic } from '../topic.js';
import { Shortcuts, type ShortcutsState } from './shortcuts.js';
import { SeenFiles, type SeenState } from './seen-files.js';

/** Pages that `/back` can return to; older ones are forgotten. */
export const MAX_HISTORY = 100;
/** Variables of one topic: names are typed by people and templates, not by loops without end. */
export const MAX_VARIABLES = 1000;
/** All names and values of one topic together; they are kept in memory and written down at every change. */
export const MAX_VARIABLE_BYTES = 1024 * 1024;

/** What a topic shows: never the text itself, which is read again from its source. */
export interface OpenDocument {
  readonly uri: string;
  readonly title: string | null;
  /** Without `#`; null for the whole document. */
  readonly block: string | null;
  /** The address of the manifest that it is a file of. */
  readonly manifest?: string | undefined;
}

/** What is told about the page that is open, beside its text. */
export interface PageFacts {
  readonly menus: readonly string[];
  readonly actions: readonly string[];
  readonly warnings: readonly string[];
  /** It was no Markdown. */
  readonly converted: boolean;
}

export class TooManyVariablesError extends LocalError {
  override readonly name = 'TooManyVariablesError';

  constructor(limit: string) {
    super('too_many_variables', `Variables of a topic are limited to ${limit}`);
  }
}

/** All that outlives the daemon. */
export interface SessionState {
  readonly document: OpenDocument | undefined;
  readonly history: readonly OpenDocument[];
  readonly variables: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly shortcuts?: ShortcutsState | undefined;
  readonly facts?: PageFacts | undefined;
  readonly seen?: SeenState | undefined;
}

export class Session {
  readonly topic: Topic;
  /** What `@name` stands for. */
  readonly shortcuts: Shortcuts;
  #document: OpenDocument | undefined;
  /** Oldest first: where `/back` leads, last one first. */
  #history: OpenDocument[] = [];
  #cwd: string | undefined;
  /** Of the page that is open; nothing for a directory. */
  facts: PageFacts | undefined;
  #variables = new Map<string, string>();
  #variableBytes = 0;
  /** What it has read, and may overwrite as long as it is still that. */
  readonly seen: SeenFiles;
  /** Changed since it was last written down. */
  dirty = true;

  constructor(topic: Topic, state?: SessionState) {
    this.topic = topic;
    this.shortcuts = new Shortcuts(() => (this.dirty = true), state?.shortcuts);
    this.seen = new SeenFiles(() => (this.dirty = true), state?.seen);
    if (state === undefined) return;
    this.#document = state.document;
    this.#history = state.history.slice(-MAX_HISTORY);
    this.#cwd = state.cwd;
    this.facts = state.facts;
    this.setVariables(Object.entries(state.variables));
    this.dirty = false;
  }

  get document(): OpenDocument | undefined {
    return this.#document;
  }

  get history(): readonly OpenDocument[] {
    return this.#history;
  }

  /** The directory last opened. */
  get cwd(): string | undefined {
    return this.#cwd;
  }

  get variables(): ReadonlyMap<string, string> {
    return this.#variables;
  }

  get isEmpty(): boolean {
    return (
      this.#document === undefined &&
      this.#history.length === 0 &&
      this.#variables.size === 0 &&
      this.#cwd === undefined
    );
  }

  /** Begins with what another one knows, but not with where that has been. Throws TooManyVariablesError. */
  fork(other: Session): void {
    this.setVariables(other.variables);
    this.shortcuts.setValues('', other.shortcuts.values);
    this.#cwd = other.cwd;
  }

  /** What was open before can be gone back to; the same document once more, or another block of it, is no step. */
  show(document: OpenDocument): void {
    if (this.#document !== undefined && this.#document.uri !== document.uri) this.#remember(this.#document);
    this.replaceDocument(document);
  }

  /** A directory is no document: it is where names begin from now on. */
  enter(directory: string): void {
    if (this.#document !== undefined) this.#remember(this.#document);
    this.#document = undefined;
    this.facts = undefined;
    this.shortcuts.setPage([]);
    this.#cwd = directory;
    this.dirty = true;
  }

  replaceDocument(document: OpenDocument): void {
    this.#document = document;
    this.dirty = true;
  }

  /** The page before, which is no longer in the history. */
  goBack(document: OpenDocument): void {
    this.#history.pop();
    this.replaceDocument(document);
  }

  /** All or none. Throws TooManyVariablesError. */
  setVariables(entries: Iterable<readonly [string, string]>): void {
    const next = new Map(this.#variables);
    let bytes = this.#variableBytes;
    for (const [name, value] of entries) {
      bytes += sizeOf(name, value) - sizeOf(name, next.get(name));
      next.set(name, value);
    }
    if (next.size > MAX_VARIABLES) throw new TooManyVariablesError(`${MAX_VARIABLES}`);
    if (bytes > MAX_VARIABLE_BYTES) throw new TooManyVariablesError(`${MAX_VARIABLE_BYTES} bytes`);
    this.#variables = next;
    this.#variableBytes = bytes;
    this.dirty = true;
  }

  get state(): SessionState {
    return {
      document: this.#document,
      history: this.#history,
      variables: Object.fromEntries(this.#variables),
      cwd: this.#cwd,
      shortcuts: this.shortcuts.state,
      facts: this.facts,
      seen: this.seen.state,
    };
  }

  #remember(document: OpenDocument): void {
    this.#history = [...this.#history, document].slice(-MAX_HISTORY);
  }
}

function sizeOf(name: string, value: string | undefined): number {
  return value === undefined ? 0 : byteLengthOf(name) + byteLengthOf(value);
}
