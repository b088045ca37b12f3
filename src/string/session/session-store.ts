// Topics on disk: a small file for each, so that the next daemon finds what the last one had.

import { readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { makeFolders } from '../../host/make-folders.js';
import { parseTopic, type Topic } from '../topic.js';
import { MAX_SHORTCUT_BYTES } from './shortcuts.js';
import { MAX_VARIABLE_BYTES, Session, type SessionState } from './session.js';

/** A file that is larger was not written by us: variables and shortcuts, escaped as badly as can be, and a history. */
export const MAX_SESSION_FILE_BYTES = 8 * (MAX_VARIABLE_BYTES + MAX_SHORTCUT_BYTES);

const ENDING = '.json';

const Document = z.object({
  uri: z.string(),
  title: z.nullable(z.string()),
  block: z.nullable(z.string()),
  manifest: z.optional(z.string()),
});

const Shortcuts = z.object({
  page: z.record(z.string(), z.string()),
  auto: z.record(z.string(), z.string()),
  values: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  menus: z.array(
    z.object({
      name: z.string(),
      source: z.string(),
      entries: z.array(z.object({ id: z.string(), label: z.string(), href: z.string() })),
    }),
  ),
  seenMenus: z.array(z.string()),
});

const Facts = z.object({
  menus: z.array(z.string()),
  actions: z.array(z.string()),
  warnings: z.array(z.string()),
  converted: z.boolean(),
});

const Saved = z.object({
  topic: z.string(),
  document: z.optional(Document),
  history: z.array(Document),
  variables: z.record(z.string(), z.string()),
  cwd: z.optional(z.string()),
  shortcuts: z.optional(Shortcuts),
  facts: z.optional(Facts),
  seen: z.optional(z.array(z.tuple([z.string(), z.number(), z.number()]))),
});

/**
 * Written before a command is answered, so that what was acknowledged is there after a sudden end of the daemon. Not
 * forced to the disk: after a power cut a topic may be as it was some seconds before.
 */
export class SessionStore {
  readonly #folder: string;
  readonly #log: Log;

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** At most `max`. A file that cannot be used is left where it is, and said so in the log. */
  load(max: number): Session[] {
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch {
      return []; // no topics yet
    }
    return names
      .filter((name) => name.endsWith(ENDING))
      .sort()
      .slice(0, max)
      .flatMap((name) => this.#read(name));
  }

  /** Of a hub nothing is kept: all it shows is elsewhere. The error, if it could not be written: then it stays dirty. */
  save(session: Session): Error | undefined {
    session.dirty = false;
    if (session.topic.type === 'hub') return undefined;
    const file = this.#fileOf(session.topic);
    try {
      makeFolders(this.#folder);
      writeFileSync(`${file}.new`, JSON.stringify({ topic: session.topic.name, ...session.state }), {
        mode: 0o600,
      });
      renameSync(`${file}.new`, file);
      return undefined;
    } catch (thrown) {
      session.dirty = true;
      const error = toError(thrown);
      this.#log.warn('a topic could not be written down', { topic: session.topic.name, error });
      return error;
    }
  }

  remove(topic: Topic): void {
    try {
      unlinkSync(this.#fileOf(topic));
    } catch (thrown) {
      if (errnoOf(thrown) !== 'ENOENT')
        this.#log.warn('a topic could not be removed', { topic: topic.name, error: toError(thrown) });
    }
  }

  removeAll(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #read(name: string): Session[] {
    try {
      const file = join(this.#folder, name);
      const { size } = statSync(file);
      if (size > MAX_SESSION_FILE_BYTES) throw new Error(`${size} bytes`);
      const {
        topic: raw,
        document,
        history,
        variables,
        cwd,
        shortcuts,
        facts,
        seen,
      } = Saved.parse(JSON.parse(readFileSync(file, 'utf8')));
      const topic = parseTopic(raw);
      if (topic === undefined) throw new Error(`no topic: ${raw}`);
      const state: SessionState = { document, history, variables, cwd, shortcuts, facts, seen };
      return [new Session(topic, state)];
    } catch (thrown) {
      this.#log.warn('a saved topic cannot be used', { file: name, error: toError(thrown) });
      return [];
    }
  }

  /** Parts of a name have no dot, so two topics never share a file. */
  #fileOf(topic: Topic): string {
    return join(this.#folder, `${topic.name.replaceAll(':', '.')}${ENDING}`);
  }
}
