// What a topic remembers between commands.

import type { Topic } from '../topic.js';

/** What a topic shows: never the text itself, which is read again from its source. */
export interface OpenDocument {
  readonly uri: string;
  readonly title: string | null;
  /** Without `#`; null for the whole document. */
  readonly block: string | null;
}

export class Session {
  readonly topic: Topic;
  readonly variables = new Map<string, string>();
  document: OpenDocument | undefined;
  /** Oldest first: where `/back` leads, last one first. */
  history: OpenDocument[] = [];
  /** The directory last opened. */
  cwd: string | undefined;

  constructor(topic: Topic) {
    this.topic = topic;
  }
}
